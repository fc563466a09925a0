-- wg.attention whose V and O are narrower than Q and K, on the simulator against binary64: as multi-head latent attention has
-- it in its prefill (192 and 128), and each other pair of head sizes.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"

-- `o` with the head sizes of multi-head latent attention.
local function latent(o)
  o.dim, o.value_dim = 192, 128
  return o
end

local function attend(name, o, ...) attending.attend(name, latent(o), ...) end
local function attend_packed(name, o, ...) attending.attend_packed(name, latent(o), ...) end

attend("one block", { heads = 1, lse = true }, 1, 5, 7, 1)
attend("edges", { heads = 2, lse = true, scale = 0.1 }, 2, 200, 300, 3)
attend("causal, groups of heads", { heads = 2, kv_heads = 1, causal = true, lse = true }, 1, 150, 290)
attend("queries that see nothing", { heads = 1, causal = true, lse = true }, 1, 300, 190)
attend("the other layout, f16", { heads = 2, layout = "bhsd", dtype = "f16", causal = true }, 2, 130, 130)
attend("a window", { heads = 1, causal = true, window = 70, lse = true }, 1, 200, 300)
attend("a window on both sides", { heads = 1, window = 140 }, 1, 140, 300)
attend("bounded scores", { heads = 1, softcap = 2.0, causal = true, lse = true }, 1, 140, 140)
attend("small blocks", { heads = 1, block = 48 }, 1, 70, 150)
attend("parts", { heads = 1, splits = 3, lse = true, causal = true }, 1, 140, 700)
attend("parts, the other layout", { heads = 2, kv_heads = 1, splits = 2, layout = "bhsd" }, 1, 70, 500)
attend("more parts than every chip's clusters have CTAs", { heads = 1, splits = 16, lse = true }, 1, 65, 2100)
attend("e4m3", { heads = 2, dtype = "e4m3", causal = true, lse = true }, 1, 140, 300)
attend("e4m3, factors of heads", { heads = 4, kv_heads = 2, dtype = "e4m3", descale = "head", layout = "bhsd" }, 2, 60, 290)
attend_packed("packed", { heads = 2, lse = true }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 129 } })
attend_packed("packed, causal", { heads = 2, kv_heads = 1, causal = true, lse = true }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })
attend_packed("packed, in parts", { heads = 1, lse = true, splits = 3 }, { { 100, 300 }, { 1, 1 }, { 70, 0 }, { 30, 700 } })
attend_packed("packed, e4m3", { heads = 2, dtype = "e4m3", o = "f16", descale = "tensor" }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })

-- Every pair of head sizes.
for _, pair in ipairs { { 96, 64 }, { 128, 64 }, { 128, 96 }, { 192, 64 }, { 192, 96 }, { 256, 64 }, { 256, 96 }, { 256, 128 }, { 256, 192 } } do
  local name = pair[1] .. " and " .. pair[2]
  for _, dtype in ipairs { "bf16", "e4m3" } do
    attending.attend(name .. ", " .. dtype, { dim = pair[1], value_dim = pair[2], heads = 1, causal = true, lse = true, dtype = dtype }, 1, 200, 210)
  end
  attending.attend(name .. ", parts", { dim = pair[1], value_dim = pair[2], heads = 1, splits = 2, lse = true }, 1, 70, 300)
  attending.attend_packed(name .. ", packed", { dim = pair[1], value_dim = pair[2], heads = 1 }, { { 70, 150 }, { 33, 20 } })
end

attending.attend("parts that nearly fill the stages of V", { dim = 128, value_dim = 64, heads = 1, splits = 6, lse = true }, 1, 190, 900)

-- A function of the scores, and a mask with blocks left out.
local o = latent { heads = 1, causal = true }
o.score = function(k, score, at) return k:fma(at.distance, 0.0625, score) end
o.mask = function(_, at) return at.key:ge(64) end
o.block_mask = function(_, block) return block.last_key:ge(64), block.first_key:ge(64) end
local made = wg.attention(o)
local function random(rows, dim, seed) return wg.randn { shape = { 1, rows, 1, dim }, dtype = "bf16", seed = seed } end
local Q, K, V, O = random(130, 192, 1), random(300, 192, 2), random(300, 128, 3), wg.zeros("bf16", { 1, 130, 1, 128 })
made:run(Q, K, V, O, { backend = "sim" })
for i = 0, 129, 13 do
  local row, total = {}, 0
  for j = 0, 299 do
    local distance = j - (i + 170)
    local seen = j >= 64 and distance <= 0
    row[j + 1] = seen and math.exp(wg.dot(Q, i * 192, 1, K, j * 192, 1, 192) / math.sqrt(192) + distance / 16) or 0
    total = total + row[j + 1]
  end
  for c = 0, 127, 9 do
    local want = wg.dot(wg.tensor("f64", { 300 }, row), 0, 1, V, c, 128, 300) / total
    assert(math.abs(O[{ 0, i, 0, c }] - want) <= 2 ^ -7 * (math.abs(want) + 0.5), ("row %d, column %d"):format(i, c))
  end
end

-- Both products count, each with its own head size.
check.equal(made:flops(2, 300, 300), wg.attention(latent { heads = 1, causal = true }):flops(2, 300, 300))
check.equal(wg.attention(latent { heads = 3 }):flops(2, 10, 20), 2 * 3 * 10 * 20 * (2 * 192 + 2 * 128))

-- What is chosen: longer blocks than at 192 alone, and three consumers where their sums fit.
local plan = wg.attention(latent {}).plan
check.equal(plan.block, 128)
check.equal(plan.m, 128)
check.equal(wg.attention { dim = 128, value_dim = 64 }.plan.m, 192)
check.equal(wg.attention { dim = 128, value_dim = 64, problem = { 77, 4096 } }.plan.m, 128)
check.equal(wg.attention { dim = 128, value_dim = 64, causal = true, problem = { 200, 200 } }.plan.m, 128)
check.equal(wg.attention { dim = 192, value_dim = 192 }.plan.block, wg.attention { dim = 192 }.plan.block)
assert(wg.attention(latent { heads = 16, problem = { 128, 16384, 1 } }).plan.splits > 1)

check.refuses("wg.attention: value_dim is 192, must not exceed dim = 128: V and O may be narrower than Q and K, not wider", function() wg.attention { value_dim = 192 } end)
check.refuses("wg.attention: unknown value_dim `80` (legal: 64, 96, 128, 192, 256, 512)", function() wg.attention { dim = 192, value_dim = 80 } end)
check.refuses("unknown option `value_dim` of wg.attention_backward...", function() wg.attention_backward { dim = 192, value_dim = 128 } end)
check.refuses("unknown option `value_dim` of wg.attention_decode...", function() wg.attention_decode { dim = 256, value_dim = 128 } end)
check.refuses("wg.attention: splits is 7, whose other parts bring 36864 bytes for the stages of V, and these have 32768: other...", function() wg.attention { dim = 128, value_dim = 64, splits = 7 } end)
local plain = wg.attention(latent {})
local function zeros(rows, dim) return wg.zeros("bf16", { 1, rows, 1, dim }) end
check.refuses("attention: V has dim = 192, and wg.attention was made for 128", function() plain:run(zeros(8, 192), zeros(9, 192), zeros(9, 192), zeros(8, 128)) end)
check.refuses("attention: O has dim = 192, and wg.attention was made for 128", function() plain:run(zeros(8, 192), zeros(9, 192), zeros(9, 128), zeros(8, 192)) end)
check.refuses("attention: K has dim = 128, and wg.attention was made for 192", function() plain:run(zeros(8, 192), zeros(9, 128), zeros(9, 128), zeros(8, 128)) end)
