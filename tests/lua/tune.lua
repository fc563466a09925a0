-- wg.tune on the simulator: tiny problems; what it tries, keeps, skips and gives back.
local wg = require "wgrun"
local check = require "check"

local path = os.tmpname()
os.remove(path)
local function lines()
  local count, file = 0, io.open(path)
  if not file then return 0 end
  for _ in file:lines() do count = count + 1 end
  file:close()
  return count
end

-- A builder of one's own: a kernel that takes as long as it is told, counted.
local built = 0
local function build(options)
  built = built + 1
  if options.n == 0 then return nil, "nothing to do" end
  if options.n == 13 then wg.tile { dtype = "bf16", mn = 64, k = 64, swizzle = "13B" } end
  local kernel = wg.kernel("spin", { threads = 32 }, function(k)
    local D = k:param("D", "u32*")
    local sum = k:mov(0, { type = "u32" })
    k:loop(options.n, function(i) k:add(sum, sum, i) end)
    k:st_global_u32(D, sum)
  end)
  return kernel, { args = { wg.zeros("u32", { 1 }) } }
end
local search = {
  name = "spin", build = build, rounds = 3, backend = "sim", cache = path,
  candidates = { { n = 200000 }, { n = 0 }, { n = 10, name = 'a "name"\n' }, { n = 13 } },
}
local best, report = wg.tune(search)
check.equal(best, { n = 10, name = 'a "name"\n' })
check.equal(#report.results, 2)
assert(report.results[1].median_us < report.results[2].median_us and not report.results[1].cached)
check.equal(report.skipped[1], { options = { n = 0 }, reason = "nothing to do", index = 2 })
assert(report.skipped[2].reason:find("13B", 1, true), report.skipped[2].reason)
check.equal(report.cache, path)
check.equal(lines(), 3) -- a header and what was measured
check.equal(built, 4)

-- A second search measures only what is new.
search.candidates[5] = { n = 100000 }
local again, second = wg.tune(search)
check.equal(again, best)
check.equal(built, 4 + 3) -- the two that cannot be measured, and the new one
check.equal(lines(), 4)
assert(second.results[1].cached and second.results[1].median_us == report.results[1].median_us)

-- Another name is another search; without a cache nothing is kept.
search.name = "other"
wg.tune(search)
check.equal(lines(), 7)
search.cache, built = false, 0
wg.tune(search)
check.equal(built, 5)

-- A damaged file is no file.
io.open(path, "w"):write("something else\n"):close()
search.cache = path
wg.tune(search)
check.equal(lines(), 4)

-- An interrupt ends the search, and what was measured is kept.
search.name, built = "stopped", 0
search.candidates = { { n = 1 }, { n = 2 }, { n = 3 } }
search.build = function(options)
  if options.n == 2 then error { code = "EINTR", message = "interrupted" } end
  return build(options)
end
local good, problem = pcall(wg.tune, search)
assert(not good and problem.code == "EINTR")
check.equal(lines(), 5)

-- wg.gemm: the winner can be given to it, and candidates that cannot be are skipped.
local problem_of = { dtype = "f16", problem = { 192, 128, 128 }, epilogue = { alpha = true, beta = true, bias = "row" } }
local options, found = wg.tune {
  gemm = problem_of, backend = "sim", rounds = 1, cache = path,
  candidates = { {}, { tile = { 64, 64 } }, { tile = { 64, 128 }, splits = 2 }, { tile = { 128, 512 } } },
}
check.equal(options.problem, { 192, 128, 128 })
check.equal(#found.results, 3)
check.equal(found.skipped[1].reason, "wg.gemm: tile[2] is 512, must be an integer from 8 to 256")
check.equal(wg.gemm(options).plan.dtype, "f16")
check.equal(problem_of.tile, nil)

-- The space that it searches by itself, on problems of a tile or two.
for _, gemm in ipairs { { problem = { 16, 64, 256 } }, { problem = { 160, 64, 64 } }, { problem = { 16, 64, 64 }, dtype = "tf32" } } do
  local _, whole = wg.tune { gemm = gemm, backend = "sim", rounds = 1, cache = false }
  assert(#whole.results > 5)
  for _, skipped in ipairs(whole.skipped) do assert(skipped.reason:find "^wg.gemm" or skipped.reason:find "^gemm" or skipped.reason:find "cluster", skipped.reason) end
end
os.remove(path)
local of_blocks = { dtype = "e4m3", problem = { 64, 64, 512 }, scales = { a = "1x128", b = "128x128" } }
local _, of_parts = wg.tune { gemm = of_blocks, backend = "sim", rounds = 1, cache = false }
local parts = {}
for _, result in ipairs(of_parts.results) do parts[result.candidate.last_splits or 1] = true end
check.equal(parts, { true, true, true, true })

-- What a fused epilogue reads and writes is made for it.
local fused = { dtype = "e4m3", d = "e4m3", problem = { 64, 128, 64 }, scales = { b = "row" }, epilogue = { gate = "silu", quantize = "1x128", row_sums = "rms" } }
local _, of_fused = wg.tune { gemm = fused, backend = "sim", rounds = 1, cache = false, candidates = { { tile = { 64, 128 } } } }
check.equal(#of_fused.results, 1)

-- The cost model as the measure, and results that are wrong.
local _, modelled = wg.tune { name = "spin", build = build, measure = "model", cache = false, candidates = { { n = 20 }, { n = 2 } } }
check.equal(modelled.results[1].candidate, { n = 2 })
local _, verified = wg.tune {
  name = "spin", build = build, backend = "sim", rounds = 1, cache = false, candidates = { { n = 3 }, { n = 4 }, { n = 5 } },
  verify = function(_, launch, o) return launch.args[1][0] == 3, o.n == 4 and "six is right" or nil end,
}
check.equal(#verified.results, 1)
check.equal(verified.results[1].candidate, { n = 3 })
check.equal(verified.skipped[1], { options = { n = 4 }, reason = "the result is wrong: six is right", index = 2 })
check.equal(verified.skipped[2].reason, "the result is wrong")

-- What `wgrun tune` takes: candidates that are built one by one, and what tells one from another.
local tuning = wg.tuning { name = "spin", build = build, space = { n = { 1, 2 }, tile = { { 1, 2 } } } }
check.equal(wg.tuning(tuning), tuning)
check.equal(tuning:text(2), "n = 2, tile = 1x2")
local kernel, launch = tuning:build(2)
local content = tuning:content(kernel, launch)
assert(content:find("u32[1]", 1, true) and content:find(".visible .entry spin", 1, true), content)
assert(content ~= tuning:content(tuning:build(1)))
check.equal(content, tuning:content(tuning:build(2)))
assert(tuning:model(kernel, launch) > 0)

check.refuses('wg.tune: unknown measure `5` (legal: time, model)', function() wg.tune { name = "x", build = build, measure = 5 } end)
check.refuses("wg.tune: option `verify`: expected a function, got number 5", function() wg.tune { name = "x", build = build, verify = 5 } end)
check.refuses("wg.tune: candidates[2] must be a table of options", function() wg.tuning { name = "x", build = build, candidates = { {}, 5 } } end)
-- With few tiles the candidates leave what the options say as it is.
local function candidates_of(gemm)
  local _, tried = wg.tune { gemm = gemm, measure = "model", cache = false }
  assert(#tried.results > 1)
  return tried.results
end
for _, result in ipairs(candidates_of { problem = { 128, 64, 256 }, splits = 2, swap_ab = true }) do
  assert(result.options.splits == nil or result.options.splits == 2)
  assert(result.options.swap_ab ~= false and result.options.cluster == nil)
end
for _, result in ipairs(candidates_of { problem = { 128, 64, 512 }, tile = { 64, 64 }, swap_ab = false }) do
  local tile = result.options.tile
  assert(not tile or tile[1] == 64 and tile[2] == 64)
end
for _, result in ipairs(candidates_of { problem = { 256, 64, 256 }, cluster = 2 }) do assert(result.options.cluster == 2) end
-- Weights of another type, in candidates of their own.
local of_weights = { b_type = "u4", zeros = true, problem = { 16, 64, 1024 }, epilogue = { bias = "column" } }
local best, tried = wg.tune { gemm = of_weights, backend = "sim", rounds = 1, cache = false }
check.equal(wg.gemm(best).plan.b_type, "u4")
assert(#tried.skipped < 12, "most candidates fit")
local fp4 = wg.tune { gemm = { b_type = "nvfp4", problem = { 5, 64, 256 } }, backend = "sim", rounds = 1, cache = false }
check.equal(wg.gemm(fp4).plan.b_type, "nvfp4")
local of_e4m3 = { a_type = "e4m3", b_type = "mxfp4", scales = { a = "row" }, problem = { 5, 64, 256 } }
local tuned = wg.tune { gemm = of_e4m3, backend = "sim", rounds = 1, cache = false }
check.equal(wg.gemm(tuned).plan.dtype, "e4m3")
candidates_of { dtype = "f32", precision = "3xtf32", problem = { 100, 64, 64 } } -- of parts

check.refuses("wg.tune: either `gemm` (options of wg.gemm) or `build` (a function) must be given", function() wg.tune {} end)
check.refuses("wg.tune: `gemm` needs a `problem` = { M, N, K }", function() wg.tune { gemm = {} } end)
check.refuses("wg.tune: `build` needs a `name`, under which its results are kept", function() wg.tune { build = build } end)
check.refuses("wg.tune: `candidates` must be a list of tables of options", function() wg.tune { build = build, name = "x" } end)
check.refuses("wg.tune: none of 1 candidates works; the first: nothing to do", function() wg.tune { build = build, name = "x", cache = false, candidates = { { n = 0 } } } end)
check.refuses("unknown option `round` of wg.tune: did you mean `rounds`? (legal: gemm, name, build, candidates, space, rounds, backend, measure, verify, cache)", function() wg.tune { round = 1 } end)
