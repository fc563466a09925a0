-- wg.delta_rule: a kernel for the gated delta rule of many heads, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local prepared_launches = require "wgrun.builder.launches"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local channel_preparation = require "wgrun.linear_attention.channel_preparation"
local kernel = require "wgrun.linear_attention.kernel"
local kernel_parameters = require "wgrun.linear_attention.parameters"
local plan = require "wgrun.linear_attention.plan"
local records = require "wgrun.linear_attention.records"
local shapes = require "wgrun.linear_attention.shapes"
local native = require "wgrun.native"
local roofline = require "wgrun.cost.roofline"

--- Linear attention made by wg.delta_rule.
--- @field kernel kernel  the main kernel, like any other
--- @field summary kernel?  with `segments`, the first one: what each segment makes of the state
--- @field preparation kernel?  with `decay = "channel"`, before all others: what of the chunks does not depend on the
---   state
--- @field plan table  the choices: stages, registers
local delta_rule = classes.new "delta_rule"

--- A kernel for the gated delta rule of each head of each sequence (gated DeltaNet; without decay, g = 0, DeltaNet),
--- and its launches. With a state S of dim x dim, which is 0 before the first token unless there is an initial state:
---
---   S = exp(g_t) S;  S = S + beta_t k_t (v_t - k_t S);  o_t = scale q_t S
---
--- Q and K are batch x tokens x qk_heads x dim, V and O are batch x tokens x heads x dim, g and beta are batch x tokens
--- x heads. The state is f32 between chunks of 64 tokens, and rounded to `dtype` where it is multiplied. The
--- result does not depend on timing.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of Q, K, V and O
--- @option heads integer[1,65535] = 1  the heads of V and O
--- @option qk_heads integer?  the heads of Q and K, each shared by heads / qk_heads heads of V; by default `heads`
--- @option packed boolean = false  sequences of any lengths one after another: Q and K are total x qk_heads x dim, V
---   and O total x heads x dim, g and beta total x heads, and each launch gives `starts`. Chunks reach across the ends
---   of sequences: a NaN or an infinity may get from a sequence into the one before it
--- @option decay "head"|"channel" = "head"  a token's decay is one number for each head, or one for each head and
---   channel of K (Kimi delta attention): g is then batch x tokens x heads x dim, and a row of the state decays by
---   exp(g_t) of its channel. `dtype` is bf16, another kernel comes first, and a decay below exp(-10) counts as
---   exp(-10)
--- @option g_dtype "f32"|"bf16" = "f32"  the type of g
--- @option initial_state boolean = false  launches give the states before the first tokens
--- @option final_state boolean = false  launches get the states after the last tokens
--- @option state_layout "kv"|"vk" = "kv"  the order of a state's dimensions: that of K before that of V, or after it
--- @option problem table?  { tokens, batch }: the tokens of a sequence, and the number of sequences where it is not 1,
---   for which `segments` is chosen
--- @option segments integer[1,64]?  cuts each sequence into so many segments, whose CTAs work at the same time: for few
---   heads and many tokens. Another kernel sums them up first, which takes about as much time again as the main one. By
---   default chosen for `problem`, otherwise 1
--- @option name string = "delta_rule"  the name of the kernel
--- @return delta_rule
--- @raise for options that contradict each other.
--- @see wg.delta_rule_backward
--- @see wg.attention
--- @example
---   local delta = wg.delta_rule { heads = 32, qk_heads = 16, final_state = true }
---   delta:run(Q, K, V, O, { g = g, beta = beta, final_state = S })
function wg.delta_rule(opts)
  local p = plan.make("wg.delta_rule", arguments.options("wg.delta_rule", opts == nil and {} or opts))
  local lists = { main = kernel_parameters.make(p) }
  local made = { plan = p, parameters = lists, kernel = kernel.make(p, lists.main) }
  if p.by_channel then
    lists.preparation = channel_preparation.parameters(p)
    made.preparation = channel_preparation.make(p, lists.preparation)
  end
  if p.segments > 1 then
    local of_summary = plan.of_summary(p)
    lists.summary = kernel_parameters.make(of_summary)
    made.summary = kernel.make(of_summary, lists.summary)
  end
  return setmetatable(made, delta_rule)
end

-- What the kernels hand to each other, by name.
local function workspace(self, batch, tokens, O)
  local p = self.plan
  return prepared_launches.memory(self, ("%d %d"):format(batch, tokens), O, function()
    local made = {}
    if p.segments > 1 then
      made.summaries = wg.empty("f32", { 2 * batch * p.segments * p.heads * p.dim, p.dim })
    end
    if p.by_channel or p.segments > 1 then
      local count = records.count(p, batch, tokens) * p.heads
      made.records = wg.empty("f32", { count, records.bytes(p) // 4 })
      made.ready = p.overlaps and wg.empty("u32", { count }) or nil
    end
    return made
  end)
end

--- The options of the launches, in their order: one, or with `segments` two, and with `decay = "channel"` one more,
--- which comes first.
--- @param Q tensor  batch x tokens x qk_heads x dim
--- @param K tensor  as Q
--- @param V tensor  batch x tokens x heads x dim
--- @param O tensor  as V: the result
--- @param options table
--- @option g tensor  of `g_dtype`, batch x tokens x heads, with `decay = "channel"` x dim: the logarithm of each
---   token's decay, 0 or less
--- @option beta tensor  f32, batch x tokens x heads: how much of the new value each token writes
--- @option scale number?  the factor of O, positive; by default 1 / sqrt(dim)
--- @option starts tensor?  s32: where each packed sequence begins, and the end of the last one; batch + 1 values
--- @option initial_state tensor?  f32, batch x heads x dim x dim, in the order of `state_layout`
--- @option final_state tensor?  as initial_state: receives the states after the last tokens. It may be the same tensor
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other, or a value is missing.
function delta_rule:launches(Q, K, V, O, values)
  local p = self.plan
  local halves = p.dim // p.columns
  arguments.options("delta_rule:launches", values)
  local function rows(name, tensor, heads) return { name, tensor, { heads, p.dim }, extents = "heads x dim" } end
  local batch, tokens = shapes.check("delta_rule", p, {
    rows("V", V, p.heads), rows("Q", Q, p.qk_heads), rows("K", K, p.qk_heads), rows("O", O, p.heads),
    { "beta", values.beta, { p.heads } },
    p.by_channel and rows("g", values.g, p.heads) or { "g", values.g, { p.heads } },
  }, values)
  local launch = arguments.merged(values, {
    Q = Q, K = K, V = V, O = O, tokens = tokens,
    scale = arguments.positive("delta_rule: scale", values.scale or 1 / math.sqrt(p.dim)), sequences = batch,
  })
  arguments.extended(launch, workspace(self, batch, tokens, O))
  local list = {}
  local function add(made, name, grid)
    list[#list + 1] = { made, { grid = grid, args = builder_parameters.arguments(self.parameters[name], launch) } }
  end
  if p.by_channel then
    launch.units = records.count(p, batch, tokens) * p.heads
    add(self.preparation, "preparation", {
      channel_preparation.ctas(roofline.sms(), launch.units, p.overlaps and halves * p.heads * batch or 0),
    })
  end
  if p.segments > 1 then
    add(self.summary, "summary", { halves, p.heads, batch * p.segments })
  end
  add(self.kernel, "main", { halves, p.heads, batch * p.segments })
  return list
end

--- The launches as objects of one kernel each, which a host starts one after the other: each has the kernel and the
--- method `launch`, as plans of the C API and objects of the Python package take them.
--- @return table  a list of { kernel =, launch = }
--- @see delta_rule:launches
function delta_rule:steps()
  return prepared_launches.steps(self, { "preparation", "summary", "kernel" })
end

--- The options of the launch, where there is one: without `segments`, with one decay for each head.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launches
--- @return table  { grid =, args = }
--- @raise where there are several.
--- @see delta_rule:launches
function delta_rule:launch(Q, K, V, O, values)
  local list = self:launches(Q, K, V, O, values)
  if #list > 1 then
    native.fail(("delta_rule: there are %d launches: delta_rule:launches"):format(#list))
  end
  return list[1][2]
end

--- The floating-point operations of the recurrence, token by token: four products of a vector and the state, or of two
--- vectors.
--- @param tokens integer  of all sequences
--- @return number
function delta_rule:flops(tokens)
  local p = self.plan
  return 6.0 * tokens * p.heads * p.dim * p.dim
end

-- The launches of the method called `name`, and of its options `given` those that are the kernels' own.
local function launches_of(name, self, Q, K, V, O, given)
  local values, rest = arguments.split_options(name, "delta_rule:launches", given)
  return self:launches(Q, K, V, O, values), rest
end

--- Computes O, and waits until it is in the tensor.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see delta_rule:launches
function delta_rule:run(Q, K, V, O, run)
  return prepared_launches.run(launches_of("delta_rule:run", self, Q, K, V, O, run))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function delta_rule:prepare(Q, K, V, O, run)
  return prepared_launches.prepare(launches_of("delta_rule:prepare", self, Q, K, V, O, run))
end

--- Measures how long the kernels take, each by itself, though some of them run at the same time.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it (delta_rule:flops), and
---   the medians
--- @see kernel:time
function delta_rule:time(Q, K, V, O, time)
  local sum, parts = prepared_launches.time(launches_of("delta_rule:time", self, Q, K, V, O, time))
  local shape = arguments.shape_of(V)
  local tokens = self.plan.packed and shape[1] or shape[1] * shape[2]
  return { median_us = sum, tflops = self:flops(tokens) / sum * 1e-6, parts = parts }
end

classes.close("delta_rule", delta_rule)
classes.shield(wg, "wg.", { "delta_rule" })
classes.shield(delta_rule, "delta_rule:", { "launches", "launch", "steps", "flops", "run", "prepare", "time" })
