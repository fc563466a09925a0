-- + bias, of each row or each column of D.

local arguments = require "wgrun.arguments"
local options = require "wgrun.epilogue.options"

return {
  step = 2, options = { "bias" }, launch = { { name = "bias", of = "bias" } },
  samples = function(of, out) out.bias = options.bias_sample(of) end,
  parameters = function(p, add)
    if p.epilogue.bias then add(options.bias_parameter(p, "bias")) end
  end,
  operands = function(of) return { bias = of.bias(of.sizes.bias) } end,
  accept = function(opts)
    if opts.bias then arguments.options("k:epilogue, bias", opts.bias) end
  end,
  vectors = function(opts) return { opts.bias } end,
  element = function(k, opts, at)
    if not opts.bias then return nil end
    local bias = at(opts.bias)
    return function(x, r) return k:add(x, bias(r)) end
  end,
}
