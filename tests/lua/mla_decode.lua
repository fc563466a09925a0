-- wg.mla_decode: lengths, pages, rows and shares of the work.
local wg = require "wgrun"
local check = require "check"
local attend = require("latent").attend

attend("one key", { heads = 1 }, { 1 }, 1)
attend("lengths of all kinds", { heads = 16, step = 5 }, { 200, 1, 0, 65, 128 }, 3)
attend("one sequence in many parts", { heads = 8, step = 3 }, { 700 }, 7)
attend("two parts, of which one may find the other complete", { heads = 2 }, { 896, 128 }, 2, 8)
attend("more parts than are added up together", { heads = 3 }, { 1200 }, 19)
attend("a cluster, f16", { heads = 128, step = 41, dtype = "f16" }, { 330, 90 }, 4)
attend("two queries, pages of 64", { heads = 64, queries = 2, step = 21, page = 64 }, { 130, 1, 64, 66 }, 4)
attend("groups of clusters", { heads = 130, queries = 2, step = 43, page = 128 }, { 100, 300 }, 12)
attend("queries that see all keys", { heads = 4, queries = 3, causal = false }, { 70, 3 }, 2)
attend("many queries", { heads = 2, queries = 40 }, { 230, 20 }, 4)
attend("pages of 16", { heads = 8, page = 16, step = 3 }, { 300, 128, 0, 17 }, 5)
attend("pages of one key", { heads = 2, page = 1 }, { 100, 0, 3 }, 3)
attend("pages of 3, more than 64 rows", { heads = 70, page = 3, step = 23 }, { 70, 0, 130 }, 4)
attend("pages of 24", { heads = 2, page = 24 }, { 100, 3 }, 3)
attend("large pages by threads", { heads = 2, page = 64, copies = "rows" }, { 40, 70 }, 2)

-- Lengths that cannot be: cut to the keys that there are.
local all, query = wg.randn { shape = { 2, 40, 576 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 2, 1, 3, 576 }, dtype = "bf16", seed = 2 }
local whole = wg.mla_decode { heads = 3 }
local out, cut = wg.zeros("bf16", { 2, 1, 3, 512 }), wg.zeros("bf16", { 2, 1, 3, 512 })
whole:run(query, all, out, { backend = "sim", scale = 0.1 })
whole:run(query, all, cut, { backend = "sim", scale = 0.1, lengths = wg.tensor("s32", { 2 }, { 41, -1 }) })
assert(wg.compare(out, cut, 0))
assert(whole:flops(2, 40) == 2 * 2 * 3 * 40 * (576 + 512))

check.refuses("unknown option `dim` of wg.mla_decode (legal: dtype, cache_type, heads...", function() wg.mla_decode { dim = 576 } end)
check.refuses("wg.mla_decode: copies = `rows` is for pages", function() wg.mla_decode { copies = "rows" } end)
local made, big = wg.mla_decode { heads = 2, page = 16 }, wg.mla_decode { heads = 200 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local Q, O, pages, lengths = zeros(3, 1, 2, 576), zeros(3, 1, 2, 512), wg.zeros("s32", { 3, 4 }), wg.zeros("s32", { 3 })
local function refuses(message, q, k, o, values) check.refuses(message, function() made:run(q, k, o, values) end) end
local K, whole_call = zeros(5, 16, 576), { lengths = lengths, pages = pages, scale = 1 }
refuses("mla_decode: `lengths` is missing", Q, K, O, { pages = pages, scale = 1 })
refuses("mla_decode: pages must be s32, 3 x any, not no tensor", Q, K, O, { lengths = lengths, scale = 1 })
refuses("mla_decode: pages must be s32, 3 x any, not 3", Q, K, O, { lengths = lengths, pages = lengths, scale = 1 })
refuses("mla_decode: lengths must be s32, 3, not 4", Q, K, O, { lengths = wg.zeros("s32", { 4 }), pages = pages, scale = 1 })
refuses("mla_decode:run: option `scale` is missing", Q, K, O, { lengths = lengths, pages = pages })
refuses("mla_decode: scale is 0, must be positive", Q, K, O, { lengths = lengths, pages = pages, scale = 0 })
refuses("mla_decode: `lse` is given, but wg.mla_decode was made without `lse`", Q, K, O, { lengths = lengths, pages = pages, scale = 1, lse = Q })
refuses("mla_decode: Q must be bf16, any x 1 x 2 x 576, not 3 x 1 x 2 x 512", O, K, O, whole_call)
refuses("mla_decode: the cache must be bf16, any x 16 x 576, not 5 x 8 x 576", Q, zeros(5, 8, 576), O, whole_call)
refuses("mla_decode: O must be bf16, 3 x 1 x 2 x 512, not 3 x 1 x 2 x 576", Q, K, Q, whole_call)
check.refuses("mla_decode: grid is 3, must be a multiple of 2 from 4 on",
  function() big:run(zeros(1, 1, 200, 576), zeros(1, 8, 576), zeros(1, 1, 200, 512), { scale = 1, grid = 3 }) end)
check.equal(wg.mla_decode { heads = 200, queries = 64 }:launch(zeros(1, 64, 200, 576), zeros(1, 8, 576), zeros(1, 64, 200, 512), { scale = 1 }).grid[1], 200)
check.refuses("mla_decode: 0 sequences of 8 keys leave nothing to compute",
  function() whole:run(zeros(0, 1, 3, 576), zeros(0, 8, 576), zeros(0, 1, 3, 512), { scale = 1 }) end)
check.refuses("mla_decode has no `runs`: did you mean `run`?", function() made:runs(Q, K, O) end)
