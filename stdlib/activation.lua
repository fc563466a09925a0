-- Activations: functions of f32 elements. Several elements at a time, since the special function unit computes one value
-- for a warp in the time in which eight other instructions are issued: what it need not compute is gained.

return function(internal)
  local fail = internal.fail

  -- 1 / x for each of a list of up to four registers, by one reciprocal: the inverse of a product times one of its factors
  -- is the inverse of the other. The product of all must be a normal number.
  local function inverses(k, list)
    local function tree(first, last)
      if first == last then return { value = list[first], at = first } end
      local middle = (first + last) // 2
      local left, right = tree(first, middle), tree(middle + 1, last)
      return { value = k:mul(left.value, right.value), left = left, right = right }
    end
    local out = {}
    local function down(node, inverse)
      if node.at then
        out[node.at] = inverse
      else
        down(node.left, k:mul(inverse, node.right.value))
        down(node.right, k:mul(inverse, node.left.value))
      end
    end
    local root = tree(1, #list)
    down(root, k:rcp_approx_ftz(root.value))
    return out
  end

  -- x / (1 + 2^exponent(x)) for each x of a list. Exponents end at 30, so that the product of four sums is finite: where x is
  -- multiplied by less than 2^-30, the result is x * 2^-30.
  local function divided(k, list, exponent)
    local sums, out = {}, {}
    for i, x in ipairs(list) do sums[i] = k:add(k:ex2_approx_ftz(k:min(exponent(x), 30.0)), 1.0) end
    for i, inverse in ipairs(inverses(k, sums)) do out[i] = k:mul(list[i], inverse) end
    return out
  end

  -- A function of one element as one of a list.
  local function each(f)
    return function(k, list)
      local out = {}
      for i, x in ipairs(list) do out[i] = f(k, x) end
      return out
    end
  end

  local log2_e = 1.4426950408889634

  -- 1 / (1 + 2 ** -(x * log2(e))): two approximations of the special function unit, each to about 2^-22.
  local function sigmoid(k, x) return k:rcp_approx_ftz(k:add(k:ex2_approx_ftz(k:mul(x, -log2_e)), 1.0)) end

  --- Activations by name: f(k, list) computes new f32 registers. gelu is the tanh approximation, as in cuBLASLt.
  internal.activations = {
    relu = each(function(k, x) return k:max(x, 0.0) end),
    sigmoid = each(sigmoid),
    silu = function(k, list)
      return divided(k, list, function(x) return k:mul(x, -log2_e) end)
    end,
    tanh = each(function(k, x) return k:fma(sigmoid(k, k:mul(x, 2.0)), 2.0, -1.0) end),
    -- 0.5 x (1 + tanh(u)) = x / (1 + e^(-2 u)), with u = sqrt(2 / pi) (x + 0.044715 x^3)
    gelu = function(k, list)
      return divided(k, list, function(x)
        return k:mul(x, k:fma(k:mul(x, x), -0.07135481627260025 * log2_e, -1.5957691216057308 * log2_e))
      end)
    end,
  }

  --- The activation of that name, or of the function of one element, as a function of a list of one to four registers. `takes`:
  --- what a function would get, for the message.
  function internal.activation(what, given, takes)
    if type(given) == "function" then return each(given) end
    local known = {}
    for name in pairs(internal.activations) do known[#known + 1] = name end
    table.sort(known)
    return internal.activations[given]
      or fail(("%s `%s` (legal: %s, or a function of k and %s)"):format(what, tostring(given), table.concat(known, ", "), takes or "an f32 register"))
  end
end
