-- The operations on an element between the accumulator and D: activation(alpha * scales * acc + beta * c + bias) in f32, then
-- the conversion to D's type. Parts that are not requested emit no instructions.

return function(internal)
  local fail, options = internal.fail, internal.options

  -- 1 / (1 + 2 ** -(x * log2(e))): two approximations of the special function unit, each to about 2^-22.
  local function sigmoid(k, x) return k:rcp_approx_ftz(k:add(k:ex2_approx_ftz(k:mul(x, -1.4426950408889634)), 1.0)) end

  --- Activations by name: f(k, x) computes a new f32 register. gelu is the tanh approximation, as in cuBLASLt.
  internal.activations = {
    relu = function(k, x) return k:max(x, 0.0) end,
    sigmoid = sigmoid,
    silu = function(k, x) return k:mul(x, sigmoid(k, x)) end,
    tanh = function(k, x) return k:fma(sigmoid(k, k:mul(x, 2.0)), 2.0, -1.0) end,
    -- 0.5 x (1 + tanh(u)) = x sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)
    gelu = function(k, x)
      local inner = k:mul(x, k:fma(k:mul(x, x), 0.07135481627260025, 1.5957691216057308))
      return k:mul(x, sigmoid(k, inner))
    end,
  }

  --- The activation of that name, or the function itself.
  function internal.activation(what, given)
    if type(given) == "function" then return given end
    local known = {}
    for name in pairs(internal.activations) do known[#known + 1] = name end
    table.sort(known)
    return internal.activations[given]
      or fail(("%s: unknown activation `%s` (legal: %s, or a function of k and an f32 register)"):format(what, tostring(given), table.concat(known, ", ")))
  end

  -- A vector's values at a thread's elements of a 64 x n block: one load for each row or each pair of columns, or one for
  -- a vector of one value that goes along "all". `odd`: the number of columns may be odd.
  local function vector_at(k, vector, lane, warp, row, column, odd)
    local along = vector.along
    local by_row = along ~= "column"
    local first = along == "row" and row + ((warp << 4) + (lane >> 2)) or along == "column" and column + ((lane & 3) << 1)
    local loaded = {}
    return function(r)
      local index = along == "all" and 0 or by_row and r // 2 % 2 or r // 4
      if not loaded[index] then
        local values = k:regs("f32", by_row and 1 or 2)
        if along == "all" then
          k:ld_global_f32(values[0], vector.from)
        else
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
        loaded[index] = values
      end
      return loaded[index][by_row and 0 or r % 2]
    end
  end

  --- Returns a function (row, column) that makes, for the 64 x n block at that row and column of D, the function
  --- value(acc, r, c): the element of accumulator register r before its conversion, where c is the element of C.
  --- opts: alpha, beta (f32 registers), bias ({ along = "row" or "column", from = f32 pointer, extent = its length }),
  ---       scales (a list of the same, also along "all": factors),
  ---       activation (a name or a function). lane and warp: registers of the thread in its warpgroup.
  function internal.elementwise(k, opts, lane, warp)
    local activation = opts.activation and internal.activation("k:epilogue", opts.activation)
    local bias = opts.bias
    if bias then options("k:epilogue, bias", bias) end
    local scales = opts.scales or {}
    -- Rows of D are whole units of 16 bytes, so its columns are even in number; those of its transpose are not.
    local odd = opts.panel and opts.panel.transposed
    if not (opts.alpha or opts.beta or bias or activation or #scales > 0) then
      return function() return function(acc, r) return acc[r] end end
    end
    return function(row, column)
      local function values(vector) return vector_at(k, vector, lane, warp, row, column, odd) end
      local bias_at, factors = bias and values(bias), {}
      for i, vector in ipairs(scales) do factors[i] = values(vector) end
      return function(acc, r, c)
        local x = acc[r]
        if x.type == "s32" then x = k:cvt_rn_f32_s32(x) end
        for _, factor in ipairs(factors) do x = k:mul(x, factor(r)) end
        if opts.alpha then x = k:mul(x, opts.alpha) end
        if c then x = k:fma(c, opts.beta, x) end
        if bias then x = k:add(x, bias_at(r)) end
        return activation and activation(k, x) or x
      end
    end
  end

  local function float(k, x) return x.type == "s32" and k:cvt_rn_f32_s32(x) or x end

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
