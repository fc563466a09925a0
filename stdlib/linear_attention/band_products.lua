-- N and P of a chunk with decays for each channel: products of rows that linear_attention/channel_rows.lua has stored,
-- by a warp for each two bands of rows, of K (for N) or of Q (for P).

local rows = require "wgrun.linear_attention.channel_rows"
local elements = require "wgrun.tile.elements"

local module = {}

--- Sums over channels for the rows of two bands, 2 `pair` and the next one, of K or of Q, whose tile is at `from`: for
--- each band of columns up to the second one four accumulators of mma.m16n8k16 (PTX ISA 9.7.14.5.8).
function module.multiply(g, me, pair, from)
  local k, p = g.k, g.p
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local lane, sums = me.lane, {}
  for band = 0, 2 * pair + 1 do
    sums[band] = k:regs("f32", 4)
    for r = 0, 3 do k:mov(sums[band][r], 0.0) end
  end
  local in_line, panel = lane & 7, p.k:offset(0, 64)
  local of_rows = from + ((lane & 15) + 16 * pair << 7)
  local of_columns = me.places.r + (in_line + ((lane >> 4) << 3) << 7)
  k:loop(p.dim // 16, function(step)
    local function place(base, upper) -- of the unit that the lane points to: `upper` is 1 for the second eight channels
      return base + (step >> 2) * panel + ((((step & 3) << 1) + upper ~ in_line) << 4)
    end
    local words = k:ldmatrix_x4(place(of_rows, lane >> 4))
    local low, high, column = {}, {}, place(of_columns, lane >> 3 & 1)
    for i = 0, 1 do
      low[2 * i], low[2 * i + 1] = split(k, words[2 * i])
      high[2 * i], high[2 * i + 1] = split(k, words[2 * i + 1])
    end
    local function times(x, y)
      local out = {}
      for c = 0, 3 do out[c] = x[c] * y[c] end
      return out
    end
    local of_channels = me.places.totals + (step << 6) + ((lane & 3) << 3)
    local function total(band)
      local of_band = k:regs("f32", 4)
      for i = 0, 1 do k:ld_shared_v2_f32(of_band:slice(2 * i, 2), of_channels, { offset = p.decay_bytes * band + 32 * i }) end
      return of_band
    end
    local function reciprocal(x)
      local out = {}
      for c = 0, 3 do out[c] = k:rcp_approx_ftz(x[c]) end
      return out
    end
    local function add(band, x, y, of_b)
      local a = k:regs("b32", 4)
      for i = 0, 1 do
        k:mov(a[2 * i], x and convert(k, x[2 * i], x[2 * i + 1]) or 0)
        k:mov(a[2 * i + 1], convert(k, y[2 * i], y[2 * i + 1]))
      end
      k:mma_sync(sums[band], a, of_b, sums[band], { d = "f32", a = p.dtype, b = p.dtype, k = 16 })
    end
    local of_b = k:ldmatrix_x4(column, { offset = 2048 * pair })
    local first, second = total(2 * pair), total(2 * pair + 1)
    add(2 * pair, times(low, reciprocal(first)), high, of_b:slice(0, 2))
    add(2 * pair + 1, nil, times(high, reciprocal(second)), of_b:slice(2, 2))
    high = times(high, first)
    local between
    for band = 2 * pair - 1, 0, -1 do
      if band % 2 == 1 then of_b = k:ldmatrix_x4(column, { offset = 1024 * (band - 1) }) end
      add(band, between and times(low, between) or low, between and times(high, between) or high,
        of_b:slice(band % 2 * 2, 2))
      if band > 0 then between = between and times(between, total(band)) or total(band) end
    end
  end)
  return sums
end

--- N of the rows of two bands, as k:triangular_inverse reads it.
function module.store_n(g, me, pair, sums)
  local k = g.k
  local row = (me.lane >> 2) + 16 * pair
  local to = me.places.n + row * (4 * me.line) + ((me.lane & 3) << 3)
  for half = 0, 1 do
    local beta = k:neg(k:ld_shared_f32(me.places.beta + (row << 2), { offset = 32 * half }))
    for band = 0, 2 * pair + half do
      local words = {}
      for i = 0, 1 do words[i + 1] = elements.nearest_tf32(k, sums[band][2 * half + i] * beta) end
      k:st_shared_v2_b32(to, words, { offset = 32 * me.line * half + 32 * band })
    end
  end
end

--- P of these rows, 0 above the diagonal.
function module.store_p(g, me, pair, sums)
  local k, p = g.k, g.p
  local convert, in_line = elements.to_output[p.dtype], me.lane >> 2
  local pair_of_columns = (me.lane & 3) << 1
  local to = me.places.p + (in_line + 16 * pair << 7) + (pair_of_columns << 1)
  for band = 0, rows.bands - 1 do
    for half = 0, 1 do
      local word
      if band > 2 * pair + half then
        word = 0
      else
        local x = {}
        for i = 0, 1 do
          x[i] = sums[band][2 * half + i] * g.sizes.scale
          if band == 2 * pair + half then x[i] = k:selp(x[i], 0.0, in_line:ge(pair_of_columns + i)) end
        end
        word = convert(k, x[0], x[1])
      end
      k:st_shared_b32(to + ((in_line ~ band) << 4), word, { offset = 1024 * half })
    end
  end
end

return module
