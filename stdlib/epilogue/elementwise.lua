-- The operations on an element between the accumulator and D, in f32 (epilogue/operations). Those that are not
-- asked for emit no instructions.

local operations = require "wgrun.epilogue.operations"
local elements = require "wgrun.tile.elements"

local module = {}

-- A vector's values at a thread's elements of a 64 x n block: one load for each row or each pair of columns, or one for
-- a vector of one value that goes along "all". `staged`: where the values of the block's columns are in shared memory;
-- otherwise they are in global memory. `odd`: the number of columns may be odd.
local function vector_at(k, vector, lane, warp, row, column, odd, staged)
  local along = vector.along
  local by_row = along ~= "column"
  local first = along == "row" and row + ((warp << 4) + (lane >> 2)) or along == "column" and not staged
    and column + ((lane & 3) << 1)
  local of_lane = staged and staged + ((lane & 3) << 3)
  local function from_memory(values, index)
    local at = index == 0 and first or first + 8 * index
    local from, inside = k:element(vector.from, at), at:lt(vector.extent)
    for i = 0, #values - 1 do k:mov(values[i], 0.0) end
    if by_row or odd then
      k:ld_global_f32(values[0], from, { guard = inside })
    else
      k:ld_global_v2_f32(values, from, { guard = inside })
    end
    if odd and not by_row then k:ld_global_f32(values[1], from, { offset = 4, guard = (at + 1):lt(vector.extent) }) end
  end
  local loaded = {}
  return function(r)
    local index = along == "all" and 0 or by_row and r // 2 % 2 or r // 4
    if not loaded[index] then
      local values = k:regs("f32", by_row and 1 or 2)
      if along == "all" then
        k:ld_global_f32(values[0], vector.from)
      elseif staged then
        k:ld_shared_v2_f32(values, of_lane, { offset = 32 * index })
      else
        from_memory(values, index)
      end
      loaded[index] = values
    end
    return loaded[index][by_row and 0 or r % 2]
  end
end

-- The vectors along columns, whose values come to shared memory for a block: where there, by vector, how many they are,
-- and stage(column), which brings them.
local function staging(k, opts, columns, lane, warp)
  local staged, along_columns = {}, {}
  for _, operation in ipairs(operations) do
    local vectors, names = operation.vectors and opts.vectors and operation.vectors(opts) or {}, {}
    for name in pairs(vectors) do names[#names + 1] = name end
    table.sort(names) -- one order in all runs: emitted texts are compared, and kept in caches
    for _, name in ipairs(names) do
      local vector = vectors[name]
      if vector.along == "column" then
        staged[vector] = opts.vectors + 4 * columns * #along_columns
        along_columns[#along_columns + 1] = vector
      end
    end
  end
  return staged, along_columns, function(column)
    local thread = (warp << 5) + lane
    for _, vector in ipairs(along_columns) do
      for first = 0, columns - 1, 128 do
        local at, value = thread + first, k:mov(0.0, { type = "f32" })
        local inside = first + 128 > columns and at:lt(columns) or nil
        local known = (column + at):lt(vector.extent)
        k:ld_global_f32(value, k:element(vector.from, column + at), { guard = inside and known & inside or known })
        k:st_shared_f32(staged[vector] + (at << 2), value, { guard = inside })
      end
    end
  end
end

--- Returns a function (row, column) that makes, for the 64 x n block at that row and column of D, the function
--- values(acc, list, c): the elements of the accumulator registers in `list`, by register, before their conversion,
--- where c has the elements of C or of the residual; and the function load(list), which loads what vectors have for
--- these registers. Also returns how many vectors go along columns, and stage(column), which brings their values for a
--- block to shared memory, for which the other threads have to wait.
--- opts: those of k:epilogue. columns: n. lane and warp: registers of the thread in its warpgroup.
function module.emit(k, opts, columns, lane, warp)
  -- Rows of D are whole units of 16 bytes, so its columns are even in number; those of its transpose are not.
  local odd = opts.panel.transposed
  for _, operation in ipairs(operations) do
    if operation.accept then operation.accept(opts) end
  end
  local staged, along_columns, stage = staging(k, opts, columns, lane, warp)
  local function block(row, column)
    local vectors, steps = {}, {}
    -- What operations know of the block: at(vector) returns a function of an accumulator register, the vector's value
    -- for it.
    local at = setmetatable({ columns = columns, dtype = opts.panel.dtype }, { __call = function(_, vector)
      vectors[#vectors + 1] = vector_at(k, vector, lane, warp, row, column, odd, staged[vector])
      return vectors[#vectors]
    end })
    for _, operation in ipairs(operations) do
      steps[#steps + 1] = operation.element and operation.element(k, opts, at) or nil
    end
    local plain = #steps == 0 and not (opts.quantize or opts.row_sums)
    local function element(acc, r, c)
      local x = elements.float(k, acc[r])
      for _, step in ipairs(steps) do x = step(x, r, acc, c) end
      return x
    end
    return function(acc, list, c)
      local out = {}
      for _, r in ipairs(list) do out[r] = plain and acc[r] or element(acc, r, c) end
      return out
    end, function(list)
      for _, of in ipairs(vectors) do
        for _, r in ipairs(list) do of(r) end
      end
    end
  end
  return block, #along_columns, stage
end

return module
