-- wg.delta_rule: a kernel for the gated delta rule of many heads, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local kernel = require "wgrun.linear_attention.kernel"
local linear_attention_parameters = require "wgrun.linear_attention.parameters"
local plan = require "wgrun.linear_attention.plan"
local tensors = require "wgrun.linear_attention.tensors"

--- Linear attention made by wg.delta_rule.
--- @field kernel kernel  the kernel, like any other
--- @field plan table  the choices: stages, registers
local delta_rule = classes.new "delta_rule"

--- A kernel for the gated delta rule of each head of each sequence (gated DeltaNet; without decay, g = 0, DeltaNet), and
--- its launches. With a state S of dim x dim, which is 0 before the first token unless there is an initial state:
---
---   S = exp(g_t) S;  S = S + beta_t k_t (v_t - k_t S);  o_t = scale q_t S
---
--- Q and K are batch x tokens x qk_heads x dim, V and O are batch x tokens x heads x dim, g and beta are f32, batch x
--- tokens x heads. The state is f32 between chunks of 64 tokens, and rounded to `dtype` where it is multiplied. The
--- result does not depend on timing.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of Q, K, V and O
--- @option heads integer[1,65535] = 1  the heads of V and O
--- @option qk_heads integer?  the heads of Q and K, each shared by heads / qk_heads heads of V; by default `heads`
--- @option packed boolean = false  sequences of any lengths one after another: Q and K are total x qk_heads x dim, V and
---   O total x heads x dim, g and beta total x heads, and each launch gives `starts`. Chunks reach across the ends of
---   sequences: a NaN or an infinity may get from a sequence into the one before it
--- @option initial_state boolean = false  launches give the states before the first tokens
--- @option final_state boolean = false  launches get the states after the last tokens
--- @option state_layout "kv"|"vk" = "kv"  the order of a state's dimensions: that of K before that of V, or after it
--- @option name string = "delta_rule"  the name of the kernel
--- @return delta_rule
--- @raise for options that contradict each other.
--- @see wg.attention
--- @example
---   local delta = wg.delta_rule { heads = 32, qk_heads = 16, final_state = true }
---   delta:run(Q, K, V, O, { g = g, beta = beta, final_state = S })
function wg.delta_rule(opts)
  local p = plan.make(opts == nil and {} or opts)
  local parameters = linear_attention_parameters.make(p)
  return setmetatable({ plan = p, parameters = parameters, kernel = kernel.make(p, parameters) }, delta_rule)
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param Q tensor  batch x tokens x qk_heads x dim
--- @param K tensor  as Q
--- @param V tensor  batch x tokens x heads x dim
--- @param O tensor  as V: the result
--- @param options table
--- @option g tensor  f32, batch x tokens x heads: the logarithm of each token's decay, 0 or less
--- @option beta tensor  as g: how much of the new value each token writes
--- @option scale number?  the factor of O, positive; by default 1 / sqrt(dim)
--- @option starts tensor?  s32: where each packed sequence begins, and the end of the last one; batch + 1 values
--- @option initial_state tensor?  f32, batch x heads x dim x dim, in the order of `state_layout`
--- @option final_state tensor?  as initial_state: receives the states after the last tokens. It may be the same tensor
--- @return table  { grid =, args = }
--- @raise when the extents do not fit each other, or a value is missing.
function delta_rule:launch(Q, K, V, O, values)
  local p = self.plan
  arguments.options("delta_rule:launch", values)
  local batch, tokens = tensors.check(p, { Q = Q, K = K, V = V, O = O }, values)
  local args = builder_parameters.arguments(self.parameters, {
    Q = Q, K = K, V = V, O = O, g = values.g, beta = values.beta, starts = values.starts, tokens = tokens,
    scale = arguments.positive("delta_rule: scale", values.scale or 1 / math.sqrt(p.dim)),
    initial_state = values.initial_state, final_state = values.final_state,
  })
  return { grid = { p.dim // p.columns, p.heads, batch }, args = args }
end

--- The floating-point operations of the recurrence, token by token: four products of a vector and the state, or of two
--- vectors.
--- @param tokens integer  of all sequences
--- @return number
function delta_rule:flops(tokens)
  local p = self.plan
  return 6.0 * tokens * p.heads * p.dim * p.dim
end

-- The launch of the method called `name`: `given` holds values of the launch, and options of the kernel's method.
local function launch_with(name, self, Q, K, V, O, given)
  local values, rest = arguments.split_options(name, "delta_rule:launch", given)
  return arguments.extended(self:launch(Q, K, V, O, values), rest)
end

--- Computes O, and waits until it is in the tensor.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launch
--- @options kernel:run without grid, args, flops
--- @return string  the back end that ran it
--- @see delta_rule:launch
function delta_rule:run(Q, K, V, O, run)
  return self.kernel:run(launch_with("delta_rule:run", self, Q, K, V, O, run))
end

--- Prepares a launch that can be started many times, with its tensors on the device.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launch
--- @options kernel:prepare without grid, args, flops
--- @return launch
--- @see kernel:prepare
function delta_rule:prepare(Q, K, V, O, run)
  return self.kernel:prepare(launch_with("delta_rule:prepare", self, Q, K, V, O, run))
end

--- Measures how long it takes, and its TFLOPS (delta_rule:flops).
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table
--- @options delta_rule:launch
--- @options kernel:time without grid, args, flops
--- @return table  as of kernel:time
--- @see kernel:time
function delta_rule:time(Q, K, V, O, time)
  local launch = launch_with("delta_rule:time", self, Q, K, V, O, time)
  local shape = arguments.shape_of(V)
  launch.flops = self:flops(self.plan.packed and shape[1] or shape[1] * shape[2])
  return self.kernel:time(launch)
end

classes.close("delta_rule", delta_rule)
classes.shield(wg, "wg.", { "delta_rule" })
classes.shield(delta_rule, "delta_rule:", { "launch", "flops", "run", "prepare", "time" })
