-- wg.mla_decode: a kernel for the attention of few queries to a cache of latent rows, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local decode_launch = require "wgrun.attention.decode.launch"
local kernel = require "wgrun.attention.latent.kernel"
local latent_parameters = require "wgrun.attention.latent.parameters"
local plan = require "wgrun.attention.latent.plan"
local builder_parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local fail, ceil_div, shaped = native.fail, roofline.ceil_div, decode_launch.shaped

--- Attention made by wg.mla_decode.
--- @field kernel kernel  the kernel, like any other
--- @field plan table  the choices: cluster, copies
local decode = classes.new "mla_decode"

--- A kernel for multi-head latent attention (MLA, as DeepSeek's models have it) in its absorbed form, for a few queries
--- that come at the end of each sequence, and its launches. A key is one row of 576 elements that all heads share: 512
--- latent ones and 64 of the rotary embedding; its value is the latent part. Of each head, O = softmax(scale * Q * K^T)
--- * K[:, :512]. Q is batch x queries x heads x 576, O batch x queries x heads x 512, the cache batch x keys x 576, of
--- which a sequence uses the first `lengths[b]` rows. In pages it is pages x page x 576, and a table has the pages of
--- each sequence. CTAs have about equally many keys, whatever the lengths, which are device data. A query that sees no
--- key gives 0. What lies in the cache behind the end of a sequence does not matter. The result does not depend on
--- timing.
--- @param options table
--- @option dtype "bf16"|"f16" = "bf16"  the type of Q, the cache and O
--- @option cache_type "e4m3"|"fp8_ds_mla"?  the type of the cache, by default that of Q. "fp8_ds_mla": a row has 656
---   bytes (u8), as FlashMLA, vLLM and SGLang have it: the latent elements in e4m3, four f32 scales by which 128 of
---   them each are multiplied, and the rotary elements in bf16. "e4m3": all 576 elements, times a factor that launches
---   give. Elements become `dtype` on their way to shared memory
--- @option heads integer[1,65535] = 128  the heads of Q and O
--- @option queries integer[1,64] = 1  the queries of each sequence
--- @option causal boolean = true  the last query sees all keys of its sequence, the one before it all but the last, and
---   so on; false: all queries see all keys
--- @option page integer[1,256]?  the keys of a page: the cache is in pages
--- @option lse boolean = false  also gives the logarithm of each row's sum of exponentials
--- @option copies "boxes"|"rows"?  how blocks of 64 keys are read: "boxes" by TMA, or "rows" by threads, for pages. By
---   default boxes where they have 8 keys or more
--- @option name string = "mla_decode"  the name of the kernel
--- @return mla_decode
--- @raise for options that contradict each other.
--- @see wg.attention_decode
--- @example
---   local decode = wg.mla_decode { heads = 128, page = 64 }
---   decode:run(Q, cache, O, { lengths = lengths, pages = pages, scale = 1 / math.sqrt(192) })
function wg.mla_decode(opts)
  local p = plan.make(opts == nil and {} or opts)
  local parameters = latent_parameters.make(p)
  return setmetatable(
    { plan = p, parameters = parameters, kernel = kernel.make(p, parameters), workspace = {}, full = {} }, decode)
end

-- The CTAs of a launch: by default those that run at a time. Groups of rows with the same keys need one cluster each.
local function ctas_of(p, blocks, given)
  local least = p.kv_heads * p.cluster
  if given and (given % p.cluster ~= 0 or given < least) then
    fail(("mla_decode: grid is %d, must be a multiple of %d from %d on"):format(given, p.cluster, least))
  end
  return given or math.max(least, p.cluster * math.min(blocks, roofline.clusters_at_a_time(p.cluster)))
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param Q tensor  batch x queries x heads x 576
--- @param cache tensor  batch x keys x 576, or pages x page x 576
--- @param O tensor  batch x queries x heads x 512: the result
--- @param options table
--- @option scale number  the factor of the scores, positive. Of DeepSeek's models it is 1 / sqrt(192), times what
---   extends their context: it does not follow from the 576 elements
--- @option lengths tensor?  s32, the keys of each sequence, those of the queries included; more than the cache or the
---   table has count as that many. By default all keys of the cache
--- @option pages tensor?  s32, batch x most pages of a sequence: where its pages are in the cache; entries behind a
---   sequence's last page are not used
--- @option lse tensor?  f32, batch x heads x queries: receives the natural logarithms
--- @option descale tensor?  f32, one value, of a cache of e4m3: what its elements are multiplied by; 1 by default
--- @option grid integer?  the CTAs; by default one on each SM that finds work
--- @return table  { grid =, args = }
--- @raise when the extents do not fit each other, or a value is missing.
function decode:launch(Q, cache, O, values)
  local p, what = self.plan, "mla_decode"
  arguments.options("mla_decode:launch", values)
  local made_with = { lse = p.lse, pages = p.page, descale = p.descale }
  for value, option in pairs { lse = "lse", pages = "page", descale = 'cache_type = "e4m3"' } do
    if values[value] ~= nil and not made_with[value] then
      fail(("%s: `%s` is given, but wg.%s was made without `%s`"):format(what, value, what, option))
    end
  end
  local batches = arguments.shape_of(shaped(what, "Q", Q, p.dtype, { 0, p.queries, p.heads, p.dim }))[1]
  shaped(what, "O", O, p.dtype, { batches, p.queries, p.heads, p.value_dim })
  local of_cache = { p.page and 0 or batches, p.page or 0, p.cache_row }
  local shape = arguments.shape_of(shaped(what, "the cache", cache, p.cache_dtype, of_cache))
  local keys, width = shape[2], nil
  if p.lse then shaped(what, "lse", values.lse, "f32", { batches, p.heads, p.queries }) end
  if p.page then
    if values.lengths == nil then fail "mla_decode: `lengths` is missing" end
    width = arguments.shape_of(shaped(what, "pages", values.pages, "s32", { batches, 0 }))[2]
    keys = width * p.page
  end
  local descale = values.descale
  if p.descale then
    self.full.one = self.full.one or wg.full("f32", { 1 }, 1.0)
    descale = shaped(what, "descale", descale or self.full.one, "f32", { 1 })
  end
  local lengths = values.lengths or decode_launch.full_lengths(self, batches, keys)
  shaped(what, "lengths", lengths, "s32", { batches })
  if batches * p.rows * p.dim > 0xFFFFFFFF then fail "mla_decode: Q has 2^32 elements or more" end
  local blocks = batches * p.kv_heads * ceil_div(keys, p.block)
  if blocks == 0 then fail(("mla_decode: %d sequences of %d keys leave nothing to compute"):format(batches, keys)) end
  local ctas = ctas_of(p, blocks, values.grid)
  -- Two rounds of stretches, where there are sequences for both.
  local rounds = math.min(2, batches * p.cluster * p.kv_heads // ctas + 1)
  local w = decode_launch.workspace(self, ctas * rounds, 2 * batches * p.kv_heads * p.cluster, 64, p.value_dim)
  local args = builder_parameters.arguments(self.parameters, {
    Q = Q, cache = cache, O = O, lse = values.lse, lengths = lengths, pages = values.pages, table_width = width,
    descale = descale,
    keys = keys, batches = batches, together = p.kv_heads, rounds = rounds,
    scale_log2 = arguments.positive("mla_decode: scale", values.scale) / math.log(2),
    partials = w.partials, part_sums = w.part_sums, counters = w.counters,
  })
  return { grid = { ctas }, args = args }
end

--- The floating-point operations of both products, where each of the sequences has so many keys that all queries see.
--- @param batches integer
--- @param keys integer
--- @return number
function decode:flops(batches, keys)
  local p = self.plan
  return 2.0 * batches * p.rows * keys * (p.dim + p.value_dim)
end

-- The launch of the method called `name`: `given` holds values of the launch, and options of the kernel's method.
local function launch_with(name, self, Q, cache, O, given)
  local values, rest = arguments.split_options(name, "mla_decode:launch", given)
  return arguments.extended(self:launch(Q, cache, O, values), rest)
end

--- Computes O, and waits until it is in the tensor.
--- @param Q tensor
--- @param cache tensor
--- @param O tensor
--- @param options table
--- @options mla_decode:launch
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see mla_decode:launch
function decode:run(Q, cache, O, run) return self.kernel:run(launch_with("mla_decode:run", self, Q, cache, O, run)) end

--- Prepares a launch that can be started many times, with its tensors on the device.
--- @param Q tensor
--- @param cache tensor
--- @param O tensor
--- @param options table
--- @options mla_decode:launch
--- @options kernel:prepare without grid, args, devices, flops
--- @return launch
--- @see kernel:prepare
function decode:prepare(Q, cache, O, run)
  return self.kernel:prepare(launch_with("mla_decode:prepare", self, Q, cache, O, run))
end

--- Measures how long it takes.
--- @param Q tensor
--- @param cache tensor
--- @param O tensor
--- @param options table
--- @options mla_decode:launch
--- @options kernel:time without grid, args, devices, flops
--- @return table  as of kernel:time
--- @see kernel:time
function decode:time(Q, cache, O, time)
  return self.kernel:time(launch_with("mla_decode:time", self, Q, cache, O, time))
end

classes.close("mla_decode", decode)
classes.shield(wg, "wg.", { "mla_decode" })
classes.shield(decode, "mla_decode:", { "launch", "flops", "run", "prepare", "time" })
