-- What a thread holds of a 64 x n block of accumulators, as something to compute with. Register r of thread t holds
-- row 16 w + l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2, with w = t / 32 % 4 and l = t % 32
-- (PTX ISA 9.7.15.5.1, figure of the D fragment): parts of two rows, which three other lanes share.

return function(internal)
  local k = internal.methods.builder
  local fail = internal.fail

  local fragment = {}
  fragment.__index = fragment
  internal.fragment = fragment

  --- A fragment of the accumulators `acc` (f32 or s32 registers of a warpgroup, 64 x n: n / 2 of them). It only
  --- refers to them: what writes the fragment writes the accumulators. They must be complete (k:wgmma_wait_group).
  function k:fragment(acc)
    internal.object("k:fragment", acc, "regs")
    if #acc % 4 ~= 0 then
      fail(("k:fragment: %d registers are no accumulator of 64 x n (n / 2 registers, n a multiple of 8)"):format(#acc))
    end
    return setmetatable({ k = self, acc = acc, type = acc[0].type }, fragment)
  end

  -- Place of each register in the block: `half` (0 or 1: the first or second of the thread's two rows), and row and
  -- column as u32 registers, computed when they are asked for.
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

  --- Replaces each element x by f(x, at): a register of its type, or a number. at.row and at.column are its place
  --- in the block (u32 registers, made when asked for), at.half which of the thread's two rows it is in (0 or 1), so
  --- that rows[at.half] is its row's value, rows being the result of a row reduction.
  function fragment:map(f)
    internal.body("fragment:map", f)
    local place = places(self.k)
    for r = 0, #self.acc - 1 do self.k:mov(self.acc[r], f(self.acc[r], place(r))) end
    return self
  end

  --- Combines each row by f(x, y), which must be associative and commutative: two registers, rows[0] and rows[1],
  --- for the two rows that a thread has part of. Shuffles between the four lanes that share a row.
  function fragment:row_reduce(f)
    internal.body("fragment:row_reduce", f)
    local b = self.k
    local rows = b:regs(self.type, 2)
    for half = 0, 1 do
      local value = self.acc[2 * half]
      for r = 0, #self.acc - 1 do
        if r // 2 % 2 == half and r ~= 2 * half then value = f(value, self.acc[r]) end
      end
      for _, distance in ipairs { 1, 2 } do
        local other = b:reg(self.type)
        b:shfl_sync_bfly_b32(other, value, distance, 31)
        value = f(value, other)
      end
      b:mov(rows[half], value)
    end
    return rows
  end

  --- The largest element of each row, and the sum of each: see row_reduce.
  function fragment:row_max()
    return self:row_reduce(function(x, y) return self.k:max(x, y) end)
  end

  function fragment:row_sum()
    return self:row_reduce(function(x, y) return self.k:add(x, y) end)
  end

  --- The accumulators as operand A of a later product: their columns are its K. An array of b32 registers, four for
  --- each K step of 16 (PTX ISA 9.7.15.5.1, figure of the A fragment), to be given to k:mma as `a`. The caller
  --- places wgmma_fence before that, and leaves the array alone until the product is complete.
  --- dtype: "bf16" or "f16".
  function fragment:operand(dtype)
    local b, count = self.k, #self.acc
    local convert = (dtype == "bf16" or dtype == "f16") and internal.to_output[dtype]
      or fail("fragment:operand makes bf16 or f16, not " .. tostring(dtype))
    if count % 8 ~= 0 then fail(("fragment:operand: n is %d, K steps are 16 columns"):format(2 * count)) end
    local words = b:regs("b32", count // 2)
    for i = 0, count // 2 - 1 do b:mov(words[i], convert(b, self.acc[2 * i], self.acc[2 * i + 1])) end
    return words
  end
end
