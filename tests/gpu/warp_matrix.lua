-- The warp's matrix instructions on the chip beside the simulator: every form of mma.sync, ldmatrix, stmatrix and
-- movmatrix on random bits. All must be equal bit for bit; sums are the simulator's with the chip's numerics.
--   wgrun tests/gpu/warp_matrix.lua [--samples 256]
local wg = require "wgrun"

local samples = arg[1] == "--samples" and math.tointeger(tonumber(arg[2])) or 256
local backend = wg.device() and "gpu" or "sim"
local cases, wrong = 0, 0

-- Runs body(k, words, lane) on `count` random words a lane; it gives the registers to compare. mask: { keep, set } of
-- each word. Returns the results of the back end and of the simulator.
local function both(name, count, mask, body)
  local out_words
  local kernel = wg.kernel(name:gsub("[^%w]", "_"), { threads = 32 }, function(k)
    local from, to = k:param("from", "const u32*"), k:param("to", "u32*")
    local lane = k:special "laneid"
    local thread = k:special "ctaid.x" * 32 + lane
    local words = {}
    for i = 1, count do
      local word = k:ld_global_b32(k:mad_wide_u32(thread * count + (i - 1), 4, from))
      local m = mask(i)
      words[i] = m and (word & m[1]) | m[2] or word
    end
    local results = body(k, words, lane)
    out_words = #results
    for i, result in ipairs(results) do
      k:st_global_b32(k:mad_wide_u32(thread * out_words + (i - 1), 4, to), result)
    end
  end)
  local input = wg.randint { shape = { samples * 32 * count }, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = cases + 1 }
  local outputs = {}
  for i, where in ipairs { backend, "sim" } do
    outputs[i] = wg.zeros("u32", { samples * 32 * out_words })
    kernel:run { grid = { samples }, args = { input, outputs[i] }, backend = where, numerics = "h200" }
  end
  cases = cases + 1
  return outputs[1], outputs[2]
end

local function compare(name, count, mask, body)
  local got, want = both(name, count, mask, body)
  local differ = 0
  for i = 0, #got - 1 do
    if got[i] ~= want[i] then differ = differ + 1 end
  end
  if differ > 0 then wrong = wrong + 1 end
  print(("%-34s %7d of %7d words equal%s"):format(name, #got - differ, #got, differ == 0 and "" or "  WRONG"))
end

-- --- mma.sync ---------------------------------------------------------------------------------------------------

local types = {
  f16 = { 16, { 0xBFFFBFFF, 0 } }, bf16 = { 16, { 0xBFFFBFFF, 0x30003000 } }, tf32 = { 32, { 0xBFFFFFFF, 0x30000000 } },
  e4m3 = { 8, { 0xBFBFBFBF, 0 } }, e5m2 = { 8, { 0xBFBFBFBF, 0 } }, s8 = { 8 }, u8 = { 8 }, b1 = { 1 },
}

local function mma(d, a, b, k_extent, more)
  local bits_a, bits_d = types[a][1], d == "f16" and 16 or 32
  local a_words, b_words, d_words = 16 * k_extent * bits_a // 1024, 8 * k_extent * bits_a // 1024, 128 * bits_d // 1024
  local c_mask = d == "f32" and { 0xBFFFFFFF, 0x30000000 } or d == "f16" and { 0xBFFFBFFF, 0 } or nil
  local name = ("mma.sync k%d %s.%s.%s%s"):format(k_extent, d, a, b, more and " " .. (more.op or "satfinite") or "")
  compare(name, a_words + b_words + d_words, function(i)
    if i <= a_words then return types[a][2] end
    if i <= a_words + b_words then return types[b][2] end
    return c_mask
  end, function(k, words)
    local function part(first, count) return { table.unpack(words, first, first + count - 1) } end
    local form = { d = d, a = a, b = b, k = k_extent }
    for key, value in pairs(more or {}) do form[key] = value end
    local result = k:mma_sync(part(1, a_words), part(1 + a_words, b_words), part(1 + a_words + b_words, d_words), form)
    local out = {}
    for i = 0, d_words - 1 do out[i + 1] = result[i] end
    return out
  end)
end

for _, k in ipairs { 8, 16 } do
  mma("f32", "f16", "f16", k)
  mma("f16", "f16", "f16", k)
  mma("f32", "bf16", "bf16", k)
end
for _, k in ipairs { 4, 8 } do mma("f32", "tf32", "tf32", k) end
for _, a in ipairs { "e4m3", "e5m2" } do for _, b in ipairs { "e4m3", "e5m2" } do mma("f32", a, b, 32) end end
for _, a in ipairs { "s8", "u8" } do
  for _, b in ipairs { "s8", "u8" } do
    for _, k in ipairs { 16, 32 } do
      mma("s32", a, b, k)
      mma("s32", a, b, k, { satfinite = 1 })
    end
  end
end
for _, k in ipairs { 128, 256 } do for _, op in ipairs { "and.popc", "xor.popc" } do mma("s32", "b1", "b1", k, { op = op }) end end

-- --- moves: rows of 16 bytes at shuffled places -------------------------------------------------------------------

local function exact(name, count, body) compare(name, count, function() end, body) end
local function list(regs)
  local out = {}
  for i = 0, #regs - 1 do out[i + 1] = regs[i] end
  return out
end
for _, trans in ipairs { "", "_trans" } do
  for _, num in ipairs { 1, 2, 4 } do
    local method = "_x" .. num .. trans
    exact("ldmatrix" .. method, 4, function(k, words, lane)
      local rows = k:shared { bytes = 512, align = 128, name = "rows" }
      local base = k:mov(rows, { type = "u32" })
      k:st_shared_v4_b32(base + (lane << 4), words)
      k:bar_warp_sync()
      local result = k["ldmatrix" .. method](k, base + ((lane * 13 + 5 & 31) << 4))
      return list(result)
    end)
    exact("stmatrix" .. method, num, function(k, words, lane)
      local rows = k:shared { bytes = 512, align = 128, name = "rows" }
      local base = k:mov(rows, { type = "u32" })
      local zero = k:mov(0, { type = "b32" })
      k:st_shared_v4_b32(base + (lane << 4), { zero, zero, zero, zero })
      k:bar_warp_sync()
      k["stmatrix" .. method](k, base + ((lane * 13 + 5 & 31) << 4), words)
      k:bar_warp_sync()
      return list(k:ld_shared_v4_b32(base + (lane << 4)))
    end)
  end
end
exact("movmatrix", 1, function(k, words) return { k:movmatrix(words[1]) } end)

print(("%d forms on %s, %d wrong"):format(cases, backend, wrong))
os.exit(wrong == 0 and 0 or 5)
