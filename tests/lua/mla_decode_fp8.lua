-- wg.mla_decode with caches of 8-bit floats: elements become what their scale makes of them, rounded to bf16.
local wg = require "wgrun"
local check = require "check"
local attend = require "latent"

local tiles = "fp8_ds_mla"
attend("one key", { heads = 1, cache_type = tiles }, { 1 }, 1)
attend("lengths of all kinds", { heads = 16, step = 5, cache_type = tiles }, { 200, 1, 0, 65, 128 }, 3)
attend("two CTAs of rows, two queries, pages of 64", { heads = 64, queries = 2, step = 21, page = 64, cache_type = tiles }, { 130, 1, 64, 366 }, 4)
attend("one sequence in many parts", { heads = 8, step = 3, page = 128, cache_type = tiles }, { 700 }, 7)
attend("pages of one key", { heads = 2, page = 1, cache_type = tiles }, { 100, 0, 3 }, 3)
attend("pages of 24", { heads = 2, page = 24, cache_type = tiles }, { 100, 3 }, 3)
attend("pages of 16, four schedules", { heads = 8, page = 16, step = 3, cache_type = tiles }, { 300, 128, 0, 17 }, 5, 4)
