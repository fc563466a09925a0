-- gate(x', x): x' is the element of a second product, whose accumulators follow those of the first.

local arguments = require "wgrun.arguments"
local options = require "wgrun.epilogue.options"
local native = require "wgrun.native"
local activations = require "wgrun.tile.activation"
local elements = require "wgrun.tile.elements"

local fail = native.fail

-- The function of k, a gate and a value.
local function gate_of(given, dtype)
  if type(given) == "function" then return given end
  local activation = activations.named("k:epilogue, gate: unknown activation", given, nil, dtype)
  return function(k, gate, x) return k:mul(activation(k, gate), x) end
end

return {
  step = 4, options = { "gate" }, launch = { { name = "gate", of = "gate" } },
  read = function(given, e) e.gate = options.activation(given, "gate", "two f32 registers") end,
  cycles = function(e) return options.activation_cycles(e.gate) end,
  check = function(p)
    if not p.epilogue.gate then return end
    if p.b_major == "MN" and p.n % 64 ~= 0 then
      fail(("wg.gemm: tile[2] is %d, must be a multiple of 64 for epilogue.gate and an MN-major B"):format(p.n))
    end
  end,
  check_launch = function(p, given)
    local e = p.epilogue
    if given.gate_bias ~= nil and not (e.gate and e.bias) then
      fail "gemm: `gate_bias` is given, but the epilogue of wg.gemm has no `gate` or no `bias`"
    end
    if given.gate_scales ~= nil and not (e.gate and p.scales.b_scales) then
      fail "gemm: `gate_scales` is given, but wg.gemm has no `scales.b` or no `epilogue.gate`"
    end
  end,
  samples = function(of, out)
    if not of.e.gate then return end
    out.gate, out.gate_bias = of.random(of.b_shape[1], of.b_shape[2], of.p.dtype), options.bias_sample(of)
  end,
  parameters = function(p, add)
    if not p.epilogue.gate then return end
    add {
      name = "gate", map = { tile = p.b_box, constant = true }, note = "as B",
      value = function(l)
        options.same_extents("gate", l.given.gate, "B", l.B.shape[1], l.B.shape[2])
        return l.given.gate
      end,
    }
    if p.epilogue.bias then add(arguments.extended(options.bias_parameter(p, "gate_bias"), { note = "as bias" })) end
    if p.scales.b_scales then
      add {
        name = "gate_scales", type = "const f32*", note = "as b_scales",
        value = function(l)
          return options.vector_of_launch("gate_scales", l, p.scales.b_scales == "all" and 1 or l.columns, "scale of B")
        end,
      }
    end
  end,
  operands = function(of)
    return {
      gate = of.e.gate
        and { of = of.e.gate, bias = of.bias(of.sizes.gate_bias), scales = of.factors { "a_scales", "gate_scales" } },
    }
  end,
  accept = function(opts)
    if opts.gate then arguments.options("k:epilogue, gate", opts.gate) end
  end,
  vectors = function(opts)
    if not opts.gate then return {} end
    return { opts.gate.bias, table.unpack(opts.gate.scales or {}) }
  end,
  element = function(k, opts, at)
    local gate = opts.gate
    if not gate then return nil end
    local of, bias, factors = gate_of(gate.of, at.dtype), gate.bias and at(gate.bias), {}
    for i, vector in ipairs(gate.scales or {}) do factors[i] = at(vector) end
    return function(x, r, acc)
      local y = elements.float(k, acc[r + at.columns // 2])
      for _, factor in ipairs(factors) do y = k:mul(y, factor(r)) end
      if bias then y = k:add(y, bias(r)) end
      return arguments.made("k:epilogue, gate", of(k, y, x))
    end
  end,
}
