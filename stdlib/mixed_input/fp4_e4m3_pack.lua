-- Weights of mxfp4 and their scales in the order of wg.gemm{ b_type = "mxfp4", a_type = "e4m3" }
-- (mixed_input/fp4_e4m3.lua). Units of 64 elements of K are like those for an A of bf16 (mixed_input/fp4_pack.lua): 16
-- bytes for each thread, two words for each step of 32 elements, and behind them the scales of rows r and r + 8
-- together. The units of a block are followed by the factors of its 64 rows.

local wg = require "wgrun"
local fp4_e4m3 = require "wgrun.mixed_input.fp4_e4m3"
local fp4_pack = require "wgrun.mixed_input.fp4_pack"

local module = {}

local load_byte = fp4_pack.load_byte

-- The greatest exponents among the scales of the thread's two rows, at least 1; those of NaN do not count. The four
-- threads that have a row look at every fourth scale of it.
local function greatest_scales(k, rows, lane, groups)
  local top, first = { [0] = k:mov(1, { type = "u32" }), k:mov(1, { type = "u32" }) }, k:mov(0, { type = "u32" })
  k:while_(function() return first:lt(groups) end, function()
    for half = 0, 1 do
      local scale = load_byte(k, rows[half], first + (lane & 3), groups)
      k:max(top[half], top[half], k:selp_b32(0, scale, scale:eq(255), { type = "u32" }))
    end
    k:add(first, first, 4)
  end)
  for half = 0, 1 do
    for by = 1, 2 do k:max(top[half], top[half], k:shfl_sync_bfly_b32(top[half], by, 31)) end
  end
  return top
end

--- The kernel: a CTA packs a unit, and that of the first one the factors.
function module.kernel()
  return wg.kernel("prepack_mxfp4_e4m3", { threads = 128 }, function(k)
    local W, packed = k:param("W", "const u8*"), k:param("packed", "u32*")
    local N, K, scales = k:param("N", "u32"), k:param("K", "u32"), k:param("scales", "const u8*")
    local thread, unit, block = k:special "tid.x", k:special "ctaid.x", k:special "ctaid.y"
    local lane, groups, width = thread & 31, k:div(K, 32), K >> 1
    local first = (block << 6) + ((thread >> 5) << 4) + (lane >> 2)
    local weight_rows = fp4_pack.rows_of(k, W, first, N, width)
    local scale_rows = fp4_pack.rows_of(k, scales, first, N, groups)
    local top = greatest_scales(k, scale_rows, lane, groups)

    local words, column = {}, (unit << 5) + ((lane & 3) << 1) -- in bytes
    for word = 0, 3 do
      local registers = {}
      for half = 0, 1 do
        local function byte(i) return load_byte(k, weight_rows[half], column + (8 * word + i), width) end
        registers[half] = byte(0) | byte(1) << 8
      end
      words[word + 1] = fp4_e4m3.word(registers[0], registers[1])
    end
    local in_block = k:special "nctaid.x" * 2176
    local of_block = k:mad_wide_u32(block, in_block + 256, packed)
    local to = k:mad_wide_u32(unit, 2176, of_block)
    k:st_global_v4_b32(k:add(to, k:cvt_u64_u32(thread << 4)), words)

    local of_rows
    for i = 0, 3 do -- two groups of each row
      local scale = load_byte(k, scale_rows[i // 2], (unit << 1) + i % 2, groups)
      local stored = fp4_e4m3.packed_scale(k, scale, top[i // 2])
      of_rows = i == 0 and stored or of_rows | stored << 8 * i
    end
    local row, leads = ((thread >> 5) << 4) + (lane >> 2), (lane & 3):eq(0)
    local pair = ((thread >> 5) << 3) + (lane >> 2)
    k:st_global_b32(k:add(to, k:cvt_u64_u32(pair << 2)), of_rows, { offset = 2048, guard = leads })
    local factors = k:add(of_block, k:cvt_u64_u32(in_block + (row << 2)))
    for half = 0, 1 do
      k:st_global_f32(
        factors, fp4_e4m3.factor(k, top[half]), { offset = 32 * half, guard = leads & unit:eq(0) })
    end
  end)
end

return module
