-- N and P of a chunk with decays for each channel: products of rows that linear_attention/channel_rows.lua has stored.
-- A block is 16 x 16 elements, of the rows of two bands and the columns of two; of N and P together there are four on
-- the diagonal and six below it, which the eight warps of a half share: two warps have two each on the diagonal.

local elements = require "wgrun.tile.elements"

local module = {}

-- Returns at(step), for the blocks of row pair `row` and column pair `column`; at(step) returns load(panel), what they
-- read of 16 channels, those of `step` (0 to 3, a register) in a panel (0 or 1) of the tiles: words of K and of Q
-- (rows), of K (columns), and factor(a, b), what decays by since the end of band b up to the
-- beginning of band a, without fractions: two words of two channels each.
local function reader(g, me, row, column)
  local k, p, lane = g.k, g.p, me.lane
  local in_line = lane & 7
  local function first(name, pair, line, upper) -- upper: 1 where the lane points to the second eight channels
    return me.places[name] + (line + (pair << 4) << 7) + ((upper ~ in_line) << 4)
  end
  local of_k, of_q = first("k", row, lane & 15, lane >> 4), first("q", row, lane & 15, lane >> 4)
  local of_columns = first("r", column, in_line + ((lane >> 4) << 3), lane >> 3 & 1)
  local of_channels, zero = (lane & 3) << 2, k:mov(0, { type = "b32" })
  return function(step)
    local swizzle, channels = step << 5, (step << 5) + of_channels
    local from = { k = of_k ~ swizzle, q = of_q ~ swizzle, columns = of_columns ~ swizzle }
    return function(panel)
      local out = {}
      for _, name in ipairs { "k", "q", "columns" } do
        out[name] = k:ldmatrix_x4(from[name], { offset = panel * p.k:offset(0, 64) })
      end
      local function powers(name, band)
        local words, place = {}, me.places[name] + channels + (band << 8)
        for i = 0, 1 do words[i] = k:ld_shared_b32(place, { offset = 128 * panel + 16 * i }) end
        return words
      end
      local known = { of_rows = {}, of_columns = {} }
      function out.factor(a, b)
        local words, x, y = {}, known.of_rows[a] or powers("of_rows", a), known.of_columns[b] or powers("of_columns", b)
        known.of_rows[a], known.of_columns[b] = x, y
        for i = 0, 1 do words[i] = k:max_s16x2(k:add_s16x2(x[i], y[i]), zero) << 7 end
        return words
      end
      return out
    end
  end
end

-- sums += the rows `words`, those of the first band times `first` (nil: they are zeros), those of the second times
-- `second`, by columns of a band (mma.m16n8k16, PTX ISA 9.7.14.5.8).
local function add(g, sums, words, first, second, columns)
  local k, p, a = g.k, g.p, g.k:regs("b32", 4)
  for w = 0, 3 do
    local factors = second
    if w % 2 == 0 then factors = first end
    if factors then k:mul_bf16x2(a[w], words[w], factors[w // 2]) else k:mov(a[w], 0) end
  end
  k:mma_sync(sums, a, columns, sums, { d = "f32", a = p.dtype, b = p.dtype, k = 16 })
end

-- Sums over all channels: for k and q, two bands of columns, four accumulators each. body(from, each): each(band,
-- first, second) adds what was read, `from`, to those of a band of columns, 0 or 1.
local function summed(g, me, row, column, body)
  local k, sums = g.k, {}
  for _, name in ipairs { "k", "q" } do
    sums[name] = {}
    for band = 0, 1 do
      sums[name][band] = k:regs("f32", 4)
      for r = 0, 3 do k:mov(sums[name][band][r], 0.0) end
    end
  end
  local at = reader(g, me, row, column)
  k:loop(4, function(step)
    local load = at(step)
    for panel = 0, 1 do
      local from = load(panel)
      body(from, function(band, first, second)
        for _, name in ipairs { "k", "q" } do
          add(g, sums[name][band], from[name], first, second, from.columns:slice(2 * band, 2))
        end
      end)
    end
  end)
  return sums
end

-- Stores a block of N, as k:triangular_inverse reads it, and one of P. row and column: pairs of bands. Where these are
-- the same, P is 0 above the diagonal; nobody reads N there.
local function store(g, me, row, column, sums, on_diagonal)
  local k, p, lane = g.k, g.p, me.lane
  local convert, in_line, pair = elements.to_output[p.dtype], lane >> 2, (lane & 3) << 1
  local first = in_line + (row << 4)
  local of_n = me.places.n + first * (4 * me.line) + (column << 6) + (pair << 2)
  local of_p = me.places.p + (first << 7) + (pair << 1)
  for half = 0, 1 do
    local beta = k:neg(k:ld_shared_f32(me.places.beta + (first << 2), { offset = 32 * half }))
    for band = 0, 1 do
      local n, x = {}, {}
      for i = 0, 1 do
        n[i + 1] = elements.nearest_tf32(k, sums.k[band][2 * half + i] * beta)
        x[i] = sums.q[band][2 * half + i] * g.sizes.scale
        if on_diagonal and band == half then x[i] = k:selp(x[i], 0.0, in_line:ge(pair + i)) end
      end
      local word = on_diagonal and band > half and 0 or convert(k, x[0], x[1])
      k:st_shared_v2_b32(of_n, n, { offset = 32 * me.line * half + 32 * band })
      k:st_shared_b32(of_p + ((in_line ~ (column << 1) + band) << 4), word, { offset = 1024 * half })
    end
  end
end

-- The block on the diagonal of a pair of bands, a register.
local function diagonal(g, me, pair)
  local band = pair << 1
  local next_band = band + 1
  local sums = summed(g, me, pair, pair, function(from, each)
    each(0, from.factor(band, band), from.factor(next_band, band))
    each(1, nil, from.factor(next_band, next_band))
  end)
  store(g, me, pair, pair, sums, true)
end

-- A block below it.
local function below(g, me, row, column)
  local k = g.k
  local row_register, column_register = k:mov(row, { type = "u32" }), k:mov(column, { type = "u32" })
  local function band_of(number) return k:mov(number, { type = "u32" }) end
  local bands = { rows = { band_of(2 * row), band_of(2 * row + 1) }, columns = { band_of(2 * column), band_of(2 * column + 1) } }
  local sums = summed(g, me, row_register, column_register, function(from, each)
    for band = 0, 1 do
      local b = bands.columns[band + 1]
      each(band, from.factor(bands.rows[1], b), from.factor(bands.rows[2], b))
    end
  end)
  store(g, me, row_register, column_register, sums, false)
end

--- Stores N and P of the chunk, but what is above the blocks on the diagonal.
function module.emit(g, me)
  local k, warp = g.k, 2
  k:if_(me.warp:lt(2), function()
    k:loop(2, function(i) diagonal(g, me, me.warp + me.warp + i) end)
  end)
  for row = 1, 3 do
    for column = 0, row - 1 do
      k:if_(me.warp:eq(warp), function() below(g, me, row, column) end)
      warp = warp + 1
    end
  end
end

return module
