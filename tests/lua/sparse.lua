-- wg.sparse, and the sparse forms of wg.wgmma and k:mma.
local check = require "check"
local wg = require "wgrun"

local A = wg.tensor("bf16", { 1, 8 }, { 1, -3, 2, 0.5, 0, 0, 0, 4 })
check.equal(wg.sparse.prune(A):totable(), { 0.0, -3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0 })
check.equal(wg.sparse.prune(wg.tensor("f32", { 1, 4 }, { 1, -3, 2, 0.5 }), "tf32"):totable(), { 0.0, -3.0, 2.0, 0.0 })

local pruned = wg.sparse.prune(wg.randint { dtype = "s8", shape = { 128, 192 }, lo = -128, hi = 127, seed = 4 })
local values, metadata = wg.sparse.compress(pruned)
check.equal({ values.dtype, values.shape, metadata.dtype, metadata.shape }, { "s8", { 128, 96 }, "u32", { 2, 3, 128 } })
check.equal(wg.compare(wg.sparse.decompress(values, metadata), pruned), true)
check.equal(wg.sparse.validate(metadata, "s8"), true)
metadata[{ 1, 2, 5 }] = 0
check.raises("sparse metadata of row 73, chunk 32: 0b0000 has no meaning", wg.sparse.validate, metadata, "s8")
check.raises("wg.sparse.prune first", function()
  local good, problem = pcall(wg.sparse.compress, wg.randn { dtype = "f16", shape = { 64, 32 }, seed = 1 })
  error(problem.fix)
end)
check.raises("there is no sparse wgmma for f32", wg.sparse.prune, wg.zeros("f32", { 4, 4 }))

local i = wg.wgmma { n = 128, d = "f32", a = "bf16", b = "bf16", sparse = true }
check.equal({ i.sparse, i.k, i.d_registers, i.a_registers, i.min_ptx }, { true, 32, 64, 4, "8.2" })
check.equal(i.ptx, "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.bf16.bf16")
check.equal(tostring(i:metadata_layout()), "((2,2,8,4),(4,2)):((256,0,1,16),(64,8))")
check.equal(tostring(i:d_layout()), tostring(wg.fragment { of = "wgmma_d", dtype = "f32", n = 128 }.layout))
check.equal(wg.wgmma { n = 8, d = "s32", a = "s8", b = "u8", sparse = true }.min_ptx, "8.4")
check.raises("sp_sel=1 is not legal for d=f32, a=e4m3, b=e5m2 (legal: 0)", wg.wgmma,
  { n = 64, d = "f32", a = "e4m3", b = "e5m2", sparse = true, sp_sel = 1 })
check.raises("wgmma.mma_async takes no `sp_sel`", wg.wgmma, { n = 64, d = "f32", a = "bf16", b = "bf16", sp_sel = 0 })
check.raises("option `sparse`: expected true or false", wg.wgmma, { n = 64, d = "f32", a = "bf16", b = "bf16", sparse = 1 })
check.raises("a dense wgmma has no metadata", function() wg.wgmma { n = 64, d = "f32", a = "bf16", b = "bf16" }:metadata_layout() end)

local tile_a = wg.tile { dtype = "bf16", mn = 64, k = 32, major = "K", swizzle = "64B" }
local tile_b = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local function mma(text, change)
  check.raises(text, wg.kernel, "k", {}, function(k)
    local opts = { a = k:shared(tile_a), b = k:shared(tile_b), metadata = k:regs("b32", 2) }
    for key, value in pairs(change) do opts[key] = value end
    k:mma(k:regs("f32", 32), opts)
  end)
end
mma("the K extents of the tiles differ: 32 and 64", { metadata = false })
mma("1 metadata registers for 2 K steps", { metadata = { 1 } })

-- numerics: how the simulator adds.
local sums = wg.kernel("sums", { threads = 128 }, function(k)
  local D = k:param("D", "f32*")
  local a, b = k:shared(tile_a, "a"), k:shared(wg.tile { dtype = "bf16", mn = 8, k = 32, major = "K", swizzle = "64B" }, "b")
  local words = k:regs("b32", 4)
  for w = 0, 3 do k:mov(words[w], w == 0 and 0x3F80 or 0) end -- a one in each eight elements
  local tid = k:special "tid.x"
  for i = 0, 1 do k:st_shared_v4_b32(k:mov(a, { type = "u32" }) + (tid << 4) + 2048 * i, words) end
  for i = 0, 3 do k:mov(words[i], 0x33403340) end -- 0.75 * 2^-24
  k:st_shared_v4_b32(k:mov(b, { type = "u32" }) + (tid << 4), words, { guard = tid:lt(32) })
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_sync(0)
  local acc = k:regs("f32", 4)
  for i = 0, 3 do k:mov(acc[i], 1) end
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b })
  k:wgmma_wait_group(0)
  k:store_accumulator(acc, { to = D, ld = 8, row = 0, col = 0, rows = 64, cols = 8, vector = true })
end)
local function first(numerics)
  local D = wg.zeros("f32", { 64, 8 })
  sums:run { args = { D }, backend = "sim", numerics = numerics }
  return D[{ 0, 0 }]
end
-- Two instructions, each adds two of them: 1.5 * 2^-24 rounds up, and the chip cuts it off.
check.equal(first "exact", 1 + 2.0 ^ -22)
check.equal(first(), 1 + 2.0 ^ -22)
check.equal(first "h200", 1.0)
check.equal(first { block = 0 }, 1.0)
check.equal(first { block = 16, fraction = 24, nearest = true }, 1 + 2.0 ^ -22)
check.raises('"exact", "h200" or a table of parameters', first, 3)
check.raises("exact or h200", function()
  local _, problem = pcall(first, "h100")
  error(problem.fix)
end)
check.raises("numerics: option `block`", first, { block = -1 })
