-- The operations on an element between the accumulator and D, in f32 (epilogue/), then the conversion to D's type. Those that are not
-- asked for emit no instructions.

return function(internal)
  -- A vector's values at a thread's elements of a 64 x n block: one load for each row or each pair of columns, or one for
  -- a vector of one value that goes along "all". `staged`: where the values of the block's columns are in shared memory;
  -- otherwise they are in global memory. `odd`: the number of columns may be odd.
  local function vector_at(k, vector, lane, warp, row, column, odd, staged)
    local along = vector.along
    local by_row = along ~= "column"
    local first = along == "row" and row + ((warp << 4) + (lane >> 2)) or along == "column" and not staged and column + ((lane & 3) << 1)
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

  --- An accumulator as f32.
  function internal.float(k, x) return x.type == "s32" and k:cvt_rn_f32_s32(x) or x end
  local float = internal.float

  -- The vectors along columns, whose values come to shared memory for a block: where there, by vector, how many they are, and
  -- stage(column), which brings them.
  local function staging(k, opts, columns, lane, warp)
    local staged, along_columns = {}, {}
    for _, operation in ipairs(internal.epilogue_operations) do
      for _, vector in pairs(operation.vectors and opts.vectors and operation.vectors(opts) or {}) do
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
  --- values(acc, list, c): the elements of the accumulator registers in `list`, by register, before their conversion, where c
  --- has the elements of C or of the residual; and the function load(list), which loads what vectors have for these registers.
  --- Also returns how many vectors go along columns, and stage(column), which brings their values for a block to shared
  --- memory, for which the other threads have to wait.
  --- opts: those of k:epilogue. columns: n. lane and warp: registers of the thread in its warpgroup.
  function internal.elementwise(k, opts, columns, lane, warp)
    -- Rows of D are whole units of 16 bytes, so its columns are even in number; those of its transpose are not.
    local odd = opts.panel.transposed
    for _, operation in ipairs(internal.epilogue_operations) do
      if operation.accept then operation.accept(opts) end
    end
    local staged, along_columns, stage = staging(k, opts, columns, lane, warp)
    local function block(row, column)
      local vectors, steps = {}, {}
      -- What operations know of the block: at(vector) returns a function of an accumulator register, the vector's value for it.
      local at = setmetatable({ columns = columns, dtype = opts.panel.dtype }, { __call = function(_, vector)
        vectors[#vectors + 1] = vector_at(k, vector, lane, warp, row, column, odd, staged[vector])
        return vectors[#vectors]
      end })
      for _, operation in ipairs(internal.epilogue_operations) do
        steps[#steps + 1] = operation.element and operation.element(k, opts, at) or nil
      end
      local plain = #steps == 0 and not (opts.quantize or opts.row_sums)
      local function element(acc, r, c)
        local x = float(k, acc[r])
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

  -- Packs the adjacent elements x and y into one register of 16-bit or 8-bit floats.
  local function pair_of(conversion)
    return function(k, x, y)
      x, y = float(k, x), float(k, y)
      return k[conversion](k, y, x)
    end
  end

  -- Rounds to the nearest integer; values out of range saturate.
  local function integer(k, x) return x.type == "s32" and x or k:cvt_rni_s32_f32(x) end

  local function byte(k, x) return k:max(k:min(integer(k, x), 127), -128) & 0xFF end

  --- The largest numbers of 8-bit floats.
  internal.largest = { e4m3 = 448.0, e5m2 = 57344.0 }

  --- Conversions to the types of D: two adjacent f32 or s32 elements become one register (16-bit and 8-bit types), or
  --- one register each. 8-bit floats and integers saturate.
  internal.to_output = {
    f16 = pair_of "cvt_rn_f16x2_f32",
    bf16 = pair_of "cvt_rn_bf16x2_f32",
    e4m3 = pair_of "cvt_rn_satfinite_e4m3x2_f32",
    e5m2 = pair_of "cvt_rn_satfinite_e5m2x2_f32",
    f32 = function(k, x, y) return float(k, x), float(k, y) end,
    s32 = function(k, x, y) return integer(k, x), integer(k, y) end,
    s8 = function(k, x, y) return k:cvt_u16_s32(byte(k, x) | (byte(k, y) << 8)) end,
  }

  local function halves_of_f16(k, word)
    local halves = k:regs("b16", 2)
    k:unpack(halves, word)
    return k:cvt_f32_f16(halves[0]), k:cvt_f32_f16(halves[1])
  end

  local function of_fp8(conversion)
    return function(k, word) return halves_of_f16(k, k[conversion](k, word)) end
  end

  --- Conversions of C's registers, as read from a panel of D's type, to two f32 registers.
  internal.from_output = {
    f16 = halves_of_f16,
    bf16 = function(k, word) return k:mov(word << 16, { type = "f32" }), k:mov(word & 0xFFFF0000, { type = "f32" }) end,
    e4m3 = of_fp8 "cvt_rn_f16x2_e4m3x2",
    e5m2 = of_fp8 "cvt_rn_f16x2_e5m2x2",
    f32 = function(_, x, y) return x, y end,
    s32 = function(k, x, y) return k:cvt_rn_f32_s32(x), k:cvt_rn_f32_s32(y) end,
    s8 = function(k, word)
      local wide = k:reg "s32"
      k:mov(wide, k:cvt_u32_u16(word))
      return k:cvt_rn_f32_s32((wide << 24) >> 24), k:cvt_rn_f32_s32((wide << 16) >> 24)
    end,
  }
end
