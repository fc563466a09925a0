-- activation(x).

local arguments = require "wgrun.arguments"
local options = require "wgrun.epilogue.options"
local native = require "wgrun.native"
local activations = require "wgrun.tile.activation"

-- Names of gated activations, and the gates they stand for.
local gated = { swiglu = "silu", geglu = "gelu", reglu = "relu", glu = "sigmoid" }

return {
  step = 3, options = { "activation" },
  read = function(given, e)
    local of = given.activation
    if gated[of] then
      native.fail(("wg.gemm, epilogue: `%s` takes a second product: gate = \"%s\""):format(of, gated[of]))
    end
    e.activation = options.activation(given, "activation")
  end,
  cycles = function(e) return options.activation_cycles(e.activation) end,
  operands = function(of) return { activation = of.e.activation } end,
  element = function(k, opts, at)
    if not opts.activation then return nil end
    local activation = activations.named("k:epilogue: unknown activation", opts.activation, nil, at.dtype)
    return function(x) return arguments.made("k:epilogue, activation", activation(k, x)) end
  end,
}
