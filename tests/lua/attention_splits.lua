-- wg.attention with the keys in parts, which the CTAs of a cluster put together, on the simulator against binary64.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"

local attend, attend_packed = attending.attend, attending.attend_packed

for splits = 2, 8 do
  attend(splits .. " parts", { dim = 64, heads = 1, splits = splits, lse = true, problem = { 100, 1000 } }, 1, 100, 1000)
end
attend("two tiles, three consumers", { dim = 64, heads = 2, splits = 2, lse = true }, 1, 250, 600)
attend("fewer blocks of keys than parts", { dim = 64, heads = 1, splits = 8, lse = true, dtype = "f16" }, 2, 100, 300)
attend("one block of keys", { dim = 128, heads = 1, splits = 4, lse = true, causal = true }, 1, 5, 9)
attend("causal", { dim = 128, heads = 4, kv_heads = 2, splits = 4, causal = true, lse = true, block = 64 }, 1, 150, 500)
attend("queries that see nothing", { dim = 128, heads = 2, kv_heads = 1, splits = 3, causal = true, lse = true }, 1, 300, 190)
attend("causal, more queries than a part has keys", { dim = 64, heads = 1, splits = 5, causal = true, lse = true, problem = { 300, 300 } }, 1, 300, 300)
attend("96, the other layout", { dim = 96, heads = 2, kv_heads = 1, splits = 5, causal = true, lse = true, layout = "bhsd" }, 2, 130, 700)
attend("192", { dim = 192, heads = 1, splits = 7, scale = 0.3 }, 1, 140, 700)
attend("256", { dim = 256, heads = 2, splits = 6, layout = "bhsd" }, 1, 70, 500)
attend("a window", { dim = 64, heads = 1, splits = 3, causal = true, window = 150, lse = true, block = 64 }, 1, 250, 500)
attend("a window in both directions", { dim = 64, heads = 1, splits = 2, window = 150, lse = true, block = 32 }, 1, 200, 400)
attend("bounded scores", { dim = 64, heads = 1, splits = 3, causal = true, softcap = 2.0, lse = true }, 1, 200, 500)
attend("more parts than every chip's clusters have CTAs", { dim = 128, heads = 1, splits = 16, lse = true }, 1, 65, 2100)
attend_packed("packed", { dim = 64, heads = 2, lse = true, splits = 3 }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 700 } })
attend_packed("packed, causal", { dim = 128, heads = 2, kv_heads = 1, causal = true, lse = true, splits = 4, block = 64 }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })

-- What is chosen is what was fastest on an H200, or as fast (docs/experiments/attention.md).
local function chosen(batch, heads, queries, keys, dim, more)
  local options = { dim = dim, heads = heads, problem = { queries, keys, batch } }
  for key, value in pairs(more or {}) do options[key] = value end
  return wg.attention(options).plan.splits
end
check.equal(chosen(1, 16, 128, 16384, 128), 6) -- sixteen clusters of eight would not run at a time
check.equal(chosen(1, 8, 1024, 8192, 128), 2)
check.equal(chosen(1, 8, 512, 4096, 256), 3)
check.equal(chosen(1, 8, 128, 16384, 96), 8)
check.equal(chosen(1, 2, 128, 32768, 128), 16)
check.equal(chosen(1, 32, 512, 16384, 128), 1) -- as many tiles as SMs
check.equal(chosen(1, 8, 256, 256, 128), 1)
check.equal(chosen(nil, 16, 128, 16384, 128), 1) -- any number of sequences
check.equal(chosen(1, 16, 128, 16384, 128, { window = 200, causal = true }), 3) -- few keys are seen
check.equal(chosen(1, 16, 128, 16384, 128, { dtype = "e4m3" }), 1)
-- Of blocks that leave little room, as many parts as fit: two stages of K and V have to.
for _, shape in ipairs { { 192, 112 }, { 256, 80 }, { 64, 256 }, { 128, 16 } } do
  chosen(1, 1, 64, 1 << 20, shape[1], { block = shape[2] })
end

check.refuses("wg.attention: splits is 17, must be an integer from 1 to 16", function() wg.attention { splits = 17 } end)
check.refuses("wg.attention: `splits` excludes 8-bit elements: keys of 8 bits stay in one part", function() wg.attention { splits = 2, dtype = "e4m3" } end)
check.refuses("wg.attention: splits is 7, whose other parts bring 73728 bytes for the stages of K, and these have 65536: other `splits` or a longer `block`", function() wg.attention { splits = 7, dim = 256 } end)
local made, Q = wg.attention { splits = 2, dim = 64 }, wg.zeros("bf16", { 1, 8, 1, 64 })
check.refuses("attention:run: `grid` does not go with keys in 2 parts: each tile has a cluster...", function() made:run(Q, Q, Q, Q, { grid = 2 }) end)
