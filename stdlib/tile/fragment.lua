-- Accumulators as a matrix to compute with: elements of a 64 x n block by row and column. Register r of thread t holds
-- row 16 w + l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2, with w = t / 32 % 4 and l = t % 32
-- (PTX ISA 9.7.15.5.1, figure of the D fragment): parts of two rows, which three other lanes share.

local arguments = require "wgrun.arguments"
local warps = require "wgrun.builder.warp"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local k = native.methods.builder
local fail = native.fail

--- A 64 x n block of accumulators that a warpgroup holds, made by k:fragment. Each thread has elements of two rows,
--- `half` 0 and 1, and shares each row with three other lanes.
--- @field acc regs  the accumulators
--- @field type string  "f32" or "s32"
local accumulator = classes.new "accumulator"

--- Gives accumulators the rows and columns of their block, to compute with. The object refers to the registers
--- themselves: its methods change the accumulators, which must be complete (k:wgmma_wait_group).
--- @param acc regs  the f32 or s32 accumulators of a warpgroup, 64 x n: n / 2 registers
--- @return accumulator
function k:fragment(acc)
  arguments.object("k:fragment", acc, "regs")
  if #acc % 4 ~= 0 then
    fail((
      "k:fragment: %d registers cannot hold a 64 x n block, which takes n / 2 registers, n being a multiple of 8"
    ):format(#acc))
  end
  return setmetatable({ k = self, acc = acc, type = acc[0].type }, accumulator)
end

-- The place of each register in the block: `half` (0 or 1: the first or second of the thread's two rows), and `row`
-- and `column` as u32 registers, computed on first use.
local function places(b)
  local first_row, first_column
  local compute = {
    row = function(at)
      local thread = not first_row and b:special "tid.x"
      first_row = first_row or ((thread >> 5 & 3) << 4) + (thread >> 2 & 7)
      return at.half == 0 and first_row or first_row + 8
    end,
    column = function(at)
      first_column = first_column or (b:special "tid.x" & 3) << 1
      local ahead = 8 * (at.register // 4) + at.register % 2
      return ahead == 0 and first_column or first_column + ahead
    end,
  }
  local lazy = { __index = function(at, key) return compute[key] and compute[key](at) end }
  return function(r) return setmetatable({ register = r, half = r // 2 % 2 }, lazy) end
end

--- Replaces each element x by f(x, at).
--- @param f function(x: reg, at):reg|number  returns a register of the elements' type, or a number. at.row and
---   at.column are the place of x in the block (u32 registers, computed on first use); at.half is which of the thread's
---   two rows contains x (0 or 1), so that rows[at.half] is the row's value where `rows` is the result of a row
---   reduction
--- @return accumulator  itself
--- @example
---   s:map(function(x, at) return k:mul(x, scale[at.half]) end)
function accumulator:map(f)
  arguments.body("accumulator:map", f)
  local place = places(self.k)
  for r = 0, #self.acc - 1 do self.k:mov(self.acc[r], arguments.made("accumulator:map", f(self.acc[r], place(r)))) end
  return self
end

--- Reduces each row to one value, with shuffles between the four lanes that share the row.
--- @param f function(x: reg, y: reg):reg  combines two elements and returns a register; it must be associative and
---   commutative
--- @return regs  two registers: the values of the thread's two rows
function accumulator:row_reduce(f)
  arguments.body("accumulator:row_reduce", f)
  local b = self.k
  local function both(x, y) return arguments.made("accumulator:row_reduce", f(x, y)) end
  local rows = b:regs(self.type, 2)
  for half = 0, 1 do
    local value = self.acc[2 * half]
    for r = 0, #self.acc - 1 do
      if r // 2 % 2 == half and r ~= 2 * half then value = both(value, self.acc[r]) end
    end
    b:mov(rows[half], warps.over_lanes(b, value, both))
  end
  return rows
end

--- The largest element of each row.
--- @return regs  two registers: the values of the thread's two rows
--- @see accumulator:row_reduce
function accumulator:row_max()
  return self:row_reduce(function(x, y) return self.k:max(x, y) end)
end

--- The sum of each row.
--- @return regs  two registers: the values of the thread's two rows
--- @see accumulator:row_reduce
function accumulator:row_sum()
  return self:row_reduce(function(x, y) return self.k:add(x, y) end)
end

--- Converts the accumulators to operand A of a later product, whose K extent is their columns. The caller places
--- k:wgmma_fence before k:mma, and must not change the registers until the product is complete.
--- @param dtype string  "bf16" or "f16": what the elements are rounded to
--- @return regs  b32, four for each K step of 16, for the option `a` of k:mma (PTX ISA 9.7.15.5.1, figure of the A
---   fragment)
--- @raise when n is not a multiple of 16.
function accumulator:operand(dtype)
  local b, count = self.k, #self.acc
  local convert = (dtype == "bf16" or dtype == "f16") and elements.to_output[dtype]
    or fail("accumulator:operand makes bf16 or f16, not " .. (type(dtype) == "string" and dtype or "a " .. type(dtype)))
  if count % 8 ~= 0 then
    fail(("accumulator:operand: n is %d, must be a multiple of 16 (a K step)"):format(2 * count))
  end
  local words = b:regs("b32", count // 2)
  for i = 0, count // 2 - 1 do b:mov(words[i], convert(b, self.acc[2 * i], self.acc[2 * i + 1])) end
  return words
end

classes.close("an accumulator", accumulator)
classes.shield(k, "k:", { "fragment" })
classes.shield(accumulator, "accumulator:", { "map", "row_reduce", "row_max", "row_sum", "operand" })
