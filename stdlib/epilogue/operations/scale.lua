-- alpha * scales * A * B + beta * C.

local options = require "wgrun.epilogue.options"

return {
  step = 1, options = { "alpha", "beta" },
  launch = {
    { name = "alpha", of = "alpha", optional = true }, { name = "beta", of = "beta", optional = true },
    { name = "C", of = "beta" },
  },
  samples = function(of, out) out.C = of.e.beta and of.random(of.M, of.N, of.p.d) or nil end,
  parameters = function(p, add)
    local e = p.epilogue
    if e.alpha then add { name = "alpha", type = "f32", value = function(l) return l.given.alpha or 1.0 end } end
    if not e.beta then return end
    add { name = "beta", type = "f32", value = function(l) return l.given.beta or 1.0 end }
    add { name = "C", map = options.constant_box(p.panel.box), value = function(l) return options.like_d("C", l) end }
  end,
  operands = function(of)
    return {
      alpha = of.sizes.alpha, beta = of.sizes.beta, source = of.e.beta and of.matrix,
      scales = of.factors { "a_scales", "b_scales" },
    }
  end,
  vectors = function(opts) return opts.scales or {} end,
  element = function(k, opts, at)
    local factors = {}
    for i, vector in ipairs(opts.scales or {}) do factors[i] = at(vector) end
    if #factors == 0 and not (opts.alpha or opts.beta) then return nil end
    return function(x, r, _, c)
      for _, factor in ipairs(factors) do x = k:mul(x, factor(r)) end
      if opts.alpha then x = k:mul(x, opts.alpha) end
      return opts.beta and k:fma(c[r], opts.beta, x) or x
    end
  end,
}
