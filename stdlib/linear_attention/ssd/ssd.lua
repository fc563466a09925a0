-- wg.ssd: a kernel for Mamba-2's state space duality, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local attention_tensors = require "wgrun.attention.tensors"
local prepared_launches = require "wgrun.builder.launches"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local shapes = require "wgrun.linear_attention.shapes"
local kernel = require "wgrun.linear_attention.ssd.kernel"
local kernel_parameters = require "wgrun.linear_attention.ssd.parameters"
local plan = require "wgrun.linear_attention.ssd.plan"
local native = require "wgrun.native"

--- Linear attention made by wg.ssd.
--- @field kernel kernel  the main kernel, like any other
--- @field summary kernel?  with `segments`, the first one: what each segment makes of the state
--- @field plan table  the choices: stages, registers
local ssd = classes.new "ssd"

--- A kernel for the state space duality of each head of each sequence (Mamba-2), and its launches. With a state S of
--- dstate x headdim, which is 0 before the first token unless there is an initial state:
---
---   S = exp(dt_t A) S + dt_t b_t x_t;  y_t = (c_t S + D x_t) silu(z_t)
---
--- x, y and z are batch x tokens x heads x headdim, B and C batch x tokens x groups x dstate, dt batch x tokens x
--- heads, A f32 of each head. The state is f32 between chunks of 64 tokens, and rounded to `dtype` where it is
--- multiplied. The result does not depend on timing.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of x, B, C, z and y
--- @option heads integer[1,65535] = 1  the heads of x, y and dt
--- @option groups integer = 1  of B and C, each shared by heads / groups heads
--- @option headdim 64|128 = 64  the elements of a head of x
--- @option dstate 64|128 = 128  the elements of a group of B and C
--- @option dt_dtype "f32"|"bf16"|"f16" = "f32"  the type of dt
--- @option dt_bias boolean = false  launches give `dt_bias`, which is added to dt
--- @option dt_softplus boolean = false  log(1 + exp dt) takes the place of dt, after `dt_bias`
--- @option dt_limit table?  { smallest, largest }: dt is cut off there, after `dt_softplus`. By default at 0, and not
---   above
--- @option D boolean|"headdim" = false  launches give `D`: D x is added to y. true: a number for each head;
---   "headdim": one for each column of each head
--- @option z boolean = false  launches give `z`, the gate: y is multiplied by silu(z) = z / (1 + exp(-z))
--- @option packed boolean = false  sequences of any lengths one after another: x and y are total x heads x headdim, B
---   and C total x groups x dstate, dt total x heads, and each launch gives `starts`. Chunks reach across the ends of
---   sequences: a NaN or an infinity may get from a sequence into the one before it
--- @option initial_state boolean = false  launches give the states before the first tokens
--- @option final_state boolean = false  launches get the states after the last tokens
--- @option problem table?  { tokens, batch }: the tokens of a sequence, and the number of sequences where it is not 1,
---   for which `segments` and `pairs` are chosen
--- @option segments integer[1,64]?  cuts each sequence into so many segments, whose CTAs work at the same time: for few
---   heads and many tokens. Another kernel sums them up first. By default chosen for `problem`, otherwise 1
--- @option pairs boolean?  a CTA has two heads of a group, which share what B and C cost, or one, which takes less time
---   for a chunk; by default chosen for `problem`, otherwise one
--- @option name string = "ssd"  the name of the kernel
--- @return ssd
--- @raise for options that contradict each other.
--- @see wg.ssd_backward
--- @see wg.delta_rule
--- @example
---   local ssd = wg.ssd { heads = 80, dt_bias = true, dt_softplus = true, D = true }
---   ssd:run(x, dt, A, B, C, y, { dt_bias = dt_bias, D = D })
function wg.ssd(opts)
  local p = plan.make(opts == nil and {} or opts)
  local lists = { main = kernel_parameters.make(p) }
  local made = { plan = p, parameters = lists, kernel = kernel.make(p, lists.main) }
  if p.segments > 1 then
    local of_summary = plan.of_summary(p)
    lists.summary = kernel_parameters.make(of_summary)
    made.summary = kernel.make(of_summary, lists.summary)
  end
  return setmetatable(made, ssd)
end

-- What the kernels of segments hand to each other, by name.
local function workspace(self, batch, y)
  local p = self.plan
  return prepared_launches.memory(self, batch, y, function()
    local matrices = batch * p.segments * p.heads
    return {
      summaries = wg.empty("f32", { matrices * p.value_dim, p.dim }),
      decays = wg.empty("f32", { matrices * (p.value_dim // p.columns) }),
    }
  end)
end

--- The options of the launches, in their order: one, or with `segments` two.
--- @param x tensor  batch x tokens x heads x headdim
--- @param dt tensor  batch x tokens x heads
--- @param A tensor  f32, of each head: the rate of its decay, 0 or less
--- @param B tensor  batch x tokens x groups x dstate
--- @param C tensor  as B
--- @param y tensor  as x: the result
--- @param options table
--- @option dt_bias tensor?  f32, of each head
--- @option D tensor?  f32, heads, or heads x headdim
--- @option z tensor?  as x
--- @option starts tensor?  s32: where each packed sequence begins, and the end of the last one; batch + 1 values
--- @option initial_state tensor?  f32, batch x heads x headdim x dstate
--- @option final_state tensor?  as initial_state: receives the states after the last tokens. It may be the same tensor
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other, or a value is missing.
function ssd:launches(x, dt, A, B, C, y, values)
  local p = self.plan
  values = values or {}
  arguments.options("ssd:launches", values)
  local function of_heads(name, tensor)
    return { name, tensor, { p.heads, p.value_dim }, extents = "heads x headdim" }
  end
  local function of_groups(name, tensor)
    return { name, tensor, { p.qk_heads, p.dim }, extents = "groups x dstate" }
  end
  attention_tensors.values("ssd", p, values, { dt_bias = "dt_bias", D = "D", z = "z" })
  local batch, tokens = shapes.check("ssd", p, {
    of_heads("x", x), { "dt", dt, { p.heads } }, of_groups("B", B), of_groups("C", C), of_heads("y", y),
    p.z and of_heads("z", values.z) or nil,
  }, values)
  for name, tensor in pairs { A = A, dt_bias = values.dt_bias } do shapes.expect("ssd", name, tensor, { p.heads }) end
  if p.D then shapes.expect("ssd", "D", values.D, plan.shape_of_skip(p)) end
  local launch = arguments.merged(values, { x = x, dt = dt, A = A, B = B, C = C, y = y, tokens = tokens })
  if p.segments > 1 then arguments.extended(launch, workspace(self, batch, y)) end
  local list = {}
  local function add(made, name, count)
    local args = builder_parameters.arguments(self.parameters[name], launch)
    list[#list + 1] = { made, { grid = { 1, p.heads // p.gated, batch * count }, args = args } }
  end
  if p.segments > 1 then add(self.summary, "summary", p.segments - 1) end
  add(self.kernel, "main", p.segments)
  return list
end

--- The launches as objects of one kernel each, which a host starts one after the other: each has the kernel and the
--- method `launch`, as plans of the C API and objects of the Python package take them.
--- @return table  a list of { kernel =, launch = }
--- @see ssd:launches
function ssd:steps() return prepared_launches.steps(self, { "summary", "kernel" }) end

--- The options of the launch, where there is one: without `segments`.
--- @param x tensor
--- @param dt tensor
--- @param A tensor
--- @param B tensor
--- @param C tensor
--- @param y tensor
--- @param options table
--- @options ssd:launches
--- @return table  { grid =, args = }
--- @raise with `segments`.
--- @see ssd:launches
function ssd:launch(x, dt, A, B, C, y, values)
  if self.plan.segments > 1 then
    native.fail "ssd: with `segments` there are two launches: ssd:launches"
  end
  return self:launches(x, dt, A, B, C, y, values)[1][2]
end

--- The floating-point operations of the recurrence, token by token: a product of a vector and the state, and one of two
--- vectors.
--- @param tokens integer  of all sequences
--- @return number
function ssd:flops(tokens)
  local p = self.plan
  return 4.0 * tokens * p.heads * p.dim * p.value_dim
end

-- The launches of the method called `name`, and of its options `given` those that are the kernels' own.
local function launches_of(name, self, x, dt, A, B, C, y, given)
  local values, rest = arguments.split_options(name, "ssd:launches", given)
  return self:launches(x, dt, A, B, C, y, values), rest
end

--- Computes y, and waits until it is in the tensor.
--- @param x tensor
--- @param dt tensor
--- @param A tensor
--- @param B tensor
--- @param C tensor
--- @param y tensor
--- @param options table
--- @options ssd:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see ssd:launches
function ssd:run(x, dt, A, B, C, y, run)
  return prepared_launches.run(launches_of("ssd:run", self, x, dt, A, B, C, y, run))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param x tensor
--- @param dt tensor
--- @param A tensor
--- @param B tensor
--- @param C tensor
--- @param y tensor
--- @param options table
--- @options ssd:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function ssd:prepare(x, dt, A, B, C, y, run)
  return prepared_launches.prepare(launches_of("ssd:prepare", self, x, dt, A, B, C, y, run))
end

--- Measures how long the kernels take, each by itself.
--- @param x tensor
--- @param dt tensor
--- @param A tensor
--- @param B tensor
--- @param C tensor
--- @param y tensor
--- @param options table
--- @options ssd:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it (ssd:flops), and
---   the medians
--- @see kernel:time
function ssd:time(x, dt, A, B, C, y, time)
  local sum, parts = prepared_launches.time(launches_of("ssd:time", self, x, dt, A, B, C, y, time))
  local shape = arguments.shape_of(x)
  local tokens = self.plan.packed and shape[1] or shape[1] * shape[2]
  return { median_us = sum, tflops = self:flops(tokens) / sum * 1e-6, parts = parts }
end

classes.close("ssd", ssd)
classes.shield(wg, "wg.", { "ssd" })
classes.shield(ssd, "ssd:", { "launches", "launch", "steps", "flops", "run", "prepare", "time" })
