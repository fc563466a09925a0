-- wg.delta_rule_backward: the gradients of wg.delta_rule, and their launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local prepared_launches = require "wgrun.builder.launches"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local channel_gradients = require "wgrun.linear_attention.backward.channel_kernel"
local gradients = require "wgrun.linear_attention.backward.kernel"
local plan = require "wgrun.linear_attention.backward.plan"
local channel_preparation = require "wgrun.linear_attention.channel_preparation"
local kernel = require "wgrun.linear_attention.kernel"
local parameters = require "wgrun.linear_attention.parameters"
local records = require "wgrun.linear_attention.records"
local shapes = require "wgrun.linear_attention.shapes"

--- The gradients of the gated delta rule, made by wg.delta_rule_backward.
--- @field preparation kernel?  with `decay = "channel"`, before all others: what of the chunks does not depend on the
---   state
--- @field states kernel  passes over the chunks forward: the states before them
--- @field reverse kernel  passes over them backward: dV, and the gradients of the states
--- @field kernel kernel  computes dQ, dK, dg and dbeta, chunk by chunk
--- @field plan table  the choices: stages, registers
local backward = classes.new "delta_rule_backward"

--- Kernels for the gradients of wg.delta_rule: those of Q, K, V, g, beta and
--- the initial states, from dO, the gradient of O, and that of the final states. Two kernels pass over the chunks of 64
--- tokens at the same time, one forward for the states, one backward for their gradients; a third one follows them.
--- States and their gradients are f32 from chunk to chunk, and rounded to bf16 where they are multiplied. Where heads
--- share Q and K, dQ and dK are the sums over the heads that share them. The result does not depend on timing.
--- @param options table
--- @option dtype "bf16" = "bf16"  the type of Q, K, V, O and their gradients
--- @option heads integer[1,65535] = 1  the heads of V, O and their gradients
--- @option qk_heads integer?  the heads of Q, K and their gradients; by default `heads`
--- @option packed boolean = false  sequences of any lengths one after another, as wg.delta_rule had them
--- @option decay "head"|"channel" = "head"  what a token's decay is for, as wg.delta_rule had it
--- @option g_dtype "f32"|"bf16" = "f32"  the type of g; its gradient is f32
--- @option initial_state boolean = false  launches give the states before the first tokens, and get their gradients
--- @option final_state boolean = false  launches give the gradients of the states after the last tokens
--- @option state_layout "kv"|"vk" = "kv"  the order of a state's dimensions, and of its gradient's
--- @option name string = "delta_rule_backward"  the name of the last kernel; the others are NAME_states, NAME_reverse
---   and, with `decay = "channel"`, NAME_preparation
--- @return delta_rule_backward
--- @raise for options that contradict each other.
--- @see wg.delta_rule
--- @example
---   local forward = wg.delta_rule { heads = 32, qk_heads = 16 }
---   local backward = wg.delta_rule_backward { heads = 32, qk_heads = 16 }
---   forward:run(Q, K, V, O, { g = g, beta = beta })
---   backward:run {
---     Q = Q, K = K, V = V, g = g, beta = beta, dO = dO, dQ = dQ, dK = dK, dV = dV, dg = dg, dbeta = dbeta,
---   }
function wg.delta_rule_backward(opts)
  local p = plan.make(opts == nil and {} or opts)
  local forward, reverse = plan.of_states(p), plan.of_reverse(p)
  local last = p.by_channel and channel_gradients or gradients
  local lists = {
    states = parameters.make(forward), reverse = parameters.make(reverse), kernel = last.parameters(p),
    preparation = p.by_channel and channel_preparation.parameters(p) or nil,
  }
  return setmetatable({
    plan = p, parameters = lists, states = kernel.make(forward, lists.states),
    reverse = kernel.make(reverse, lists.reverse), kernel = last.make(p, lists.kernel),
    preparation = p.by_channel and channel_preparation.make(p, lists.preparation) or nil,
  }, backward)
end

local order <const> = { "preparation", "states", "reverse", "kernel" }

-- What the kernels hand to each other, by name.
local function workspace(self, count, V, dQ)
  local p, shape = self.plan, arguments.shape_of(V)
  return prepared_launches.memory(self, ("%d %s"):format(count, arguments.shape_text(shape)), dQ, function()
    local made, states = { U = wg.empty(p.dtype, shape) }, { count * p.heads, p.dim * p.value_dim }
    for _, name in ipairs { "states", "d_states" } do made[name] = wg.empty(p.dtype, states) end
    made.records = p.by_channel and wg.empty("f32", { count * p.heads, records.bytes(p) // 4 }) or nil
    return made
  end)
end

--- The options of the launches, in their order: three, or with `decay = "channel"` four.
--- @param options table
--- @option Q tensor  batch x tokens x qk_heads x dim
--- @option K tensor  as Q
--- @option V tensor  batch x tokens x heads x dim
--- @option g tensor  of `g_dtype`, batch x tokens x heads, with `decay = "channel"` x dim: the logarithm of each
---   token's decay, 0 or less
--- @option beta tensor  f32, batch x tokens x heads: how much of the new value each token writes, 0 or more. What is
---   below 2^-40 counts as that
--- @option dO tensor  as V: the gradient of O
--- @option dQ tensor  as Q: receives the gradient of Q
--- @option dK tensor  as Q: receives the gradient of K
--- @option dV tensor  as V: receives the gradient of V
--- @option dg tensor  f32, as g: receives the gradient of g
--- @option dbeta tensor  f32, batch x tokens x heads: receives the gradient of beta
--- @option scale number?  the factor of O, as wg.delta_rule had it; by default 1 / sqrt(dim)
--- @option starts tensor?  s32: where each packed sequence begins, and the end of the last one; batch + 1 values
--- @option initial_state tensor?  f32, batch x heads x dim x dim, in the order of `state_layout`
--- @option d_initial_state tensor?  as initial_state: receives its gradient
--- @option d_final_state tensor?  as initial_state: the gradient of the states after the last tokens
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other, or a value is missing.
function backward:launches(given)
  local p, what = self.plan, "delta_rule_backward"
  arguments.options("delta_rule_backward:launches", given)
  local rows = {}
  local function add_rows(names, extents, text)
    for _, name in ipairs(names) do rows[#rows + 1] = { name, given[name], extents, extents = text } end
  end
  add_rows({ "V", "dO", "dV" }, { p.heads, p.dim }, "heads x dim")
  add_rows({ "Q", "K", "dQ", "dK" }, { p.qk_heads, p.dim }, "heads x dim")
  add_rows({ "beta", "dbeta" }, { p.heads })
  add_rows({ "g", "dg" }, p.by_channel and { p.heads, p.dim } or { p.heads }, p.by_channel and "heads x dim" or nil)
  local batch, tokens = shapes.check(what, p, rows, given, {
    initial_state = "initial_state", d_initial_state = "initial_state", d_final_state = "final_state",
  })
  local count = records.count(p, batch, tokens)
  local launch = arguments.merged(given, {
    tokens = tokens, sequences = batch, units = count * p.qk_heads,
    scale = arguments.positive(what .. ": scale", given.scale or 1 / math.sqrt(p.dim)),
  })
  arguments.extended(launch, workspace(self, count, given.V, given.dQ))
  local list = {}
  local prepared = count * p.heads
  local grids = {
    preparation = { channel_preparation.ctas(roofline.sms(), prepared, 0) },
    kernel = { math.min(launch.units, roofline.sms()) },
  }
  for _, name in ipairs(order) do
    local values = name == "preparation" and arguments.merged(launch, { units = prepared }) or launch
    if rawget(self, name) then
      list[#list + 1] = { rawget(self, name), {
        grid = grids[name] or { p.dim // p.columns, p.heads, batch },
        args = builder_parameters.arguments(self.parameters[name], values),
      } }
    end
  end
  return list
end

--- The launches as objects of one kernel each, which a host starts one after the other: each has the kernel and the
--- method `launch`, as plans of the C API and objects of the Python package take them. They take the options of
--- delta_rule_backward:launches.
--- @return table  a list of { kernel =, launch = }
--- @see delta_rule_backward:launches
function backward:steps() return prepared_launches.steps(self, order) end

--- The floating-point operations of the gradients, token by token: twice those of wg.delta_rule.
--- @param tokens integer  of all sequences
--- @return number
function backward:flops(tokens)
  local p = self.plan
  return 12.0 * tokens * p.heads * p.dim * p.dim
end

-- The launches of the method called `name`, and of its options `given` those that are the kernels' own.
local function launches_of(name, self, given)
  local values, rest = arguments.split_options(name, "delta_rule_backward:launches", given)
  return self:launches(values), rest
end

--- Computes the gradients, and waits until they are in their tensors.
--- @param options table
--- @options delta_rule_backward:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see delta_rule_backward:launches
function backward:run(given)
  return prepared_launches.run(launches_of("delta_rule_backward:run", self, given))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param options table
--- @options delta_rule_backward:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function backward:prepare(given)
  return prepared_launches.prepare(launches_of("delta_rule_backward:prepare", self, given))
end

--- Measures how long the kernels take, each by itself, though two of them run at the same time.
--- @param options table
--- @options delta_rule_backward:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it
---   (delta_rule_backward:flops), and the medians
--- @see kernel:time
function backward:time(given)
  local sum, parts = prepared_launches.time(launches_of("delta_rule_backward:time", self, given))
  local shape = arguments.shape_of(given.V)
  local tokens = self.plan.packed and shape[1] or shape[1] * shape[2]
  return { median_us = sum, tflops = self:flops(tokens) / sum * 1e-6, parts = parts }
end

classes.close("a delta_rule_backward", backward)
classes.shield(wg, "wg.", { "delta_rule_backward" })
classes.shield(backward, "delta_rule_backward:", { "launches", "steps", "flops", "run", "prepare", "time" })
