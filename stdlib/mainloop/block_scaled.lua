-- The main loop of 8-bit floats with block scales. A row of A has a scale for each 128 elements of K, and B has
-- one for each 128 rows (columns of D) and 128 elements.
--
-- Such scales do not factor out of the sum over K. A consumer therefore goes another way than that of
-- mainloop/dense.lua. For each block of K
--
--   products  = A * B of that block          wgmma, into a first set of accumulators
--   sums     += products * A's * B's scale   CUDA cores, in f32, into the second set that the epilogue gets
--
-- which also adds in full f32 what the tensor cores' sums of 8-bit floats keep only 13 bits of (docs/silicon.md;
-- DeepSeek-V3, 2024, section 3.3.2). The consumers are in mainloop/block_scaled_consume.lua.
--
-- A's scales come into the ring by TMA, with the stage that they belong to. B's come from global memory into registers
-- (mainloop/b_scales.lua).

local roofline = require "wgrun.cost.roofline"
local b_scales = require "wgrun.mainloop.b_scales"
local consume = require "wgrun.mainloop.block_scaled_consume"
local dense = require "wgrun.mainloop.dense"
local native = require "wgrun.native"

local scale_block = b_scales.block

local function common_divisor(a, b) return b == 0 and a or common_divisor(b, a % b) end

local fail, ceil_div = native.fail, roofline.ceil_div
local block_scaled = setmetatable({}, { __index = dense })

--- Adds to a plan what block scales need: `p.block_scaled`. Raises where the plan has no room for them.
function block_scaled.plan(p)
  p.round_k = p.block_k
  if p.block_k ~= scale_block then
    fail(("%s: tile[3] is %d, must be %d: the blocks of K that have scales"):format(p.what, p.block_k, scale_block))
  end
  if p.m > 256 then fail(("%s: tile[1] is %d: with block scales at most 256"):format(p.what, p.m)) end
  -- TMA begins at multiples of 16 bytes. A group begins at any row: its scales come with up to three before them. Two
  -- boxes bring those of 256 rows, each with a multiple of 128 bytes, at which the second may begin in shared memory.
  local lines = p.m + (p.groups and 4 or 0)
  local boxes = ceil_div(lines, 256)
  if boxes > 1 then lines = ceil_div(lines, 32 * boxes) * 32 end
  local segment = common_divisor(p.n, scale_block)
  local s = {
    segment = segment, -- columns of a tile that surely have the same scale of B, wherever the tile begins
    rows = ceil_div(p.n + scale_block - segment, scale_block), -- rows of B's scales that a tile can touch
    parts = 1,
    boxes = boxes, lines = lines, -- rows of A in a box
    stride = ceil_div(4 * lines * boxes, 128) * 128, -- bytes, from stage to stage
    box = { dtype = "f32", box = { lines, 1 }, constant = true },
  }
  -- A product takes as many columns at a time as there are registers for besides the sums.
  local most = p.consumers == 3 and 128 or 192
  while p.blocks * p.n // 2 + p.n // s.parts // 2 > most or p.n % (8 * s.parts) ~= 0 do
    s.parts = s.parts + 1
    if p.n // s.parts < 32 then
      fail(
        ("%s: a tile of %d x %d leaves no registers for the products of a block of K: at most %d columns fit"):format(
          p.what, p.m, p.n, (most - 32) // p.blocks * 2))
    end
  end
  s.columns = p.n // s.parts
  s.sets = p.blocks * s.parts == 1 and 3 * p.n // 2 <= most and 2 or 1 -- of products
  p.block_scaled = s
end

function block_scaled.parameters(p, add)
  local of_groups = p.groups and " for each group" or ""
  add {
    name = "a_scales", map = p.block_scaled.box, value = function(l) return l.scales "a_scales" end,
    note = "ceil(K / 128) x M, M rounded up to a multiple of 4",
  }
  add {
    name = "b_scales", type = "const f32*", value = function(l) return l.scales "b_scales" end,
    note = "ceil(N / 128) x ceil(K / 128)" .. of_groups,
  }
end

function block_scaled.more_bytes(p) return p.block_scaled.stride end

function block_scaled.shared(k, p)
  return { scales = k:shared { bytes = p.stages * p.block_scaled.stride, align = 128, name = "scales" } }
end

-- A's scales for a block of K. TMA begins at multiples of 16 bytes, groups of rows at any row.
function block_scaled.producer(g, copies)
  if not copies.scales then return { bytes = 0, bytes_with_a = 0 } end
  local k, s, first_stage = g.k, g.p.block_scaled, g.k:address(g.buffers.scales)
  return {
    bytes = 4 * s.lines * s.boxes, bytes_with_a = 0,
    before = function(row, first_k, stage, barrier)
      local first, to, block = g.p.groups and row & 0xFFFFFFFC or row, first_stage + stage * s.stride, first_k >> 7
      k:cp_async_bulk_tensor_2d(to, g.maps.a_scales, { first, block }, barrier)
      for box = 1, s.boxes - 1 do
        k:cp_async_bulk_tensor_2d(
          to + 4 * s.lines * box, g.maps.a_scales, { first + s.lines * box, block }, barrier)
      end
    end,
  }
end

block_scaled.consumer = consume.emit

return block_scaled
