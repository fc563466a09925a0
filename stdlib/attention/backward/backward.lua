-- wg.attention_backward: the gradients of wg.attention, and their launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local attention = require "wgrun.attention.attention"
local backward_kernel = require "wgrun.attention.backward.kernel"
local backward_parameters = require "wgrun.attention.backward.parameters"
local plan = require "wgrun.attention.backward.plan"
local backward_rows = require "wgrun.attention.backward.row_kernels"
local tensors = require "wgrun.attention.tensors"
local prepared_launches = require "wgrun.builder.launches"
local parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local fail, ceil_div, text = native.fail, roofline.ceil_div, arguments.shape_text

--- The gradients of attention, made by wg.attention_backward.
--- @field before kernel  prepares the rows of the queries, and sets the sums of dQ to 0
--- @field kernel kernel  computes dK and dV, and the sums of dQ
--- @field after kernel  converts dQ
--- @field plan table  the choices: tiles, stages, registers
local backward = classes.new "attention_backward"

--- Kernels for the gradients of wg.attention: dQ, dK and dV from dO, the gradient of O. Three kernels follow each
--- other: one prepares the rows of the queries, one passes over all queries for each block of keys, one converts dQ,
--- whose parts are added up in f32. The order of these sums differs from launch to launch, so that dQ does in its last
--- bits; dK and dV do not. Where heads share K and V, dK and dV are the sums over the heads that share them.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of all tensors but lse
--- @option dim 64|96|128|192|256 = 128  the head size, in elements
--- @option heads integer[1,65535] = 1  the heads of Q, O and their gradients
--- @option kv_heads integer?  the heads of K, V and their gradients; by default `heads`
--- @option causal boolean = false  a query saw no key after its own place
--- @option window integer[1,1073741823]?  as wg.attention had it: a query saw only keys nearer than this to its own
---   place
--- @option softcap number?  as wg.attention had it
--- @option score function?  as wg.attention had it. Its derivative follows from the instructions that it emits: those
---   of f32 arithmetic (add, sub, mul, fma, div, neg, abs, min, max, selp, ex2, lg2, tanh, rcp, sqrt, rsqrt, sin, cos),
---   and any others of what does not depend on the score
--- @option score_slope function?  the derivative of `score`, where it does not follow: a function of k, the score that
---   `score` gets, and its table, that returns an f32 register
--- @option mask function?  as wg.attention had it
--- @option block_mask function?  as of wg.attention; the blocks are other ones
--- @option tensors table?  as of wg.attention: tensors that these functions read. They get no gradients
--- @option sink boolean = false  as wg.attention had it: launches also give its gradient
--- @option dropout boolean = false  as wg.attention had it
--- @option packed boolean = false  sequences of any lengths one after another, as wg.attention had them
--- @option problem table?  { queries, keys }: the lengths, for which tiles are chosen
--- @option layout "bshd"|"bhsd" = "bshd"  the order of the dimensions: batch, sequence, head, dim, or head before
---   sequence
--- @option name string = "attention_backward"  the name of the kernel; the others are NAME_before and NAME_after
--- @return attention_backward
--- @raise for options that contradict each other.
--- @see wg.attention
--- @example
---   local forward = wg.attention { dim = 128, heads = 16, causal = true, lse = true }
---   local backward = wg.attention_backward { dim = 128, heads = 16, causal = true }
---   forward:run(Q, K, V, O, { lse = lse })
---   backward:run { Q = Q, K = K, V = V, O = O, lse = lse, dO = dO, dQ = dQ, dK = dK, dV = dV }
function wg.attention_backward(opts)
  local p = plan.make(opts == nil and {} or opts)
  local lists = backward_parameters.make(p)
  return setmetatable({
    plan = p, parameters = lists, before = backward_rows.before(p, lists.before),
    kernel = backward_kernel.make(p, lists.kernel),
    after = backward_rows.after(p, lists.after),
  }, backward)
end

-- Batches, queries and keys; raises an error that names the tensor that does not fit.
local function extents(p, given)
  local q, k = tensors.extents("attention_backward", p, given, { "Q", "O", "dO", "dQ" }, { "K", "V", "dK", "dV" })
  local shape, want = arguments.shape_of(given.lse), p.packed and { p.heads, q.rows } or { q.batch, p.heads, q.rows }
  if text(shape) ~= text(want) then
    fail(("attention_backward: lse must be f32, %s, not %s"):format(text(want), text(shape)))
  end
  return q.batch or 1, q.rows, k.rows
end

-- What the kernels hand to each other, by name.
local function workspace(self, blocks, dQ)
  local p = self.plan
  return prepared_launches.memory(self, blocks, dQ, function()
    return {
      stats = wg.empty("f32", { blocks * p.stats_bytes // 4 }), sums = wg.empty("f32", { blocks * p.sums_bytes // 4 }),
      sink_sums = p.sink and wg.empty("f32", { 4 * blocks }) or nil,
    }
  end)
end

--- The options of the three launches, in their order.
--- @param options table
--- @option Q tensor  batch x queries x heads x dim, in the order of `layout`
--- @option K tensor  batch x keys x kv_heads x dim
--- @option V tensor  as K
--- @option O tensor  as Q: what wg.attention computed
--- @option lse tensor  f32, batch x heads x queries (packed: heads x total): what wg.attention computed with `lse`
--- @option dO tensor  as Q: the gradient of O
--- @option dQ tensor  as Q: receives the gradient of Q
--- @option dK tensor  as K: receives the gradient of K
--- @option dV tensor  as K: receives the gradient of V
--- @option query_starts tensor?  s32: where each packed sequence begins in Q, and the end of the last one; batch + 1
---   values
--- @option key_starts tensor?  s32: where each sequence begins in K
--- @option max_queries integer[1,1073741823]?  the most queries of a packed sequence
--- @option max_keys integer[1,1073741823]?  the most keys of a packed sequence
--- @option tensors table?  the tensors of the option `tensors`, by name
--- @option dropout_p number?  the probability of `dropout`, as wg.attention had it
--- @option dropout_state tensor?  s64, seed and offset, as wg.attention had them
--- @option sink tensor?  f32, one for each head: what wg.attention had
--- @option dsink tensor?  f32, one for each head: receives the gradient of `sink`
--- @option scale number?  the factor of the scores, as wg.attention had it; by default 1 / sqrt(dim)
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other.
function backward:launches(given)
  local p = self.plan
  arguments.options("attention_backward:launches", given)
  tensors.values("attention_backward", p, given, {
    query_starts = "packed", key_starts = "packed", max_queries = "packed", max_keys = "packed", tensors = "tensors",
    sink = "sink", dsink = "sink", dropout_p = "dropout", dropout_state = "dropout",
  })
  local batches, queries, keys = extents(p, given)
  local total = queries
  if p.packed then
    batches = attention.packed_batches("attention_backward", given)
    queries = arguments.whole("attention_backward: max_queries", given.max_queries, 1, 0x3FFFFFFF)
    keys = arguments.whole("attention_backward: max_keys", given.max_keys, 1, 0x3FFFFFFF)
  end
  local scale = arguments.positive("attention_backward: scale", given.scale or 1 / math.sqrt(p.dim))
  if batches * queries * keys == 0 then
    fail(("attention_backward: %d sequences of %d queries and %d keys leave nothing to compute"):format(
      batches, queries, keys))
  end
  local blocks = ceil_div(queries, p.rows)
  local launch = arguments.merged(given, {
    queries = queries, keys = keys, total = total, scale = scale, scale_log2 = scale / math.log(2),
  })
  arguments.extended(launch, workspace(self, batches * p.heads * blocks, given.dQ))
  local function arguments_of(name) return parameters.arguments(self.parameters[name], launch) end
  local by_query, by_key = { blocks, p.heads, batches }, { ceil_div(keys, p.keys) * p.cluster, p.kv_heads, batches }
  return {
    { self.before, { grid = by_query, args = arguments_of "before" } },
    { self.kernel, { grid = by_key, args = arguments_of "kernel" } },
    { self.after, { grid = by_query, args = arguments_of "after" } },
  }
end

--- The floating-point operations of the five products, counting only the keys that a query sees.
--- @param batches integer
--- @param queries integer  of each sequence
--- @param keys integer  of each sequence
--- @return number
function backward:flops(batches, queries, keys)
  local p = self.plan
  return 10.0 * batches * p.heads * p.dim * attention.pairs(p, queries, keys)
end

-- The launches of the method called `name`, and the options that are the kernels' own.
local function launches_of(name, self, given)
  local operands, rest = arguments.split_options(name, "attention_backward:launches", given)
  return self:launches(operands), rest
end

--- Computes dQ, dK and dV, and waits until they are in their tensors.
--- @param options table
--- @options attention_backward:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see attention_backward:launches
function backward:run(given)
  return prepared_launches.run(launches_of("attention_backward:run", self, given))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param options table
--- @options attention_backward:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function backward:prepare(given)
  return prepared_launches.prepare(launches_of("attention_backward:prepare", self, given))
end

--- Measures how long the three kernels take, each by itself.
--- @param options table
--- @options attention_backward:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it
---   (attention_backward:flops; of packed sequences 0), and the three medians
--- @see kernel:time
function backward:time(given)
  local sum, parts = prepared_launches.time(launches_of("attention_backward:time", self, given))
  local p, q, k = self.plan, arguments.shape_of(given.Q), arguments.shape_of(given.K)
  local rows = p.layout == "bshd" and 2 or 3
  return {
    median_us = sum, tflops = p.packed and 0.0 or self:flops(q[1], q[rows], k[rows]) / sum * 1e-6, parts = parts,
  }
end

classes.close("an attention_backward", backward)
classes.shield(wg, "wg.", { "attention_backward" })
classes.shield(backward, "attention_backward:", { "launches", "flops", "run", "prepare", "time" })
