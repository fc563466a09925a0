-- wg.attention_decode: a kernel for attention of few queries to long K and V, contiguous or in pages, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local kernel = require "wgrun.attention.decode.kernel"
local decode_launch = require "wgrun.attention.decode.launch"
local decode_parameters = require "wgrun.attention.decode.parameters"
local plan = require "wgrun.attention.decode.plan"
local scores = require "wgrun.attention.scores"
local attention_tensors = require "wgrun.attention.tensors"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local fail, ceil_div, shaped = native.fail, roofline.ceil_div, decode_launch.shaped

--- Attention made by wg.attention_decode.
--- @field kernel kernel  the kernel, like any other
--- @field plan table  the choices: block, stages, warps, copies
local decode = classes.new "attention_decode"

--- A kernel for O = softmax(scale * Q * K^T) * V of each head of each sequence of a batch, for a few queries that come
--- at the end of each sequence, and its launches. Q and O are batch x queries x heads x dim, K and V are batch x keys x
--- kv_heads x dim (`layout`), and a sequence uses the first `lengths[b]` keys. In pages they are pages x page x
--- kv_heads x dim, and a table has the pages of each sequence. CTAs read about equally much of K and V, whatever the
--- lengths, which are device data. A query that sees no key gives 0. What lies in K and V behind the end of a sequence
--- does not matter.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of Q, K, V and O
--- @option dim 64|128|256|512 = 128  the head size, in elements
--- @option heads integer[1,65535] = 1  the heads of Q and O
--- @option kv_heads integer?  the heads of K and V, each shared by heads / kv_heads heads of Q; by default `heads`
--- @option queries integer[1,64] = 1  the queries of each sequence; queries * heads / kv_heads may be at most 64, with
---   dim = 512 at most 16
--- @option causal boolean = true  the last query sees all keys of its sequence, the one before it all but the last, and
---   so on; false: all queries see all keys
--- @option softcap number?  as of wg.attention
--- @option score function?  as of wg.attention
--- @option mask function?  as of wg.attention
--- @option tensors table?  as of wg.attention
--- @option sink boolean = false  as of wg.attention
--- @option page integer[1,256]?  the keys of a page: K and V are in pages
--- @option layout "bshd"|"bhsd" = "bshd"  the order of the dimensions: batch or page, sequence, head, dim, or head
---   before sequence
--- @option lse boolean = false  also gives the logarithm of each row's sum of exponentials
--- @option block integer[16,256]?  the keys of a block
--- @option stages integer?  the blocks that are in shared memory at a time, 2 to 16; by default of 128 KiB, of 64 KiB
---   at head size 64 (of pages 96)
--- @option copies "boxes"|"rows"?  how blocks are read: "boxes" by TMA, or "rows" by threads, for pages. By default
---   boxes where they have 8 keys or more
--- @option together integer?  the heads of K and V that CTAs side by side work on, a divisor of kv_heads
--- @option name string = "attention_decode"  the name of the kernel
--- @return attention_decode
--- @raise for options that contradict each other, and for blocks that do not fit into shared memory.
--- @see wg.attention
--- @example
---   local decode = wg.attention_decode { dim = 128, heads = 32, kv_heads = 8, page = 16 }
---   decode:run(Q, K, V, O, { lengths = lengths, pages = pages })
function wg.attention_decode(opts)
  local p = plan.make(opts == nil and {} or opts)
  local parameters = decode_parameters.make(p)
  return setmetatable(
    { plan = p, parameters = parameters, kernel = kernel.make(p, parameters), workspace = {}, full = {} }, decode)
end

-- Heads that CTAs side by side work on: whose rows are 1 KiB, where that leaves few CTAs over
-- (docs/experiments/decoding.md).
local function heads_together(p, ctas)
  if p.together then return p.together end
  local together = p.dim == 64 and 8 or 4
  while p.kv_heads % together ~= 0 or ctas % together > ctas // 32 do together = together // 2 end
  return together
end

-- The most rounds of stretches: as many as there are heads for, and as there is memory for their parts.
local function rounds_of(p, ctas, batches, together)
  local heads, bytes = batches * (p.kv_heads // together), 2 * ctas * p.rows * p.dim * 4
  return math.max(1, math.min(16, heads // (ctas // together) + 1, decode_launch.most_kept // bytes))
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param Q tensor  batch x queries x heads x dim, in the order of `layout`
--- @param K tensor  batch x keys x kv_heads x dim, or pages x page x kv_heads x dim
--- @param V tensor  as K
--- @param O tensor  as Q: the result
--- @param options table?
--- @option lengths tensor?  s32, the keys of each sequence, those of the queries included; more than K or the table has
---   count as that many. By default all keys of K
--- @option pages tensor?  s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a
---   sequence's last page are not used
--- @option tensors table?  the tensors of the option `tensors`, by name
--- @option sink tensor?  f32, one for each head: the logits of the option `sink`
--- @option scale number?  the factor of the scores, positive; by default 1 / sqrt(dim)
--- @option lse tensor?  f32, batch x heads x queries: receives the natural logarithms
--- @option grid integer[1,65535]?  the CTAs; by default one on each SM that finds work
--- @return table  { grid =, args = }
--- @raise when the extents do not fit each other, or a value is missing.
function decode:launch(Q, K, V, O, values)
  local p = self.plan
  if values == nil then values = {} end
  arguments.options("attention_decode:launch", values)
  attention_tensors.values("attention_decode", p, values, {
    lse = "lse", pages = "page", tensors = "tensors", sink = "sink",
  })
  if p.page and values.lengths == nil then fail "attention_decode: `lengths` is missing" end
  local q, k = attention_tensors.extents(
    "attention_decode", p, { Q = Q, K = K, V = V, O = O }, { "Q", "O" }, { "K", "V" })
  local function made_for(name, what, got, want)
    if got ~= want then
      fail(("attention_decode: %s has %s = %d, and wg.attention_decode was made for %d"):format(name, what, got, want))
    end
  end
  made_for("Q", "queries", q.rows, p.queries)
  made_for("K", "page", k.rows, p.page or k.rows)
  local batches = q.batch
  local scale = arguments.positive("attention_decode: scale", values.scale or 1 / math.sqrt(p.dim))
  local keys, width = k.rows, nil
  if p.lse then shaped("attention_decode", "lse", values.lse, "f32", { batches, p.heads, p.queries }) end
  local lengths = values.lengths or decode_launch.full_lengths(self, batches, keys)
  shaped("attention_decode", "lengths", lengths, "s32", { batches })
  if batches * p.queries * p.heads * p.dim > 0xFFFFFFFF then fail "attention_decode: Q has 2^32 elements or more" end
  if p.page then
    width = arguments.shape_of(shaped("attention_decode", "pages", values.pages, "s32", { batches, 0 }))[2]
    keys = width * p.page
  end
  local blocks = batches * p.kv_heads * ceil_div(keys, p.block)
  if blocks == 0 then
    fail(("attention_decode: %d sequences of %d keys leave nothing to compute"):format(batches, keys))
  end
  local ctas = values.grid or math.min(blocks, roofline.sms())
  local together = heads_together(p, ctas)
  if ctas < together then
    fail(("attention_decode: %d CTAs cannot work on %d heads together"):format(ctas, together))
  end
  local rounds = rounds_of(p, ctas, batches, together)
  local w = decode_launch.workspace(self, ctas * rounds, batches * p.kv_heads, p.rows, p.dim)
  local factor, cap = scores.score_arguments(p, scale)
  local args = builder_parameters.arguments(self.parameters, {
    Q = Q, K = K, V = V, O = O, lse = values.lse, lengths = lengths, pages = values.pages, table_width = width,
    keys = keys, batches = batches, together = together,
    rounds = rounds, scale_log2 = factor, cap = cap, given = values,
    partials = w.partials, part_sums = w.part_sums,
    counters = w.counters,
  })
  return { grid = { ctas }, args = args }
end

-- The launch of the method called `name`: `given` holds values of the launch, and options of the kernel's method.
local function launch_with(name, self, Q, K, V, O, given)
  local values, rest = arguments.split_options(name, "attention_decode:launch", given)
  return arguments.extended(self:launch(Q, K, V, O, values), rest)
end

--- Computes O, and waits until it is in the tensor.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention_decode:launch
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see attention_decode:launch
function decode:run(Q, K, V, O, run)
  return self.kernel:run(launch_with("attention_decode:run", self, Q, K, V, O, run))
end

--- Prepares a launch that can be started many times, with its tensors on the device.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention_decode:launch
--- @options kernel:prepare without grid, args, devices, flops
--- @return launch
--- @see kernel:prepare
function decode:prepare(Q, K, V, O, run)
  return self.kernel:prepare(launch_with("attention_decode:prepare", self, Q, K, V, O, run))
end

--- Measures how long it takes.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention_decode:launch
--- @options kernel:time without grid, args, devices, flops
--- @return table  as of kernel:time
--- @see kernel:time
function decode:time(Q, K, V, O, time)
  return self.kernel:time(launch_with("attention_decode:time", self, Q, K, V, O, time))
end

classes.close("attention_decode", decode)
classes.shield(wg, "wg.", { "attention_decode" })
classes.shield(decode, "attention_decode:", { "launch", "run", "prepare", "time" })
