-- wg.mla_decode with caches of 8-bit floats: elements become what their scale makes of them, rounded to bf16.
local wg = require "wgrun"
local check = require "check"
local latent = require "latent"
local attend = latent.attend

local tiles = "fp8_ds_mla"
attend("one key", { heads = 1, cache_type = tiles }, { 1 }, 1)
attend("lengths of all kinds", { heads = 16, step = 5, cache_type = tiles }, { 200, 1, 0, 65, 128 }, 3)
attend("two CTAs of rows, two queries, pages of 64", { heads = 64, queries = 2, step = 21, page = 64, cache_type = tiles }, { 130, 1, 64, 366 }, 4)
attend("one sequence in many parts", { heads = 8, step = 3, page = 128, cache_type = tiles }, { 700 }, 7)
attend("pages of one key", { heads = 2, page = 1, cache_type = tiles }, { 100, 0, 3 }, 3)
attend("pages of 24", { heads = 2, page = 24, cache_type = tiles }, { 100, 3 }, 3)
attend("pages of 16, four schedules", { heads = 8, page = 16, step = 3, cache_type = tiles }, { 300, 128, 0, 17 }, 5, 4)
attend("one type for all", { heads = 8, page = 64, step = 3, cache_type = "e4m3" }, { 300, 128, 0, 17 }, 5)
attend("f16, no pages, many parts", { heads = 70, step = 23, cache_type = "e4m3", dtype = "f16" }, { 270, 80 }, 6)
attend("pages of one key and queries that see all", { heads = 4, queries = 3, causal = false, page = 1, cache_type = "e4m3" }, { 70, 3 }, 2)

-- O of one key is its values: all bytes, with scales from small to large.
for exponent = -100, 100, 40 do
  local bytes, scales, numbers = {}, {}, {}
  for tile = 0, 3 do scales[tile] = string.unpack("<f", string.pack("<f", 1.2345 ^ (tile + 1) * 2.0 ^ (exponent // 2))) end
  for c = 0, 511 do bytes[c + 1], numbers[c] = c % 256, latent.number_of(c % 256) * scales[c // 128] end
  local more = string.pack("<ffff", scales[0], scales[1], scales[2], scales[3]) .. ("\0"):rep(128)
  for i = 1, #more do bytes[512 + i] = more:byte(i) end
  local O = wg.zeros("bf16", { 1, 1, 1, 512 })
  wg.mla_decode { heads = 1, cache_type = tiles }:run(wg.zeros("bf16", { 1, 1, 1, 576 }), wg.tensor("u8", { 1, 1, 656 }, bytes), O, { scale = 1, backend = "sim" })
  for c = 0, 511 do
    local ulp = numbers[c] == 0 and 0 or 2.0 ^ (math.floor(math.log(math.abs(numbers[c]), 2)) - 7)
    assert(math.abs(O[{ 0, 0, 0, c }] - numbers[c]) <= 0.51 * ulp, ("byte %d times %g: %g"):format(c % 256, scales[c // 128], O[{ 0, 0, 0, c }]))
  end
end
for _, dtype in ipairs { "bf16", "f16" } do
  local cache, O = wg.zeros("e4m3", { 1, 1, 576 }), wg.zeros(dtype, { 1, 1, 1, 512 })
  for c = 0, 253 do cache[{ 0, 0, c }] = latent.number_of(c < 127 and c or c + 1) end
  wg.mla_decode { heads = 1, cache_type = "e4m3", dtype = dtype }:run(wg.zeros(dtype, { 1, 1, 1, 576 }), cache, O, { scale = 1, backend = "sim" })
  for c = 0, 511 do check.equal(O[{ 0, 0, 0, c }], cache[{ 0, 0, c }]) end
end

check.refuses("wg.mla_decode: copies = `rows` is for caches of the type of Q", function() wg.mla_decode { copies = "rows", page = 16, cache_type = tiles } end)
check.refuses("wg.mla_decode: rows of fp8_ds_mla have columns of bf16: dtype must be that, not f16", function() wg.mla_decode { dtype = "f16", cache_type = tiles } end)
check.refuses("wg.mla_decode: unknown cache_type `e5m2` (legal: e4m3, fp8_ds_mla)", function() wg.mla_decode { cache_type = "e5m2" } end)
local made = { [tiles] = wg.mla_decode { heads = 2, cache_type = tiles }, e4m3 = wg.mla_decode { heads = 2, cache_type = "e4m3" } }
local function refuses(message, cache_type, cache, more)
  local values = { scale = 1, backend = "sim" }
  for key, value in pairs(more or {}) do values[key] = value end
  check.refuses(message, function() made[cache_type]:run(wg.zeros("bf16", { 1, 1, 2, 576 }), cache, wg.zeros("bf16", { 1, 1, 2, 512 }), values) end)
end
refuses("mla_decode: the cache must be u8, 1 x any x 656, not 1 x 8 x 576", tiles, wg.zeros("e4m3", { 1, 8, 576 }))
refuses("mla_decode: the cache must be e4m3, 1 x any x 576, not 1 x 8 x 656", "e4m3", wg.zeros("u8", { 1, 8, 656 }))
refuses('mla_decode: `descale` is given, but wg.mla_decode was made without `cache_type = "e4m3"`', tiles, wg.zeros("u8", { 1, 8, 656 }), { descale = wg.zeros("f32", { 1 }) })
refuses("mla_decode: descale must be f32, 1, not 2", "e4m3", wg.zeros("e4m3", { 1, 8, 576 }), { descale = wg.zeros("f32", { 2 }) })
