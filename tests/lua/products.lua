-- Products of a warp and small arithmetic from scripts: mma.sync of f64 and of 4 bits, mma.sp, 24-bit and packed integers, testp.
local check = require "check"
local wg = require "wgrun"

--- Runs body(k, lane), which gives a list of registers; returns their words, [lane][number], from 1.
local function results(types, args, body)
  local kernel = wg.kernel("products", { threads = 32 }, function(k)
    local to = k:param("to", "u32*")
    local lane = k:special "laneid"
    local words = {}
    for i, reg in ipairs(body(k, lane)) do
      if types[i] == "f64" then
        local both = k:regs("b32", 2)
        k:unpack(both, reg, { type = "b64" })
        words[#words + 1], words[#words + 2] = both[0], both[1]
      elseif types[i] == "pred" then
        words[#words + 1] = k:selp_u32(1, 0, reg)
      else
        words[#words + 1] = reg
      end
    end
    for i, word in ipairs(words) do
      k:st_global_b32(k:mad_wide_u32(lane * #words + (i - 1), 4, to), word)
    end
  end)
  local problems = kernel:check()
  check.equal(#problems, 0)
  local to = wg.zeros("u32", { 32 * 16 })
  kernel:run { args = { to, table.unpack(args) } }
  return to
end

-- f64: D = A * 1 + C, of which lane l has A's element (l // 4, l % 4) and D's (l // 4, 2 (l % 4)).
local out = results({ "f64" }, {}, function(k, lane)
  local a, one = k:cvt_rn_f64_u32(lane), k:mov(1.0, { type = "f64" })
  local d = k:mma_sync({ a }, { one }, { one, one }, { d = "f64", a = "f64", b = "f64", m = 8, k = 4 })
  return { d[0] }
end)
for lane = 0, 31 do
  local row = lane // 4
  local want = 1 + 4 * (4 * row) + 6
  check.equal((string.unpack("<d", string.pack("<I4I4", out[2 * lane], out[2 * lane + 1]))), want)
end

-- u4 times s4: all 3 and all -1.
out = results({ "s32" }, {}, function(k)
  local threes, ones, c = k:mov(0x33333333, { type = "b32" }), k:mov(0xFFFFFFFF, { type = "b32" }), k:mov(7, { type = "s32" })
  local d = k:mma_sync({ threes, threes }, { ones }, { c, c, c, c }, { d = "s32", a = "u4", b = "s4", k = 32 })
  return { d[3] }
end)
check.equal(out[9], 7 - 3 * 32 + 2 ^ 32)

-- A sparse A of ones, of which the first and the last of four are stored: each row sums B's rows 0, 3, 4, 7, ...
for _, method in ipairs { "mma_sp_sync", "mma_sp_ordered_metadata_sync" } do
  out = results({ "f32" }, {}, function(k, lane)
    local ones, zero = k:mov(0x3C003C00, { type = "b32" }), k:mov(0.0, { type = "f32" })
    -- B's element (k, n) is k: lane l holds the elements 2 (l % 4), the next one, and both 8 further down, of column l // 4.
    local first = k:shl_b32(lane & 3, 1)
    local function two(from) return k:cvt_rn_f16x2_f32(k:cvt_rn_f32_u32(from + 1), k:cvt_rn_f32_u32(from)) end
    local d = k[method](k, { ones, ones }, { two(first), two(first + 8) }, { zero, zero, zero, zero }, k:mov(0xCCCCCCCC, { type = "b32" }),
      { d = "f32", a = "f16", b = "f16", k = 16, sp_sel = 2 })
    return { d[0] }
  end)
  check.equal((string.unpack("<f", string.pack("<I4", out[5]))), 0.0 + 0 + 3 + 4 + 7 + 8 + 11 + 12 + 15)
end

-- Metadata from memory are not judged before they are known; then they are.
local sparse = wg.kernel("sparse", { threads = 32 }, function(k)
  local metadata = k:ld_global_b32(k:param("metadata", "const u32*"))
  local zero, c = k:mov(0, { type = "b32" }), k:mov(0.0, { type = "f32" })
  k:mma_sp_sync({ zero, zero }, { zero, zero }, { c, c, c, c }, metadata, { d = "f32", a = "f16", b = "f16", k = 16 })
end)
check.equal(#sparse:check(), 0)
sparse:run { args = { wg.tensor("u32", { 1 }):fill(0x44444444) } }
local problem = check.raises("sparse metadata of row 0, chunk 0: 0b0000 has no meaning", function() sparse:run { args = { wg.zeros("u32", { 1 }) } } end)
check.equal(problem.rule, "WG-SPARSE-01")

-- Small ones.
out = results({}, {}, function(k)
  local a, b = k:mov(0x7FFF0001, { type = "b32" }), k:mov(0x0001FFFF, { type = "b32" })
  local minus = k:mov(-5, { type = "s32" })
  return {
    k:add_u16x2(a, b), k:max_s16x2(a, b), k:max_u16x2(a, b), k:min_relu_s16x2(a, b), k:max_relu_s32(minus, minus),
    k:mul24_hi_s32(minus, k:mov(0x400000, { type = "s32" })), k:mad24_lo_u32(k:mov(0x1000003, { type = "u32" }), 5, 2),
  }
end)
local want = { 0x80000000, 0x7FFF0001, 0x7FFFFFFF, 0x00010000, 0, 2 ^ 32 - 5 * 0x40, 17 }
for i, word in ipairs(want) do check.equal(out[i - 1], word) end

out = results({ "pred", "pred", "pred" }, {}, function(k)
  local x = k:mov(1e-40, { type = "f32" })
  return { k:testp_subnormal_f32(x), k:testp_normal_f32(x), k:testp_finite_f32(x) }
end)
check.equal({ out[0], out[1], out[2] }, { 1, 0, 1 })

check.refuses_in_kernel("add, operand b: PTX has no u16x2 literals; pack two numbers of 16 bits into a register with mov",
  function(k) k:add_u16x2(k:mov(1, { type = "b32" }), 1) end)
check.refuses_in_kernel("mma.sync: m=8 is not legal for d=f32, a=bf16, b=bf16 (legal: 16)",
  function(k) k:mma_sync({}, {}, {}, { d = "f32", a = "bf16", b = "bf16", m = 8 }) end)
