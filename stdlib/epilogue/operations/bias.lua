-- + bias, of each row or each column of D.
return function(_, internal)
  --- The parameter of a vector of biases: `name` is "bias" or "gate_bias".
  function internal.bias_parameter(p, name)
    return {
      name = name, type = "const f32*",
      value = function(l)
        local by_row = (p.epilogue.bias == "row") ~= (p.swapped or false)
        return internal.vector_of_launch(name, l, by_row and l.rows or l.columns, (by_row and "row" or "column") .. " of D")
      end,
    }
  end

  return {
    step = 2, options = { "bias" }, launch = { { name = "bias", of = "bias" } },
    read = function(given, e) e.bias = internal.one_of_option(given, "bias", { "row", "column" }) end,
    parameters = function(p, add)
      if p.epilogue.bias then add(internal.bias_parameter(p, "bias")) end
    end,
    operands = function(of) return { bias = of.bias(of.sizes.bias) } end,
    accept = function(opts)
      if opts.bias then internal.options("k:epilogue, bias", opts.bias) end
    end,
    vectors = function(opts) return { opts.bias } end,
    element = function(k, opts, at)
      if not opts.bias then return nil end
      local bias = at(opts.bias)
      return function(x, r) return k:add(x, bias(r)) end
    end,
  }
end
