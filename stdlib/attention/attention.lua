-- wg.attention: a kernel for O = softmax(Q * K^T) * V of many heads, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local kernel = require "wgrun.attention.kernel"
local decode_launch = require "wgrun.attention.decode.launch"
local attention_parameters = require "wgrun.attention.parameters"
local plan = require "wgrun.attention.plan"
local scores = require "wgrun.attention.scores"
local attention_tensors = require "wgrun.attention.tensors"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fail, ceil_div, text = native.fail, roofline.ceil_div, arguments.shape_text

--- Attention made by wg.attention.
--- @field kernel kernel  the kernel, like any other
--- @field plan table  the choices: block, stages, registers
local attention = classes.new "attention"

--- A kernel for O = softmax(scale * Q * K^T) * V of each head of each sequence of a batch, and its launches. Q and O
--- are batch x queries x heads x dim, K and V are batch x keys x kv_heads x dim (`layout`); with `value_dim`, V and O
--- have that in place of dim. The products and sums are f32. The last query stands at the place of the last key:
--- with `causal`, query i sees the keys up to i + keys - queries. A query that sees no key gives 0. With e4m3
--- probabilities are rounded to e4m3, and two thirds of them are made as if 2^x were linear between powers of two: O of
--- random data is then off by 3.0 percent of its values in the root of the mean square, by 2.6 with `exact` or `lse`.
--- @param options table
--- @option dtype "bf16"|"f16"|"e4m3" = "bf16"  the type of Q, K and V
--- @option o "bf16"|"f16"?  the type of O; by default that of the others, and bf16 for e4m3
--- @option descale "tensor"|"head"?  of e4m3, where Q, K and V have to be multiplied by factors that launches give: one
---   for each tensor, or one for each head of K and V (and the heads of Q that share it) of each sequence
--- @option dim 64|96|128|192|256|512 = 128  the head size, in elements; 512 of 16-bit types
--- @option value_dim 64|96|128|192|256|512?  the head size of V and O, where that is less than `dim`: 128 beside 192 in
---   the prefill of multi-head latent attention (MLA); by default `dim`
--- @option heads integer[1,65535] = 1  the heads of Q and O
--- @option kv_heads integer?  the heads of K and V, each shared by heads / kv_heads heads of Q; by default `heads`
--- @option causal boolean = false  a query sees no key after its own place
--- @option window integer[1,1073741823]?  a query sees only keys nearer than this to its own place: with `causal`, that
---   many keys up to it
--- @option softcap number?  bounds the scores: each becomes softcap * tanh(score / softcap)
--- @option score function?  makes another score of each: a function of k, the score (an f32 register, `scale` times the
---   product, bounded by `softcap`) and a table of registers: `query`, `key` and `place`, s32, the numbers of the query
---   and the key in their sequence, and of the key at the query's own place; `distance`, f32: key - place, without a
---   conversion; `head` and `batch`, u32
--- @option mask function?  hides keys, besides those that `causal` and `window` hide: a function of k and the same
---   table that returns a predicate, which holds where the query sees the key
--- @option block_mask function?  leaves out blocks in which `mask` hides all: a function of k and a table of registers
---   that returns a predicate, which holds where a query of a block may see a key of a block; and, where it can, a
---   second one, which holds where `mask` hides nothing in the block, so that `mask` need not run there. The table has
---   `first_query`, `last_query`, `first_key`, `last_key`, `first_place` and `last_place`, s32, the first and the last
---   number in both blocks, and of the keys at the queries' own places; `head` and `batch`, u32
--- @option tensors table?  tensors that these functions read, by name their types: { documents = "s32" } makes
---   `at.tensors.documents`, a pointer, and launches give `tensors`. Queries and keys that the functions get lie within
---   their sequence then, also where a block reaches across its end
--- @option sink boolean = false  each head has a logit that joins the denominator of all of its rows, which launches
---   give; `lse` includes it
--- @option dropout boolean = false  launches give a probability with which each weight of a row of V is dropped, and
---   the state of the random numbers (stdlib/attention/dropout.lua has their generator); `lse` counts all weights
--- @option problem table?  { queries, keys, batch }: the lengths, and the number of sequences where it is known, for
---   which options that are left out are chosen
--- @option layout "bshd"|"bhsd" = "bshd"  the order of the dimensions: batch, sequence, head, dim, or head before
---   sequence
--- @option packed boolean = false  sequences of any lengths one after another: Q and O are total x heads x dim, K and V
---   total x kv_heads x dim, and each launch gives `query_starts` and `key_starts`. Blocks reach across their ends: a
---   NaN or an infinity may get from a sequence into the one before it
--- @option page integer[1,65536]?  K and V are in pages of so many keys, pages x page x kv_heads x dim (`layout`), and
---   each launch gives `lengths` and `pages`. What lies in a page behind the end of its sequence does not matter. As
---   fast as without from 64 keys on, some 0.9 of that with 16, and 0.8 with fewer; with heads of 96 an even number
--- @option lse boolean = false  also gives the logarithm of each row's sum of exponentials, as a backward pass and
---   split attention need it
--- @option exact boolean = false  of e4m3: all probabilities are made by ex2, as they are with `lse`: slower
--- @option block integer?  the keys of a block, a multiple of 16 (of e4m3 32) up to 256
--- @option splits integer[1,16]?  cuts the keys that a tile of queries sees into so many parts, for CTAs of a cluster
---   that put them together: for few queries and many keys. By default chosen where `problem` has all three lengths,
---   otherwise 1; more than 1 not with e4m3
--- @option name string = "attention"  the name of the kernel
--- @return attention
--- @raise for options that contradict each other, and for blocks that do not fit into shared memory.
--- @see wg.gemm
--- @example
---   local attention = wg.attention { dim = 128, heads = 32, kv_heads = 8, causal = true }
---   attention:run(Q, K, V, O)
function wg.attention(opts)
  local p = plan.make(opts == nil and {} or opts)
  local parameters = attention_parameters.make(p)
  return setmetatable(
    { plan = p, parameters = parameters, kernel = kernel.make(p, parameters), counter = wg.zeros("u32", { 1 }) },
    attention)
end

local function extents(p, Q, K, V, O)
  return attention_tensors.extents("attention", p, { Q = Q, K = K, V = V, O = O }, { "Q", "O" }, { "K", "V" })
end

--- The number of packed sequences, whose `query_starts` and `key_starts` stand in `values`; `name` is the function's,
--- for messages. of_queries: only the former.
function module.packed_batches(name, values, of_queries)
  local function vector(key, want)
    local shape = arguments.shape_of(values[key])
    if not shape or #shape ~= 1 or want and shape[1] ~= want then
      fail(("%s: `%s` must be a vector of batch + 1%s s32, not %s"):format(
        name, key, want and " = " .. want or "", text(shape)))
    end
    return shape[1]
  end
  local starts = vector "query_starts"
  if starts < 2 then
    fail(("%s: `query_starts` has %d value%s, and so no sequence: a sequence is between two values"):format(
      name, starts, starts == 1 and "" or "s"))
  end
  if not of_queries then vector("key_starts", starts) end
  return starts - 1
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param Q tensor  batch x queries x heads x dim, in the order of `layout`
--- @param K tensor  batch x keys x kv_heads x dim
--- @param V tensor  as K, of value_dim
--- @param O tensor  as Q, of value_dim: the result
--- @param options table?
--- @option scale number?  the factor of the scores, positive; by default 1 / sqrt(dim)
--- @option lse tensor?  f32, batch x heads x queries (packed: heads x total): receives the natural logarithms
--- @option query_starts tensor?  s32: where each packed sequence begins in Q, and the end of the last one; batch + 1
---   values
--- @option key_starts tensor?  s32: where each sequence begins in K
--- @option lengths tensor?  s32, of K and V in pages: the keys of each sequence; more than its pages have count as that
---   many
--- @option pages tensor?  s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a
---   sequence's last page are not used, and keys of a page that K does not have are 0
--- @option max_queries integer[1,1073741823]?  the most queries of a packed sequence
--- @option q_descale tensor?  f32: what Q is multiplied by, one value or (`descale` = "head") batch x kv_heads
--- @option k_descale tensor?  the same of K
--- @option v_descale tensor?  the same of V
--- @option tensors table?  the tensors of the option `tensors`, by name
--- @option dropout_p number?  the probability of `dropout`, from 0 to 31 / 32, or 1; what is kept is multiplied by
---   1 / (1 - dropout_p)
--- @option dropout_state tensor?  s64, seed and offset: another state drops others
--- @option sink tensor?  f32, one for each head: the logits of the option `sink`, beside scores that `scale` has
---   multiplied
--- @return table  { grid =, args = }
--- @raise when the extents do not fit each other, or a value is missing.
function attention:launch(Q, K, V, O, values)
  local p = self.plan
  if values == nil then values = {} end
  arguments.options("attention:launch", values)
  attention_tensors.values("attention", p, values, {
    lse = "lse", query_starts = "packed", key_starts = not p.page and "packed" or nil, max_queries = "packed",
    lengths = "page", pages = "page", q_descale = "descale", k_descale = "descale", v_descale = "descale",
    tensors = "tensors", sink = "sink", dropout_p = "dropout", dropout_state = "dropout",
  })
  if p.page and values.key_starts ~= nil then
    fail "attention: `key_starts` is given, but K and V are in pages: `lengths` has the keys of each sequence"
  end
  local q, k = extents(p, Q, K, V, O)
  local scale = arguments.positive("attention: scale", values.scale or 1 / math.sqrt(p.dim))
  local batches, queries = q.batch, q.rows
  if p.packed then
    batches = module.packed_batches("attention", values, p.page)
    queries = arguments.whole("attention: max_queries", values.max_queries, 1, 0x3FFFFFFF)
  end
  local width
  if p.page then
    if k.rows ~= p.page then
      fail(("attention: K and V have pages of %d keys, and wg.attention was made for %d"):format(k.rows, p.page))
    end
    decode_launch.shaped("attention", "lengths", values.lengths, "s32", { batches })
    width = arguments.shape_of(decode_launch.shaped("attention", "pages", values.pages, "s32", { batches, 0 }))[2]
  end
  local factor, cap = scores.score_arguments(p, scale)
  local args = builder_parameters.arguments(self.parameters, {
    Q = Q, K = K, V = V, O = O, queries = queries, rows = q.rows, keys = width and width * p.page or k.rows,
    table_width = width, page_count = k.batch, batches = batches, factor = factor,
    cap = cap, given = values,
    counter = self.counter,
  })
  local tiles = ceil_div(queries, p.m) * batches * p.heads
  if tiles == 0 then fail "attention: Q has no rows, so there is nothing to compute" end
  local rows = (p.packed and q.rows or batches * queries) * p.heads
  if rows > 0xFFFFFFFF or tiles * p.cluster > 0x7FFFFFFF then
    fail(("attention: %d rows of all heads are too many: at most 2^32 - 1 are possible"):format(rows))
  end
  return { grid = { p.cluster > 1 and tiles * p.cluster or math.min(tiles, roofline.sms()) }, args = args }
end

--- The pairs of a query and a key that it sees, of one head of one sequence.
function module.pairs(p, queries, keys)
  if not p.causal and not p.window then return queries * keys end
  local seen = 0
  for i = 0, queries - 1 do
    local own = i + keys - queries
    local high = math.min(keys, own + (p.causal and 1 or p.window))
    local low = p.window and math.max(0, own - p.window + 1) or 0
    seen = seen + math.max(0, high - low)
  end
  return seen
end

--- The floating-point operations of both products, counting only the keys that a query sees.
--- @param batches integer
--- @param queries integer  of each sequence
--- @param keys integer  of each sequence
--- @return number
function attention:flops(batches, queries, keys)
  local p = self.plan
  return 2.0 * batches * p.heads * (p.dim + p.value_dim) * module.pairs(p, queries, keys)
end

-- The launch of the method called `name`: `given` holds values of the launch, and options of the kernel's method.
local function launch_with(name, self, Q, K, V, O, given)
  local values, rest = arguments.split_options(name, "attention:launch", given)
  local p = self.plan
  if p.cluster > 1 and rest.grid then
    local what = p.split_columns and "dim = 512" or ("keys in %d parts"):format(p.splits)
    fail(("%s: `grid` does not go with %s: each tile has a cluster of its own%s"):format(
      name, what, p.split_columns and "" or " (splits = 1 for another grid)"))
  end
  return arguments.extended(self:launch(Q, K, V, O, values), rest)
end

--- Computes O, and waits until it is in the tensor.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work; not with keys in parts
---   (`splits`) and dim = 512
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see attention:launch
function attention:run(Q, K, V, O, run) return self.kernel:run(launch_with("attention:run", self, Q, K, V, O, run)) end

--- Prepares a launch that can be started many times, with its tensors on the device.
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work; not with keys in parts
---   (`splits`) and dim = 512
--- @options kernel:prepare without grid, args, devices, flops
--- @return launch
--- @see kernel:prepare
function attention:prepare(Q, K, V, O, run)
  return self.kernel:prepare(launch_with("attention:prepare", self, Q, K, V, O, run))
end

--- Measures how long it takes, and its TFLOPS (attention:flops; of packed sequences and of pages 0, whose lengths
--- are on the device).
--- @param Q tensor
--- @param K tensor
--- @param V tensor
--- @param O tensor
--- @param options table?
--- @options attention:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work; not with keys in parts
---   (`splits`) and dim = 512
--- @options kernel:time without grid, args, devices, flops
--- @return table  as of kernel:time
--- @see kernel:time
function attention:time(Q, K, V, O, time)
  local launch = launch_with("attention:time", self, Q, K, V, O, time)
  if not self.plan.packed and not self.plan.page then
    local q, k = extents(self.plan, Q, K, V, O)
    launch.flops = self:flops(q.batch, q.rows, k.rows)
  end
  return self.kernel:time(launch)
end

classes.close("attention", attention)
classes.shield(wg, "wg.", { "attention" })
classes.shield(attention, "attention:", { "launch", "flops", "run", "prepare", "time" })

return module
