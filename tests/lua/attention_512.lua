-- wg.attention of heads of 512 elements, on the simulator against binary64: two CTAs share keys, two consumers a tile of queries.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"
local attend, attend_packed = attending.attend, attending.attend_packed

attend("512", { dim = 512, heads = 2, kv_heads = 1, lse = true }, 2, 200, 230)
attend("causal, more keys than queries", { dim = 512, heads = 1, causal = true, lse = true, dtype = "f16" }, 1, 100, 300)
attend("causal, rows that see nothing", { dim = 512, heads = 1, causal = true, lse = true, layout = "bhsd" }, 1, 200, 70)
attend("a window", { dim = 512, heads = 1, causal = true, window = 70 }, 1, 150, 260)
attend("a window on both sides, softcap", { dim = 512, heads = 1, window = 50, softcap = 3.0, lse = true }, 1, 130, 130)
attend("one query, one key", { dim = 512, heads = 2 }, 1, 1, 1)
attend("short blocks", { dim = 512, heads = 1, block = 16, causal = true }, 1, 64, 100)
attend("values of 256", { dim = 512, value_dim = 256, heads = 1, causal = true, lse = true }, 1, 140, 140)
attend("sinks", { dim = 512, heads = 2, causal = true, lse = true, sinks = { 1.5, 60.0 } }, 1, 80, 80)
attend_packed("packed", { dim = 512, heads = 2, kv_heads = 1, causal = true, lse = true }, { { 70, 100 }, { 0, 5 }, { 33, 0 }, { 140, 150 } })
attend_packed("packed, values of 256", { dim = 512, value_dim = 256, heads = 1 }, { { 1, 1 }, { 65, 129 } })

-- Functions of scores and masks get the places of both CTAs' queries: beside causal and ALiBi's like without them.
do
  local function run(o)
    o.dim, o.dtype = 512, "f16"
    local function randn(rows, seed) return wg.randn { shape = { 1, rows, 1, 512 }, dtype = "f16", seed = seed } end
    local O, kernel = wg.zeros("f16", { 1, 190, 1, 512 }), wg.attention(o)
    assert(#kernel.kernel:check() == 0)
    kernel:run(randn(190, 1), randn(250, 2), randn(250, 3), O, { backend = "sim" })
    return O
  end
  local function below(_, at) return at.key:le(at.place) end
  local function blocks(_, at) return at.first_key:le(at.last_place), at.last_key:le(at.first_place) end
  local causal = run { causal = true }
  assert(wg.compare(run { mask = below }, causal, 1e-3), "a mask")
  assert(wg.compare(run { mask = below, block_mask = blocks }, causal, 1e-3), "blocks that are left out")
  local function hidden(k, x, at) return k:selp_f32(x, -math.huge, at.distance:le(0.0)) end
  assert(wg.compare(run { score = hidden }, causal, 1e-3), "scores")
end

check.raises("wg.attention: `dim` = 512 excludes 8-bit elements: shared memory has no room for V and its transpose", wg.attention, { dim = 512, dtype = "e4m3" })
check.raises("wg.attention: `dim` = 512 excludes a `value_dim` below 256: two consumers and two CTAs share its columns, in panels of 64", wg.attention, { dim = 512, value_dim = 192 })
check.raises("wg.attention: `splits` excludes `dim` = 512: its clusters share keys", wg.attention, { dim = 512, splits = 2 })
check.raises("blocks of 128 keys take 327680 bytes of shared memory, and there are 231424", wg.attention, { dim = 512, block = 128 })
do
  local T = wg.zeros("bf16", { 1, 8, 1, 512 })
  check.refuses("attention:run: `grid` does not go with dim = 512: each tile has a cluster of its own", function() wg.attention({ dim = 512 }):run(T, T, T, T, { grid = 2 }) end)
end
