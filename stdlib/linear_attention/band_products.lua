-- N and P of a chunk with decays for each channel: products of rows that linear_attention/channel_rows.lua has stored.
-- A block is 16 x 16 elements, of the rows of two bands and the columns of two; of N and P together there are four on
-- the diagonal and six below it, which the eight warps of a half share: the first two have two each on the diagonal.

local elements = require "wgrun.tile.elements"

local module = {}

-- Returns at(step), for the blocks of row pair `row` and column pair `column`; at(step) returns load(panel), what they
-- read of 16 channels, those of `step` (0 to 3, a register) in a panel (0 or 1) of the tiles: words of K and of Q
-- (rows), of K (columns), and factor(a, b), the decay from the end of band b (0 or 1) of the columns to the beginning
-- of band a of the rows, without fractions: two words of two channels each.
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
    -- A factor is a power of two, whose exponent is the sum of two numbers with the bias of bf16.
    local swizzle, channels = step << 5, (step << 5) + of_channels
    local from = { k = of_k ~ swizzle, q = of_q ~ swizzle, columns = of_columns ~ swizzle }
    return function(panel)
      local out = {}
      for _, name in ipairs { "k", "q", "columns" } do
        out[name] = k:ldmatrix_x4(from[name], { offset = panel * p.k:offset(0, 64) })
      end
      local function powers(name, pair)
        local words, place = {}, me.places[name] + channels + (pair << 9)
        for band = 0, 1 do
          words[band] = {}
          for i = 0, 1 do words[band][i] = k:ld_shared_b32(place, { offset = 256 * band + 128 * panel + 16 * i }) end
        end
        return words
      end
      local of_row_bands, of_column_bands = powers("of_rows", row), powers("of_columns", column)
      function out.factor(a, b)
        local words = {}
        for i = 0, 1 do
          words[i] = k:max_s16x2(k:add_s16x2(of_row_bands[a][i], of_column_bands[b][i]), zero) << 7
        end
        return words
      end
      return out
    end
  end
end

-- sums += the rows `words`, those of the first band times `first`, those of the second times `second`, by columns of a
-- band (mma.m16n8k16, PTX ISA 9.7.14.5.8).
local function add(g, sums, words, first, second, columns)
  local k, p, a = g.k, g.p, g.k:regs("b32", 4)
  for w = 0, 3 do k:mul_bf16x2(a[w], words[w], (w % 2 == 0 and first or second)[w // 2]) end
  k:mma_sync(sums, a, columns, sums, { d = "f32", a = p.dtype, b = p.dtype, k = 16 })
end

-- Sums over all channels for the blocks of row pair `row` and column pair `column`: for k and q, two bands of columns,
-- four accumulators each. Above the diagonal they may be anything.
local function multiply(g, me, row, column)
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
      for band = 0, 1 do
        local first, second = from.factor(0, band), from.factor(1, band)
        for _, name in ipairs { "k", "q" } do
          add(g, sums[name][band], from[name], first, second, from.columns:slice(2 * band, 2))
        end
      end
    end
  end)
  return sums
end

-- Stores a block of N, as k:triangular_inverse reads it, and one of P, 0 above the diagonal, on which it has products
-- that nothing has rounded: a token that comes first has no others. Nobody reads N there.
local function store(g, me, row, column, sums)
  local k, p, lane = g.k, g.p, me.lane
  local convert, in_line, pair = elements.to_output[p.dtype], lane >> 2, (lane & 3) << 1
  local first = in_line + (row << 4)
  local of_n = me.places.n + first * (4 * me.line) + (column << 6) + (pair << 2)
  local of_p = me.places.p + (first << 7) + (pair << 1)
  local ahead = k:mov(first, { type = "s32" }) - k:mov((column << 4) + pair, { type = "s32" })
  local function of_row(name, half) return k:ld_shared_f32(me.places[name] + (first << 2), { offset = 32 * half }) end
  for half = 0, 1 do
    local beta, own = of_row("beta", half), of_row("own", half)
    for band = 0, 1 do
      local n, x = {}, {}
      for i = 0, 1 do
        local upto = 8 * band + i - 8 * half
        n[i + 1] = elements.nearest_tf32(k, sums.k[band][2 * half + i] * k:neg(beta))
        x[i] = k:selp(own, sums.q[band][2 * half + i], ahead:eq(upto))
        x[i] = k:selp(x[i] * g.sizes.scale, 0.0, ahead:ge(upto))
      end
      k:st_shared_v2_b32(of_n, n, { offset = 32 * me.line * half + 32 * band })
      local to = of_p + ((in_line ~ (column << 1) + band) << 4)
      k:st_shared_b32(to, convert(k, x[0], x[1]), { offset = 1024 * half })
    end
  end
end

--- Stores N and P of the chunk, but what is above the blocks on the diagonal.
function module.emit(g, me)
  local k = g.k
  local below = me.warp - 2 -- blocks (1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), from the third warp on
  local row = k:selp(k:mov(1, { type = "u32" }), k:selp(k:mov(2, { type = "u32" }), 3, below:lt(3)), below:lt(1))
  local column = below - (k:mul(row, row - 1) >> 1)
  local diagonal = me.warp:lt(2)
  k:loop(k:selp(k:mov(2, { type = "u32" }), 1, diagonal), function(turn)
    local pair = me.warp + me.warp + turn
    local i, j = k:selp(pair, row, diagonal), k:selp(pair, column, diagonal)
    store(g, me, i, j, multiply(g, me, i, j))
  end)
end

return module
