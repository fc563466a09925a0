-- wg.wgmma, wgmma.mma_async and the tile tier: legal forms, and what they refuse.
local check = require "check"
local wg = require "wgrun"
local refuses, in_kernel = check.refuses, check.refuses_in_kernel

-- What a form needs.
local i = wg.wgmma { m = 64, n = 128, k = 16, d = "f32", a = "bf16", b = "bf16", sparse = false }
check.equal({ i.m, i.n, i.k, i.d, i.a, i.b }, { 64, 128, 16, "f32", "bf16", "bf16" })
check.equal({ i.d_registers, i.a_registers, i.min_ptx }, { 64, 4, "8.0" })
check.equal(i.ptx, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16")
check.equal(wg.wgmma { n = 128, d = "f16", a = "f16", b = "f16" }.d_registers, 32)
check.equal(wg.wgmma { n = 8, d = "s32", a = "u8", b = "s8" }.k, 32)
check.equal(wg.wgmma { n = 256, d = "f32", a = "tf32", b = "tf32" }.k, 8)

refuses("wg.wgmma: expected a table of options, got nothing", function() wg.wgmma() end)
refuses("wg.wgmma needs `n`", function() wg.wgmma {} end)
refuses("wgmma.mma_async: k=8 is not legal for d=f32, a=bf16, b=bf16 (legal: 16)", function() wg.wgmma { n = 64, k = 8, d = "f32", a = "bf16", b = "bf16" } end)
refuses("wgmma.mma_async: n=12 is not legal for d=f32, a=bf16, b=bf16 (legal: 8, 16, 24, ..., 256)", function() wg.wgmma { n = 12, d = "f32", a = "bf16", b = "bf16" } end)
refuses("wgmma.mma_async: m=128 is not legal for d=f32, a=bf16, b=bf16...", function() wg.wgmma { m = 128, n = 64, d = "f32", a = "bf16", b = "bf16" } end)
refuses("wgmma.mma_async: b=f16 is not legal for d=f32, a=bf16 (legal: bf16)", function() wg.wgmma { n = 64, d = "f32", a = "bf16", b = "f16" } end)
refuses("wg.wgmma: option `n`: string \"x\" is not a value of it", function() wg.wgmma { n = "x", d = "f32", a = "bf16", b = "bf16" } end)
refuses("unknown option `q` of wg.wgmma: did you mean `m`? (legal: m, n, k, d...", function() wg.wgmma { n = 64, d = "f32", a = "bf16", b = "bf16", q = 1 } end)
refuses("wg.wgmma: options have names; got the key number 1 (legal: m, n, k...", function() wg.wgmma { 64 } end)
refuses("a wgmma cannot be changed: string \"n\" cannot be set", function() i.n = 8 end)
check.equal(check.raises("k=8", wg.wgmma, { n = 64, k = 8, d = "f32", a = "bf16", b = "bf16" }).rule, "WG-FORM-01")

-- The instruction: form, accumulators, descriptors, scale.
local function mma(k, acc, a, b, change)
  local form = { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" }
  for key, value in pairs(change or {}) do form[key] = value end
  k:wgmma_mma_async(acc, a, b, form)
end
local function in_mma(text, change, acc_type, acc_count, descriptor)
  local good, problem
  wg.kernel("k", {}, function(k)
    local acc, b = k:regs(acc_type or "f32", acc_count or 32), k:reg "b64"
    good, problem = pcall(mma, k, acc, k:reg(descriptor or "b64"), b, change)
  end)
  if good or not problem.message:find(text, 1, true) then error(("got: %s, expected: %s"):format(problem, text), 2) end
  return problem.rule
end
check.equal(in_mma("n=65 is not legal", { n = 65 }), "WG-FORM-01")
check.equal(in_mma("k=8 is not legal for d=f32, a=bf16, b=bf16, a_in=shared (legal: 16)", { k = 8 }), "WG-FORM-01")
check.equal(in_mma("takes no `trans_a`", { a = "e4m3", b = "e4m3", k = 32, trans_a = 1 }), "WG-FORM-01")
check.equal(in_mma("scale_a=2 is not legal", { scale_a = 2 }), "WG-FORM-01")
check.equal(in_mma("operand scale_d: 2 is out of range (legal: 0 to 1)", { scale_d = 2 }), "WG-FORM-02")
check.equal(in_mma("operand d: 32 registers are expected, not 31", nil, "f32", 31), "WG-FORM-02")
check.equal(in_mma("operand d: register of type s32 where an f32 register is expected", nil, "s32"), "WG-FORM-02")
check.equal(in_mma("operand a: register of type u32 where a u64 register is expected", nil, nil, nil, "u32"), "WG-FORM-02")
in_kernel("wgmma.wait_group takes n; 0 given", function(k) k:wgmma_wait_group() end)
in_kernel("wgmma.wait_group, operand n: a number is expected, not a register", function(k) k:wgmma_wait_group(k:reg "u32") end)
in_kernel("wgmma.wait_group, operand n: -1 is out of range (legal: 0 or more)", function(k) k:wgmma_wait_group(-1) end)

-- The tile tier.
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local of = "descriptor of tile bf16 64x64 K-major 128B: "
in_kernel("k:descriptor, buffer: expected a shared buffer, got a tile (k:shared(tile) makes a buffer of it)", function(k) k:descriptor(tile) end)
in_kernel("k:descriptor, buffer: a buffer made by k:shared(tile) is needed", function(k) k:descriptor(k:shared { bytes = 64 }) end)
in_kernel("k:descriptor: expected a table of options, got number", function(k) k:descriptor(k:shared(tile), 3) end)
in_kernel("unknown option `step` of k:descriptor: did you mean `kstep`? (legal: kstep, mn, offset)", function(k) k:descriptor(k:shared(tile), { step = 1 }) end)
in_kernel(of .. "K step 4 is outside the tile's 4 steps of 16 elements", function(k) k:descriptor(k:shared(tile), { kstep = 4 }) end)
in_kernel(of .. "K step -1 is outside the tile's 4 steps of 16 elements", function(k) k:descriptor(k:shared(tile), { kstep = -1 }) end)
in_kernel(of .. "rows from 3 cut an 8-row group", function(k) k:descriptor(k:shared(tile), { mn = 3 }) end)
check.equal(refuses(of .. "K step 4 is outside the tile's 4 steps of 16 elements", function() tile:descriptor(0, 4) end).rule, "WG-DESC-02")
check.equal(refuses("tile address 0x200 is not a multiple of 1024 bytes, on which the 128B pattern starts", function() tile:descriptor(512) end).rule, "WG-DESC-04")
in_kernel("k:mma: expected a table of options, got nil", function(k) k:mma(k:regs("f32", 32)) end)
in_kernel("k:mma: option `a` is missing", function(k) k:mma(k:regs("f32", 32), {}) end)
in_kernel("k:mma: option `b`: expected a shared buffer, got number 3", function(k) k:mma(k:regs("f32", 32), { a = k:shared(tile), b = 3 }) end)
in_kernel("k:mma: the K extents of the tiles differ: 64 and 128", function(k) k:mma(k:regs("f32", 32), { a = k:shared(tile), b = k:shared(wg.tile { dtype = "bf16", mn = 64, k = 128, major = "K" }) }) end)
in_kernel("wgmma.mma_async, operand d: 32 registers are expected, not 30: m64n64k16: the 64 x 64 = 4096 f32 elements are shared by the 128 threads of a warpgroup, 32 each", function(k) k:mma(k:regs("f32", 30), { a = k:shared(tile), b = k:shared(tile) }) end)
local function copy(k, change)
  local options = { to = k:shared(tile), from = k:param("A", "const bf16*"), ld = 64, line = 0, along = 0, lines = 64, length = 64 }
  for key, value in pairs(change) do options[key] = value end
  k:copy_tile(options)
end
local count = "expected a register or an integer from 0 to 4294967295, got "
in_kernel("k:copy_tile: option `to` is missing", function(k) k:copy_tile {} end)
check.raises("k:copy_tile, from: a pointer made by k:param is needed", wg.kernel, "k", {}, function(k) copy(k, { from = k:reg "u64" }) end)
check.raises("k:copy_tile: `from` points to f32, but the tile holds bf16", wg.kernel, "k", {}, function(k) copy(k, { from = k:param("B", "f32*") }) end)
in_kernel("k:copy_tile: option `ld` is missing", function(k) k:copy_tile { to = k:shared(tile), from = k:param("A", "bf16*") } end)
for name, wrong in pairs { line = -1, ld = 1.5 } do
  check.raises(("k:copy_tile, %s: %s%s"):format(name, count, wrong), wg.kernel, "k", {}, function(k) copy(k, { [name] = wrong }) end)
end
for _, wrong in ipairs { { "along", "0", 'string "0"' }, { "lines", tile, "a tile" } } do
  check.raises(("k:copy_tile: option `%s`: expected an integer or a register, got %s"):format(wrong[1], wrong[3]), wg.kernel, "k", {}, function(k) copy(k, { [wrong[1]] = wrong[2] }) end)
end
local function places(k, type) return { to = k:param("D", type), ld = 64, row = 0, col = 0, rows = 64, cols = 64 } end
in_kernel("k:store_accumulator: `to` points to bf16, must point to f32 or s32", function(k) k:store_accumulator(k:regs("f32", 32), places(k, "bf16*")) end)
in_kernel("k:store_accumulator: 30 registers cannot hold a 64 x n block, which takes n / 2 registers, n being a multiple of 8", function(k) k:store_accumulator(k:regs("f32", 30), places(k, "f32*")) end)
in_kernel("k:store_accumulator: option `ld` is missing", function(k) k:store_accumulator(k:regs("f32", 32), { to = k:param("D", "f32*") }) end)
in_kernel("k:element, pointer: a pointer made by k:param is needed", function(k) k:element(k:reg "u64", 0) end)
in_kernel("k:element, index: " .. count .. "nil", function(k) k:element(k:param("A", "f32*")) end)
