-- wg.attention on the simulator, which watches every access, against binary64: each head size, mask, layout and option.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"

local attend, attend_packed = attending.attend, attending.attend_packed

attend("one block", { dim = 64, heads = 1 }, 1, 5, 7, 1)
attend("edges", { dim = 64, heads = 2, lse = true }, 2, 200, 300, 3)
attend("causal", { dim = 64, heads = 2, causal = true, lse = true }, 1, 300, 300)
attend("short sequences", { dim = 64, heads = 2, causal = true, problem = { 200, 200 } }, 1, 200, 200)
attend("tiles of 128 queries", { dim = 64, heads = 2, problem = { 200, 300 } }, 1, 200, 300)
attend("more keys than queries", { dim = 128, heads = 1, causal = true }, 1, 130, 500)
attend("queries that see nothing", { dim = 128, heads = 1, causal = true, lse = true }, 1, 300, 190)
attend("groups of heads, the other layout", { dim = 128, heads = 4, kv_heads = 2, layout = "bhsd", dtype = "f16" }, 2, 60, 290)
attend("one head of K and V", { dim = 64, heads = 3, kv_heads = 1, causal = true }, 1, 210, 210, 1)
attend("96", { dim = 96, heads = 2, causal = true, lse = true }, 1, 140, 300)
attend("192", { dim = 192, heads = 1, scale = 0.3 }, 2, 140, 210)
attend("256", { dim = 256, heads = 2, causal = true, layout = "bhsd" }, 1, 200, 200, 1)
attend("a window before the query", { dim = 64, heads = 1, causal = true, window = 50, lse = true }, 1, 400, 400)
attend("a wide window", { dim = 128, heads = 1, causal = true, window = 300 }, 1, 500, 700)
attend("a window on both sides", { dim = 64, heads = 1, window = 140 }, 1, 400, 600)
attend("a window of one key", { dim = 64, heads = 1, causal = true, window = 1 }, 1, 200, 200)
attend("bounded scores", { dim = 64, heads = 1, softcap = 2.0, causal = true, lse = true }, 1, 200, 200)
attend("small blocks", { dim = 64, heads = 1, block = 48, causal = true }, 1, 200, 333)

attend_packed("packed", { dim = 64, heads = 2, lse = true }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 129 } })
attend_packed("packed, causal", { dim = 128, heads = 2, kv_heads = 1, causal = true, lse = true }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })
attend_packed("packed, a window", { dim = 64, heads = 1, causal = true, window = 60 }, { { 200, 333 }, { 250, 250 } })

-- Tiles of 128 queries instead of 192 at head size 64, where less is wasted: beyond the end, or in the last round of 132 SMs.
for rows, problem in pairs { [128] = { { 77, 4096 }, { 256, 256 }, { 512, 512, 1 }, { 1024, 1024, 1 } }, [192] = { { 180, 180 }, { 512, 512 }, { 512, 512, 32 }, { 1024, 1024 } } } do
  for _, lengths in ipairs(problem) do
    assert(wg.attention { dim = 64, heads = 32, kv_heads = 8, problem = lengths }.plan.m == rows, table.concat(lengths, " x "))
  end
end

-- Tensors that stay on the device have a shape, too; a product takes them as well.
check.refuses("unknown option `head` of wg.attention: did you mean `heads`? (legal: dtype, o, descale...", function() wg.attention { head = 2 } end)
check.refuses("wg.attention: unknown dim `80` (legal: 64, 96, 128, 192, 256, 512)", function() wg.attention { dim = 80 } end)
check.refuses("wg.attention: unknown dtype `f32` (legal: bf16, f16, e4m3)", function() wg.attention { dtype = "f32" } end)
check.refuses("wg.attention: unknown layout `bsdh`: did you mean `bshd`? (legal: bshd, bhsd)", function() wg.attention { layout = "bsdh" } end)
check.refuses("wg.attention: 6 heads cannot share 4 heads of K and V: kv_heads must divide heads", function() wg.attention { heads = 6, kv_heads = 4 } end)
check.refuses("wg.attention: blocks of 256 keys take 327680 bytes of shared memory, and there are 231424", function() wg.attention { block = 256, dim = 128 } end)
check.refuses('wg.attention: `packed` excludes `layout` = "bhsd": packed tensors are sequence x head x dim', function() wg.attention { packed = true, layout = "bhsd" } end)
do
  local packed, ones = wg.attention { dim = 64, packed = true }, wg.zeros("bf16", { 9, 1, 64 })
  local function starts(...) return wg.zeros("s32", { ... }) end
  for message, given in pairs {
    ["attention: `query_starts` has 1 value, and so no sequence: a sequence is between two values"] = { starts(1), starts(1) },
    ["attention: `query_starts` has 0 values, and so no sequence: a sequence is between two values"] = { starts(0), starts(0) },
    ["attention: `key_starts` must be a vector of batch + 1 = 3 s32, not 2"] = { starts(3), starts(2) },
    ["attention: `key_starts` must be a vector of batch + 1 = 3 s32, not 3 x 1"] = { starts(3), starts(3, 1) },
  } do
    local o = { query_starts = given[1], key_starts = given[2], max_queries = 9 }
    check.refuses(message, function() packed:launch(ones, ones, ones, ones, o) end)
  end
end
check.refuses("wg.attention: softcap is -1.0, must be positive", function() wg.attention { softcap = -1.0 } end)

local made = wg.attention { dim = 64, heads = 2 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local Q, K = zeros(1, 8, 2, 64), zeros(1, 9, 2, 64)
check.refuses("attention: rows is 9 in K, but 8 in V", function() made:run(Q, K, zeros(1, 8, 2, 64), Q) end)
check.refuses("attention: Q has heads = 3, and wg.attention was made for 2", function() made:run(zeros(1, 8, 3, 64), K, K, Q) end)
check.refuses("attention: O must have 4 dimensions (bshd), not 8 x 64", function() made:run(Q, K, K, zeros(8, 64)) end)
check.refuses("attention: O must have 4 dimensions (bshd), not no tensor", function() made:run(Q, K, K) end)
check.refuses("attention: `lse` is given, but wg.attention was made without `lse`", function() made:run(Q, K, K, Q, { lse = Q }) end)
check.refuses("attention: Q has no rows, so there is nothing to compute", function() made:run(zeros(0, 8, 2, 64), zeros(0, 9, 2, 64), zeros(0, 9, 2, 64), zeros(0, 8, 2, 64)) end)
check.refuses("attention: scale is -1.0, must be positive", function() made:run(Q, K, K, Q, { scale = -1.0 }) end)
check.refuses("attention has no `runs`: did you mean `run`?", function() made:runs(Q, K, K, Q) end)
