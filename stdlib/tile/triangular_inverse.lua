-- The inverse of a lower-triangular matrix with ones on its diagonal, 64 x 64, by one warpgroup. Each warp inverts a 16
-- x 16 block on the diagonal: two blocks of 8 x 8 by forward substitution in f32, a lane for each column, and the one
-- below by products. The blocks below follow from these, a column of blocks for each warp: T_ij = T_ii * sum over m of
-- (N_im * T_mj), by products of tf32 with sums in f32. They are computed transposed: accumulators of a product are then
-- operand A of the next one without a shuffle, where both operands have K in the order 0, 2, 4, 6, 1, 3, 5, 7 (PTX ISA
-- 9.7.14.5.8, fragments of mma.m16n8k8).

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local k = native.methods.builder
local options = arguments.options

-- Elements from one row of the matrix to the next: rows of neighbouring lanes lie in other banks.
local line = 72
local function place(row, column) return 4 * (line * row + column) end

--- The shape of the matrix that k:triangular_inverse reads, in shared memory.
--- @return table
--- @field line integer  f32 elements from one row to the next
--- @field bytes integer  the size of the matrix
function wg.triangular() return { line = line, bytes = place(64, 0) } end

-- The warp's block on the diagonal, at `own`. Of each half of it, 8 x 8 elements, a lane makes a column x of the
-- inverse, in the place of the half's column. Then follows the block below: T_10 = T_11 N_10 T_00.
local function invert_block(b, own, lane)
  local column, x = lane & 7, b:regs("f32", 8)
  local half = own + b:mul(lane >> 3 & 1, place(8, 8))
  local rows = {}
  for i = 1, 7 do
    rows[i] = b:regs("f32", 8)
    for first = 0, i - 1, 4 do b:ld_shared_v4_f32(rows[i]:slice(first, 4), half, { offset = place(i, first) }) end
  end
  for i = 0, 7 do b:mov(x[i], b:selp(b:mov(1.0, { type = "f32" }), 0.0, column:eq(i))) end
  for m = 0, 6 do
    for i = m + 1, 7 do b:fma(x[i], rows[i][m], x[m], x[i]) end
  end
  b:bar_warp_sync(0xFFFFFFFF)
  local to = half + (column << 2)
  for i = 0, 7 do
    b:st_shared_b32(to, elements.nearest_tf32(b, x[i]), { offset = place(i, 0), guard = lane:lt(16) })
  end
  b:bar_warp_sync(0xFFFFFFFF)
  -- Transposed, as the blocks below, in the upper half of the accumulators.
  local across = own + ((lane >> 2) * place(1, 0) + ((lane & 3) << 3))
  local down = own + ((lane & 3) * place(2, 0) + (lane & ~3))
  local a, acc = b:regs("b32", 4), b:regs("f32", 4)
  local n, t = b:regs("b32", 2), b:regs("b32", 2)
  for i = 0, 1 do
    b:ld_shared_b32(a[2 * i], down, { offset = place(i, 0) })
    b:mov(a[2 * i + 1], 0)
  end
  b:ld_shared_v2_b32(n, across, { offset = place(8, 0) })
  b:ld_shared_v2_b32(t, across, { offset = place(8, 8) })
  for _, of_b in ipairs { n, t } do
    for r = 0, 3 do b:mov(acc[r], 0.0) end
    b:mma_sync(acc, a, of_b, acc, { d = "f32", a = "tf32", b = "tf32", k = 8 })
    for i = 0, 1 do b:mov(a[2 * i], elements.nearest_tf32(b, acc[i])) end
  end
  b:bar_warp_sync(0xFFFFFFFF)
  for i = 0, 1 do
    b:st_shared_b32(down, a[2 * i], { offset = place(8 + i, 0) })
    b:st_shared_b32(down, a[1], { offset = place(i, 8) }) -- 0
  end
end

-- acc[i] += a * B for each i of `rows`, where B^T is the 16 x 16 block at row `i` and column `m` of blocks. All loads
-- come first, and products that do not wait for each other stand side by side.
local function multiply(b, acc, a, from, rows, m)
  local loaded = {}
  for _, i in ipairs(rows) do
    for half = 0, 1 do -- of B's columns
      for step = 0, 1 do
        local of_b = b:regs("b32", 2)
        b:ld_shared_v2_b32(of_b, from, { offset = place(16 * i + 8 * half, 16 * m + 8 * step) })
        loaded[4 * i + 2 * half + step] = of_b
      end
    end
  end
  for step = 0, 1 do
    for _, i in ipairs(rows) do
      for half = 0, 1 do
        local sums = acc[i]:slice(4 * half, 4)
        b:mma_sync(sums, a[step], loaded[4 * i + 2 * half + step], sums, { d = "f32", a = "tf32", b = "tf32", k = 8 })
      end
    end
  end
end

-- Accumulators of a 16 x 16 block as operand A, for each step of K.
local function operand(b, acc)
  local out = {}
  for step = 0, 1 do
    local words = b:regs("b32", 4)
    for to, from in ipairs { 0, 2, 1, 3 } do b:mov(words[to - 1], elements.nearest_tf32(b, acc[4 * step + from])) end
    out[step] = words
  end
  return out
end

-- The blocks of column `j`, from the diagonal down. A block is multiplied with all that need it as soon as it is there.
local function column_of_blocks(b, matrix, lane, j, each)
  local from = matrix + ((lane >> 2) * place(1, 0) + ((lane & 3) << 3)) -- of B: a row for each four lanes
  local transposed = matrix + ((lane & 3) * place(2, 0) + (lane & ~3))
  local function zeros()
    local acc = b:regs("f32", 8)
    for r = 0, 7 do b:mov(acc[r], 0.0) end
    return acc
  end
  local blocks, sums = { [j] = b:regs("f32", 8) }, {}
  for r = 0, 7 do
    b:ld_shared_f32(
      blocks[j][r], transposed, { offset = place(16 * j + 8 * (r // 4) + r % 2, 16 * j + 8 * (r // 2 % 2)) })
  end
  for i = j + 1, 3 do sums[i], blocks[i] = zeros(), zeros() end
  for m = j, 2 do
    local a = operand(b, blocks[m])
    local below = {}
    for i = m + 1, 3 do below[#below + 1] = i end
    multiply(b, sums, a, from, below, m)
    multiply(b, blocks, operand(b, sums[m + 1]), from, { m + 1 }, m + 1)
  end
  for i = j, 3 do each(i, j, blocks[i]) end
end

--- Inverts I - N, for a strictly lower-triangular N of 64 x 64 f32 elements in shared memory. A warpgroup executes it.
--- Each warp has stored the rows 16 w to 16 w + 15 of N up to column 16 w + 15 (what it stores on the diagonal and
--- above it is not read), rounded to tf32. The matrix is overwritten, and may be stored anew once all four warps are
--- done.
--- @param options table
--- @option matrix reg  u32: the address of N, of the shape that wg.triangular gives
--- @option barrier integer|reg  a named barrier, 1 to 15
--- @option each function(i: integer, j: integer, block: regs)  is called for each block (i, j) of 16 x 16 elements of
---   the inverse with i >= j, in the warp j. `block` has 8 f32 registers of its transpose: register r of lane l is row
---   8 (r // 4) + 2 (l % 4) + r % 2 of the block, and column l / 4 + 8 (r // 2 % 2)
--- @see wg.triangular
function k:triangular_inverse(opts)
  options("k:triangular_inverse", opts)
  local matrix, thread = opts.matrix, self:special "tid.x"
  local lane = thread & 31
  local warp = self:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31)
  self:bar_warp_sync(0xFFFFFFFF)
  invert_block(self, matrix + self:mul(warp, place(16, 16)), lane)
  self:bar_sync(opts.barrier, { threads = 128 })
  for j = 0, 3 do
    self:if_(warp:eq(j), function() column_of_blocks(self, matrix, lane, j, opts.each) end)
  end
end

classes.shield(wg, "wg.", { "triangular" })
classes.shield(k, "k:", { "triangular_inverse" })
