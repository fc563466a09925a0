-- Where packed weights lie in memory (mixed_input/pack.lua): blocks of 64 rows, in a block units along K, and behind
-- them, where sums have a factor for each row (mixed_input/fp4_e4m3.lua), those of the 64 rows, f32.

local division = require "wgrun.builder.division"
local roofline = require "wgrun.cost.roofline"
local fp4 = require "wgrun.mixed_input.fp4"
local native = require "wgrun.native"

local module = {}

local ceil_div = roofline.ceil_div
local bits_of = { s4 = 4, u4 = 4, s8 = 8, u8 = 8, e4m3 = 8, mxfp4 = 4, nvfp4 = 4 }
local filled_k = 512 -- K is filled up to a multiple of it: the largest block of K

--- The number of bits of a type of weights; raises for a type that weights cannot have.
function module.bits(what, b_type)
  return bits_of[b_type]
    or native.fail(("%s: unknown b_type `%s` (legal: s4, u4, s8, u8, e4m3, mxfp4, nvfp4)"):format(
      what, tostring(b_type)))
end

--- The bytes of a unit of packed weights: 64 rows and 256 / bits elements of K, with the scales that are packed with
--- them.
function module.unit_bytes(b_type)
  local format = fp4.format(b_type)
  return 2048 + (format and format.scale_bytes or 0)
end

--- The bytes of the factors of 64 rows.
function module.factor_bytes(b_type, a_type)
  local format = fp4.format(b_type, a_type)
  return format and format.row_factors and 64 * 4 or 0
end

--- The units of 64 rows, along K.
function module.units(b_type, K) return ceil_div(K, filled_k) * filled_k * bits_of[b_type] // 256 end

--- The shape of the packed weights of an N x K matrix for an A of `a_type`: blocks of 64 rows, units along K, and words
--- of a unit, those of each thread of four, where there are no scales; with factors of rows, blocks and their words.
function module.shape(b_type, a_type, N, K)
  local blocks, units, words = ceil_div(N, 64), module.units(b_type, K), module.unit_bytes(b_type) // 4
  local factors = module.factor_bytes(b_type, a_type) // 4
  if factors > 0 then return { blocks, units * words + factors } end
  if fp4.format(b_type) then return { blocks, units, words } end
  return { blocks, units, 128, 4 }
end

-- By result of wg.prepack: the N and K of its weights, which its shape has rounded up.
local sizes = setmetatable({}, { __mode = "k" })

--- Remembers that a tensor has the packed weights of an N x K matrix.
function module.remember(tensor, N, K) sizes[tensor] = { N = N, K = K } end

--- Raises where a tensor is remembered to have the packed weights of another matrix than N x K.
function module.check(tensor, N, K)
  local of = sizes[tensor]
  if of and (of.N ~= N or of.K ~= K) then
    native.fail(("gemm: B has the packed weights of a %d x %d matrix, but A and D are for one of %d x %d"):format(
      of.N, of.K, N, K))
  end
end

--- For a kernel of the plan: of(tensor, i), where the weights of block `i` of the work unit's tile begin in `tensor`
--- (where N ends within the tile, the last ones come again), and the bytes of a block.
function module.blocks(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local padded_k = division.divided(k, sizes.K + (filled_k - 1), filled_k) * filled_k
  local bytes, last = padded_k * p.bytes_of_k, (sizes.M + 63 >> 6) - 1
  if p.factor_bytes > 0 then bytes = bytes + p.factor_bytes end
  return function(tensor, i) return k:mad_wide_u32(k:min((g.work.row >> 6) + i, last), bytes, tensor) end, bytes
end

return module
