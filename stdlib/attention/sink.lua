-- Sinks of attention (option `sink`): a learned logit for each head that joins the denominator of each row's softmax
-- and weighs no value. The log-sum-exp includes it. With that the gradients of Q, K and V need nothing else; the sink's
-- own is a sum over rows, of -exp(sink - lse) * delta.

local arguments = require "wgrun.arguments"
local warps = require "wgrun.builder.warp"
local native = require "wgrun.native"

local module = {}

local log2e = 1 / math.log(2)
local lowest = -2.0 ^ 100 -- as a logarithm: finite, so that differences are

local function add(x, y) return x + y end

--- The row of a kernel's parameters (builder/parameters.lua) for a tensor with a value for each head, or false. name:
--- "sink", or that of its gradient; given(launch): the options of a launch.
function module.parameter(p, name, kind, given)
  return p.sink and {
    name, kind,
    value = function(l)
      local shape, want = arguments.shape_of(given(l)[name]), arguments.shape_text { p.heads }
      if arguments.shape_text(shape) ~= want then
        native.fail(("%s: %s must be f32, %s, not %s"):format(
          p.what:gsub("^wg%.", ""), name, want, arguments.shape_text(shape)))
      end
      return given(l)[name]
    end,
  }
end

--- The sink of a head in units of log2, f32; nil without the option.
function module.load(k, p, sizes, head)
  return p.sink and k:ld_global_f32(k:element(sizes.sink, head)) * log2e or nil
end

--- Gradients: adds a row's part of its sink's to `sum`, where the guard holds. logarithm: the row's log-sum-exp, which
--- is infinite where there is no row.
function module.add_gradient(k, sum, sink, logarithm, delta, guard)
  local probability = k:ex2_approx_ftz(k:fma(k:max(logarithm, lowest), -log2e, sink))
  k:fma(sum, k:neg(probability), delta, sum, { guard = guard })
end

--- Gradients: stores the sum over each of the CTA's four warps, the parts of its block.
function module.store_part(k, sizes, sum, block)
  local thread = k:special "tid.x"
  sum = warps.over_lanes(k, sum, add, 32)
  k:st_global_f32(k:element(sizes.sink_sums, (block << 2) + (thread >> 5)), sum, { guard = (thread & 31):eq(0) })
end

--- Gradients: the sum of all parts of a head, in the same order in each run, by a warp of its first CTA.
function module.add_parts(k, p, sizes)
  local head, blocks, thread = k:special "ctaid.y", k:special "nctaid.x", k:special "tid.x"
  k:if_((k:special "ctaid.x" | k:special "ctaid.z"):eq(0) & thread:lt(32), function()
    local sum = k:mov(0.0, { type = "f32" })
    k:loop(k:special "nctaid.z", function(batch)
      local first = k:element(sizes.sink_sums, (batch * p.heads + head) * blocks << 2)
      k:loop({ from = thread, to = blocks, step = 32 }, function(block)
        local four = k:ld_global_v4_f32(k:mad_wide_u32(block, 16, first))
        k:add(sum, sum, (four[0] + four[1]) + (four[2] + four[3]))
      end)
    end)
    k:st_global_f32(k:element(sizes.dsink, head), warps.over_lanes(k, sum, add, 32), { guard = thread:eq(0) })
  end)
end

return module
