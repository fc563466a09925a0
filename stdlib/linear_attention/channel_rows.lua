-- Rows of a chunk with decays for each channel, by a warp for each band of eight tokens, of which a lane has four
-- channels: loaded to registers, and stored times products of decays.

local records = require "wgrun.linear_attention.records"
local elements = require "wgrun.tile.elements"

local module = {}

module.rows, module.bands = 8, 8 -- of a band, and of a chunk
local rows_of_band, bands = module.rows, module.bands
local log2_e = math.log(math.exp(1), 2)
local least = -10 * log2_e -- of a token's decay, as a power of 2

--- Registers for the thread's part of a chunk: words of K and Q, two channels each, and decays.
function module.registers(k)
  return {
    k = k:regs("b32", 2 * rows_of_band), q = k:regs("b32", 2 * rows_of_band), e = k:regs("f32", 4 * rows_of_band),
  }
end

--- Loads the thread's part of a chunk. Rows behind the sequence's last token have K = Q = 0 and no decay.
function module.load(g, me, rows, at)
  local k, p, sizes = g.k, g.p, g.sizes
  local first = at.row + me.warp * rows_of_band
  local function place(tensor, heads, head, size)
    return k:mad_wide_u32(me.lane, 4 * size, k:mad_wide_u32(first * heads + head, p.dim * size, tensor))
  end
  local of_k, of_q = place(sizes.K, p.qk_heads, at.qk_head, 2), place(sizes.Q, p.qk_heads, at.qk_head, 2)
  local of_g = place(sizes.g, p.heads, at.head, 4)
  for i = 0, #rows.k - 1 do
    k:mov(rows.k[i], 0)
    k:mov(rows.q[i], 0)
  end
  for i = 0, #rows.e - 1 do k:mov(rows.e[i], 0.0) end
  local band = k:mov(me.warp * rows_of_band, { type = "s32" })
  for r = 0, rows_of_band - 1 do
    local inside = (band + r):lt(at.left)
    k:ld_global_v4_f32(rows.e:slice(4 * r, 4), of_g, { offset = r * p.heads * p.dim * 4, guard = inside })
    for _, one in ipairs { { rows.k, of_k }, { rows.q, of_q } } do
      k:ld_global_v2_b32(one[1]:slice(2 * r, 2), one[2], { offset = r * p.qk_heads * p.dim * 2, guard = inside })
    end
  end
end

--- Decays from their logarithms.
function module.exponentials(k, rows)
  for i = 0, #rows.e - 1 do k:ex2_approx_ftz_f32(rows.e[i], k:max(rows.e[i] * log2_e, least)) end
end

--- Returns store(name, r, words, factors): the thread's four elements of a row, each times a factor, to the tile `name`.
function module.writer(g, me)
  local k, p = g.k, g.p
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local _, offsets = records.bytes(p)
  local inside = k:mul(me.lane >> 4, p.k:offset(0, 64)) + (me.warp * rows_of_band << 7) + ((me.lane & 15) << 3)
  local lines, first = {}, me.places.record + inside -- the swizzle of a band's rows, without that of a tile
  for r = 0, rows_of_band - 1 do lines[r] = first ~ (r << 4) end
  return function(name, r, words, factors)
    local out = {}
    for i = 0, 1 do
      local x, y = split(k, words[2 * r + i])
      out[i + 1] = convert(k, x * factors[2 * i], y * factors[2 * i + 1])
    end
    k:st_shared_v2_b32(lines[r], out, { offset = offsets[name] + (r << 7) })
  end
end

--- Stores K and Q times the decays since `since`, up to each row, and K times those from each row up to `upto`: four
--- channels each, which are left multiplied by the band's decays. scale: of Q, or nil.
function module.store(g, rows, store, since, upto, scale)
  local k = g.k
  for r = 0, rows_of_band - 1 do
    local of_q = {}
    for c = 0, 3 do
      k:mul(since[c], since[c], rows.e[4 * r + c])
      of_q[c] = scale and since[c] * scale or since[c]
    end
    store("k", r, rows.k, since)
    store("q", r, rows.q, of_q)
  end
  for r = rows_of_band - 1, 0, -1 do
    store("r", r, rows.k, upto)
    for c = 0, 3 do k:mul(upto[c], upto[c], rows.e[4 * r + c]) end
  end
end

--- Four factors of 1.
function module.ones(k)
  local out = k:regs("f32", 4)
  for c = 0, 3 do k:mov(out[c], 1.0) end
  return out
end

--- The decays of all bands before the warp's, and of all behind it.
function module.around(g, me)
  local k, before, behind = g.k, module.ones(g.k), module.ones(g.k)
  for band = 0, bands - 1 do
    local of_band = k:ld_shared_v4_f32(me.places.totals + (me.lane << 4), { offset = g.p.decay_bytes * band })
    for c = 0, 3 do
      k:mul(before[c], before[c], of_band[c], { guard = me.warp:gt(band) })
      k:mul(behind[c], behind[c], of_band[c], { guard = me.warp:lt(band) })
    end
  end
  return before, behind
end

return module
