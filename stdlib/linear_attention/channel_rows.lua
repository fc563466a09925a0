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
  local band = k:mov(me.warp * rows_of_band, { type = "s32" })
  local function load(inside)
    for r = 0, rows_of_band - 1 do
      local guard = inside and inside(r)
      k:ld_global_v4_f32(rows.e:slice(4 * r, 4), of_g, { offset = r * p.heads * p.dim * 4, guard = guard })
      for _, one in ipairs { { rows.k, of_k }, { rows.q, of_q } } do
        k:ld_global_v2_b32(one[1]:slice(2 * r, 2), one[2], { offset = r * p.qk_heads * p.dim * 2, guard = guard })
      end
    end
  end
  k:if_(at.left:ge(p.chunk), function() load() end, function()
    for i = 0, #rows.k - 1 do
      k:mov(rows.k[i], 0)
      k:mov(rows.q[i], 0)
    end
    for i = 0, #rows.e - 1 do k:mov(rows.e[i], 0.0) end
    load(function(r) return (band + r):lt(at.left) end)
  end)
end

--- Fetches what a chunk loads into the L2 cache: a thread has two lines of 128 bytes of a row, one of g and one of K or
--- Q.
function module.prefetch(g, me, at)
  local k, p, sizes = g.k, g.p, g.sizes
  local row, line = me.thread >> 2, me.thread & 3
  local inside = k:mov(row, { type = "s32" }):lt(at.left)
  local function fetch(tensor, heads, head, bytes, column)
    local place = k:mad_wide_u32((at.row + row) * heads + head, p.dim * bytes, tensor)
    k:prefetch_global_L2(k:mad_wide_u32(column, 128, place), { guard = inside })
  end
  fetch(sizes.g, p.heads, at.head, 4, line)
  fetch(k:selp(sizes.K, sizes.Q, line:lt(2)), p.qk_heads, at.qk_head, 2, line & 1)
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

--- Stores for each band the decays of all bands before it, and of all behind it. One warp executes it.
function module.store_around(g, me)
  local k, p, in_line, of_bands = g.k, g.p, me.lane << 4, {}
  for band = 0, bands - 1 do
    of_bands[band] = k:ld_shared_v4_f32(me.places.totals + in_line, { offset = p.decay_bytes * band })
  end
  for _, one in ipairs { { "before", 0, bands - 1, 1 }, { "behind", bands - 1, 0, -1 } } do
    local product, to = module.ones(k), me.places[one[1]] + in_line
    for band = one[2], one[3], one[4] do
      k:st_shared_v4_f32(to, product, { offset = p.decay_bytes * band })
      if band ~= one[3] then
        for c = 0, 3 do k:mul(product[c], product[c], of_bands[band][c]) end
      end
    end
  end
end

return module
