-- wg.ssd_backward: the gradients of wg.ssd, and their launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local attention_tensors = require "wgrun.attention.tensors"
local prepared_launches = require "wgrun.builder.launches"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local records = require "wgrun.linear_attention.records"
local shapes = require "wgrun.linear_attention.shapes"
local kernel = require "wgrun.linear_attention.ssd.backward.kernel"
local kernel_parameters = require "wgrun.linear_attention.ssd.backward.parameters"
local plan = require "wgrun.linear_attention.ssd.backward.plan"
local rows = require "wgrun.linear_attention.ssd.backward.rows"
local states = require "wgrun.linear_attention.ssd.backward.states"
local ssd_plan = require "wgrun.linear_attention.ssd.plan"

local names <const> = { "gate", "summary", "states", "kernel", "join", "after", "ungate" } -- of kernels, in their order

--- The gradients of the state space duality, made by wg.ssd_backward.
--- @field gate kernel?  with `z`: dY before the gate
--- @field summary kernel?  with `segments`: what each segment makes of the states
--- @field states kernel  stores the states before the chunks, and the gradients of those after them
--- @field kernel kernel  computes the gradients of the chunks
--- @field join kernel?  with `slices`: dB and dC, of their parts
--- @field after kernel  adds up dA, ddt_bias and dD
--- @field ungate kernel?  with `z`: dz
--- @field plan table  the choices: stages, registers
local backward = classes.new "ssd_backward"

--- Kernels for the gradients of wg.ssd, from dy, the gradient of y, and where there are any those of the final states.
--- One kernel passes over the chunks in both directions and stores the states between them, in `dtype`; one computes
--- the gradients of all chunks, with y anew where the gate `z` needs it; one adds up what is a sum over tokens. All
--- sums are f32, in the same order in each launch: the results do not depend on timing.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of x, B, C, z, dy and their gradients
--- @option heads integer[1,65535] = 1  the heads of x, y and dt
--- @option groups integer = 1  of B and C, each shared by heads / groups heads
--- @option headdim 64|128 = 64  the elements of a head of x
--- @option dstate 64|128 = 128  the elements of a group of B and C
--- @option dt_dtype "f32"|"bf16"|"f16" = "f32"  the type of dt and its gradient
--- @option dt_bias boolean = false  as wg.ssd had it
--- @option dt_softplus boolean = false  as wg.ssd had it
--- @option dt_limit table?  as wg.ssd had it: a dt that was cut off has the gradient 0
--- @option D boolean|"headdim" = false  as wg.ssd had it
--- @option z boolean = false  as wg.ssd had it
--- @option packed boolean = false  sequences of any lengths one after another, as wg.ssd had them
--- @option initial_state boolean = false  launches give the states before the first tokens, and get their gradients
--- @option final_state boolean = false  launches give the gradients of the states after the last tokens
--- @option problem table?  { tokens, batch }: the tokens of a sequence, and the number of sequences where it is not 1,
---   for which `slices` and `segments` are chosen
--- @option slices integer[1,65535]?  CTAs that share the heads of a group in each chunk: for few chunks. They must
---   divide the heads. By default chosen for `problem`, otherwise 1
--- @option segments integer[1,64]?  cuts each sequence into so many segments for the states, as wg.ssd does. By default
---   chosen for `problem`, otherwise 1
--- @option name string = "ssd_backward"  the name of the kernel; the others are NAME_states and NAME_after, and
---   NAME_gate, NAME_summary, NAME_join and NAME_ungate where they are needed
--- @return ssd_backward
--- @raise for options that contradict each other.
--- @see wg.ssd
--- @example
---   local forward = wg.ssd { heads = 80, dt_softplus = true, D = true }
---   local backward = wg.ssd_backward { heads = 80, dt_softplus = true, D = true }
---   forward:run(x, dt, A, B, C, y, { D = D })
---   backward:run {
---     x = x, dt = dt, A = A, B = B, C = C, D = D, dy = dy, dx = dx, ddt = ddt, dA = dA, dB = dB, dC = dC, dD = dD,
---   }
function wg.ssd_backward(opts)
  local p = plan.make(opts == nil and {} or opts)
  local lists, of_states = kernel_parameters.make(p), plan.of_states(p)
  return setmetatable({
    plan = p, parameters = lists,
    gate = p.z and rows.gate(p, lists.gate) or nil,
    summary = lists.summary and states.make(plan.of_summary(of_states, p.name .. "_summary"), lists.summary) or nil,
    states = states.make(of_states, lists.states),
    kernel = kernel.make(p, lists.kernel),
    join = p.slices > 1 and rows.join(p, lists.join) or nil,
    after = rows.after(p, lists.after),
    ungate = p.z and rows.ungate(p, lists.ungate) or nil,
  }, backward)
end

-- What the kernels hand to each other, by name.
local function workspace(self, batch, tokens, dx)
  local p = self.plan
  return prepared_launches.memory(self, ("%d %d"):format(batch, tokens), dx, function()
    local count, total = records.count(p, batch, tokens), p.packed and tokens or batch * tokens
    local made = {
      states = wg.empty(p.dtype, { 2 * count * p.heads * p.head_units, p.columns * p.dim }),
      parts = wg.empty("f32", { p.heads * p.fields, count }),
    }
    if p.state_segments > 1 then
      local matrices = 2 * batch * p.state_segments * p.heads * p.head_units
      made.summaries, made.decays = wg.empty("f32", { matrices, p.columns * p.dim }), wg.empty("f32", { matrices })
    end
    for _, name in ipairs(p.slices > 1 and { "dB_parts", "dC_parts" } or {}) do
      made[name] = wg.empty("f32", { p.slices * total, p.qk_heads * p.dim })
    end
    for _, name in ipairs(p.z and { "gated", "y" } or {}) do
      made[name] = wg.empty(p.dtype, arguments.shape_of(dx))
    end
    return made
  end)
end

-- The number of sequences and of tokens; raises an error that names the tensor that does not fit.
local function extents(p, given)
  local list = {}
  local function add(extents, own, tensors)
    for _, name in ipairs(tensors) do list[#list + 1] = { name, given[name], own, extents = extents } end
  end
  add("heads x headdim", { p.heads, p.value_dim }, { "x", "dy", "dx" })
  add("heads", { p.heads }, { "dt", "ddt" })
  add("groups x dstate", { p.qk_heads, p.dim }, { "B", "C", "dB", "dC" })
  attention_tensors.values("ssd_backward", p, given, {
    z = "z", dz = "z", dt_bias = "dt_bias", ddt_bias = "dt_bias", D = "D", dD = "D", dinitial_state = "initial_state",
    dfinal_state = "final_state",
  })
  if p.z then add("heads x headdim", { p.heads, p.value_dim }, { "z", "dz" }) end
  local batch, tokens = shapes.check("ssd_backward", p, list, {
    starts = given.starts, initial_state = given.initial_state, final_state = given.dfinal_state,
  })
  local states = { batch, p.heads, p.value_dim, p.dim }
  if p.initial_state then shapes.expect("ssd_backward", "dinitial_state", given.dinitial_state, states) end
  for _, name in ipairs { "A", "dA", p.dt_bias and "dt_bias" or nil, p.dt_bias and "ddt_bias" or nil } do
    shapes.expect("ssd_backward", name, given[name], { p.heads })
  end
  for _, name in ipairs(p.D and { "D", "dD" } or {}) do
    shapes.expect("ssd_backward", name, given[name], ssd_plan.shape_of_skip(p))
  end
  return batch, tokens
end

--- The options of the launches, in their order: three, one more with `slices` and with `segments`, two with `z`.
--- @param options table
--- @option x tensor  batch x tokens x heads x headdim
--- @option dt tensor  batch x tokens x heads
--- @option A tensor  f32, of each head
--- @option B tensor  batch x tokens x groups x dstate
--- @option C tensor  as B
--- @option dy tensor  as x: the gradient of y
--- @option dx tensor  as x: receives the gradient of x
--- @option ddt tensor  as dt: receives the gradient of dt
--- @option dA tensor  as A: receives the gradient of A
--- @option dB tensor  as B: receives the gradient of B
--- @option dC tensor  as B: receives the gradient of C
--- @option D tensor?  f32, heads, or heads x headdim
--- @option dD tensor?  as D: receives the gradient of D
--- @option z tensor?  as x
--- @option dz tensor?  as x: receives the gradient of z
--- @option dt_bias tensor?  f32, of each head
--- @option ddt_bias tensor?  as dt_bias: receives the gradient of dt_bias
--- @option starts tensor?  s32: where each packed sequence begins, and the end of the last one; batch + 1 values
--- @option initial_state tensor?  f32, batch x heads x headdim x dstate
--- @option dinitial_state tensor?  as initial_state: receives its gradient
--- @option dfinal_state tensor?  as initial_state: the gradient of the states after the last tokens
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other, or a value is missing.
function backward:launches(given)
  local p = self.plan
  arguments.options("ssd_backward:launches", given)
  local batch, tokens = extents(p, given)
  local total, count = p.packed and tokens or batch * tokens, records.count(p, batch, tokens)
  local launch = arguments.merged(given, { tokens = tokens, sequences = batch, rows = total, records = count })
  arguments.extended(launch, workspace(self, batch, tokens, given.dx))
  local of_values, of_rows = total * p.heads * p.value_dim, total * p.qk_heads * p.dim
  local function elementwise(elements, ...)
    local eights = elements // rows.each
    return { eights = eights, grid = { roofline.ceil_div(eights, rows.threads), ... } }
  end
  local chunks = p.packed and count or count // batch
  local shape = {
    gate = elementwise(of_values),
    summary = { grid = { p.heads * p.head_units, 2, batch * (p.state_segments - 1) } },
    states = { grid = { p.heads * p.head_units, 2, batch * p.state_segments } },
    kernel = { grid = { chunks, p.qk_heads * p.slices, p.packed and 1 or batch } },
    join = elementwise(of_rows, 2),
    after = { grid = { p.heads, roofline.ceil_div(p.fields, 4) } },
    ungate = elementwise(of_values),
  }
  local list = {}
  for _, name in ipairs(names) do
    if rawget(self, name) then
      launch.eights = shape[name].eights
      local args = builder_parameters.arguments(self.parameters[name], launch)
      list[#list + 1] = { self[name], { grid = shape[name].grid, args = args } }
    end
  end
  return list
end

--- The launches as objects of one kernel each, which a host starts one after the other: each has the kernel and the
--- method `launch`, as plans of the C API and objects of the Python package take them.
--- @return table  a list of { kernel =, launch = }
--- @see ssd_backward:launches
function backward:steps() return prepared_launches.steps(self, names) end

--- The floating-point operations of the gradients of the recurrence, token by token: twice those of wg.ssd, and once
--- more for the states, which are computed anew.
--- @param tokens integer  of all sequences
--- @return number
function backward:flops(tokens)
  local p = self.plan
  return 10.0 * tokens * p.heads * p.dim * p.value_dim
end

-- The launches of the method called `name`, and the options that are the kernels' own.
local function launches_of(name, self, given)
  local operands, rest = arguments.split_options(name, "ssd_backward:launches", given)
  return self:launches(operands), rest
end

--- Computes the gradients, and waits until they are in their tensors.
--- @param options table
--- @options ssd_backward:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see ssd_backward:launches
function backward:run(given)
  return prepared_launches.run(launches_of("ssd_backward:run", self, given))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param options table
--- @options ssd_backward:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function backward:prepare(given)
  return prepared_launches.prepare(launches_of("ssd_backward:prepare", self, given))
end

--- Measures how long the kernels take, each by itself.
--- @param options table
--- @options ssd_backward:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it (ssd_backward:flops),
---   and the medians
--- @see kernel:time
function backward:time(given)
  local sum, parts = prepared_launches.time(launches_of("ssd_backward:time", self, given))
  local shape = arguments.shape_of(given.x)
  local tokens = self.plan.packed and shape[1] or shape[1] * shape[2]
  return { median_us = sum, tflops = self:flops(tokens) / sum * 1e-6, parts = parts }
end

classes.close("ssd_backward", backward)
classes.shield(wg, "wg.", { "ssd_backward" })
classes.shield(backward, "ssd_backward:", { "launches", "steps", "flops", "run", "prepare", "time" })
