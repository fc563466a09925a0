-- wg.gemm{ groups = } on the simulator, beside sums in binary64: groups of uneven sizes, empty ones, those that end within
-- a tile. Rows of D that belong to no group stay as they are.
local wg = require "wgrun"
local check = require "check"

local function ceil_div(a, b) return (a + b - 1) // b end
local untouched = 72 -- what D holds before

-- `sizes`: the rows of each group; `room`: the rows that each has room for (masked, batched).
local function product(name, kind, sizes, N, K, opts, run)
  local room, starts, ends, total = run.room, {}, {}, 0
  for i, size in ipairs(sizes) do
    starts[i] = room and room * (i - 1) or total
    total = room and room * i or total + size
    ends[i] = total
  end
  local M = total + (run.more or 0)
  local dtype, groups = opts.dtype or "bf16", #sizes
  opts.groups = kind
  local A = wg.randn { shape = { M, K }, dtype = dtype, seed = 1 }
  local B = wg.randn { shape = { groups * N, K }, dtype = dtype, seed = 2 }
  local d = opts.d or "bf16"
  local D = wg.full(d, { M, N }, untouched)
  local given = { backend = "sim", grid = run.grid, seed = run.seed }
  if kind == "contiguous" then given.offsets = wg.tensor("s32", { groups }, ends) end
  if kind == "masked" then given.sizes = wg.tensor("s32", { groups }, sizes) end
  if kind == "batched" then given.count = groups end
  local blocks, scale_rows = ceil_div(K, 128), ceil_div(N, 128)
  if opts.scales then
    given.a_scales = wg.randn { shape = { blocks, ceil_div(M, 4) * 4 }, dtype = "f32", seed = 3 }
    given.b_scales = wg.randn { shape = { groups * scale_rows, blocks }, dtype = "f32", seed = 4 }
  end
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  gemm:run(A, B, D, given)
  local function sum_of(group, i, j)
    local b = (group - 1) * N + j
    if not opts.scales then return wg.dot(A, i * K, 1, B, b * K, 1, K), math.sqrt(K) end
    local sum, terms = 0, 0
    for block = 0, blocks - 1 do
      local first = 128 * block
      local x = wg.dot(A, i * K + first, 1, B, b * K + first, 1, math.min(128, K - first))
        * given.a_scales[{ block, i }] * given.b_scales[{ (group - 1) * scale_rows + j // 128, block }]
      sum, terms = sum + x, terms + math.abs(x)
    end
    return sum, terms
  end
  local owned = {}
  for group, size in ipairs(sizes) do
    for i = starts[group], starts[group] + size - 1 do
      owned[i] = true
      if i % 5 == 0 or i == starts[group] or i == starts[group] + size - 1 then
        for j = group % 3, N - 1, 7 do
          local want, terms = sum_of(group, i, j)
          local got = D[{ i, j }]
          assert(math.abs(got - want) <= (d == "e4m3" and 2 ^ -4 or 2 ^ -8) * (math.abs(want) + terms), ("%s: D[%d, %d] is %g, not %g"):format(name, i, j, got, want))
        end
      end
    end
  end
  for i = 0, M - 1 do
    if not owned[i] then
      for j = 0, N - 1, 3 do assert(D[{ i, j }] == untouched, ("%s: D[%d, %d], of no group, was written"):format(name, i, j)) end
    end
  end
end

local tile = { 128, 128 }
local blocks = { a = "1x128", b = "128x128" }
product("contiguous", "contiguous", { 130, 0, 7, 65, 0 }, 136, 136, { tile = tile }, { grid = 2, more = 9, seed = 1 })
product("many small groups", "contiguous", { 0, 0, 1, 2, 3, 0, 64 }, 72, 72, { tile = { 64, 64 } }, { grid = 3, seed = 2 })
local many = {} -- more than the lanes of a warp
for i = 1, 70 do many[i] = (i * 5 % 7 == 0 or i > 66) and 0 or i * 3 % 5 end
product("more groups than lanes", "contiguous", many, 24, 24, { tile = { 64, 16 } }, { grid = 3, more = 2, seed = 11 })
product("more groups than lanes, masked", "masked", many, 24, 24, { tile = { 64, 16 } }, { room = 4, grid = 2 })
product("more groups than lanes, batched", "batched", (function() local out = {} for i = 1, 40 do out[i] = 3 end return out end)(), 24, 24,
  { tile = { 64, 16 }, schedule = "pingpong" }, { room = 3, grid = 5 })
product("no rows at all", "contiguous", { 0, 0, 0 }, 72, 72, { tile = { 64, 64 } }, { grid = 1, more = 8 })
product("masked", "masked", { 130, 0, 7, 200 }, 136, 136, { tile = tile }, { room = 200, grid = 2, seed = 3 })
product("batched", "batched", { 100, 100, 100 }, 136, 136, { tile = tile, dtype = "f16", d = "f16" }, { room = 100, grid = 2 })
product("D of f32, panels of 64 bytes", "contiguous", { 33, 70 }, 80, 72, { tile = { 64, 80 }, d = "f32" }, { grid = 1 })
product("panels without a swizzle", "contiguous", { 33, 70, 64 }, 184, 72, { tile = { 128, 176 } }, { grid = 1 })
product("panels of three units", "contiguous", { 33, 70 }, 64, 72, { tile = { 64, 48 }, d = "e4m3" }, { grid = 1 })
product("operands of 8 bits", "contiguous", { 33, 70 }, 80, 80, { tile = { 64, 64 }, dtype = "e4m3", d = "bf16" }, { grid = 1 })
product("a cluster shares B", "contiguous", { 130, 0, 300 }, 136, 136, { tile = { 128, 64 }, cluster = 2 }, { grid = 2, seed = 4 })
product("three consumers", "masked", { 190, 3 }, 136, 136, { tile = { 192, 64 } }, { room = 200, grid = 1 })
product("tiles of one consumer", "contiguous", { 130, 0, 7, 65, 1 }, 136, 136, { tile = { 64, 64 }, schedule = "pingpong" }, { grid = 2, more = 9, seed = 8 })
product("tiles of one consumer, 128 rows", "masked", { 130, 0, 7, 200 }, 136, 72, { tile = { 128, 64 }, schedule = "pingpong" }, { room = 200, grid = 3, seed = 9 })
product("tiles of one consumer, clusters", "batched", { 200, 200 }, 136, 72, { tile = { 64, 128 }, schedule = "pingpong", cluster = 2 }, { room = 200, grid = 4, seed = 10 })
product("tiles of one consumer, fewer than consumers", "contiguous", { 0, 5 }, 64, 72, { tile = { 64, 64 }, schedule = "pingpong" }, { grid = 1 })
-- Where few CTAs have a tile in the last round, it is cut into a left and a right half.
product("halves in the last round", "contiguous", { 130, 0, 7, 65, 0 }, 136, 136, { tile = { 128, 128 }, buffers = 1, halves = true }, { grid = 6, more = 9, seed = 12 })
product("nothing but halves", "masked", { 130, 0, 7, 65, 1 }, 264, 72, { tile = { 64, 256 }, halves = true }, { room = 131, grid = 40, seed = 13 })
product("halves, more groups than lanes", "contiguous", many, 40, 24, { tile = { 64, 64 }, d = "f32", buffers = 1, halves = true }, { grid = 13, seed = 14 })
product("halves, scales", "contiguous", { 131, 2, 193 }, 264, 272, { dtype = "e4m3", scales = blocks, tile = { 128, 256 }, halves = true }, { grid = 9, more = 2, seed = 15 })
product("scales, contiguous", "contiguous", { 130, 0, 7, 65 }, 200, 272, { dtype = "e4m3", scales = blocks, tile = { 128, 96 } }, { grid = 2, more = 3, seed = 5 })
product("scales, three consumers", "contiguous", { 131, 2, 1, 193 }, 136, 272, { dtype = "e4m3", scales = blocks, tile = { 192, 128 } }, { grid = 1, seed = 7 })
product("scales, 256 rows", "contiguous", { 131, 2, 1, 0, 293 }, 136, 272, { dtype = "e4m3", scales = blocks, tile = { 256, 128 } }, { grid = 2, more = 3, seed = 16 })
product("scales, 256 rows, a cluster shares A", "masked", { 131, 0, 3, 260 }, 264, 400, { dtype = "e4m3", scales = blocks, tile = { 256, 128 }, cluster = { 1, 2 } }, { room = 261, grid = 4, seed = 17 })
product("scales, a cluster of four", "contiguous", { 131, 0, 3, 260 }, 200, 144, { dtype = "e4m3", scales = blocks, tile = { 64, 64 }, cluster = { 2, 2 } }, { grid = 8, more = 5, seed = 18 })
product("a cluster shares A", "contiguous", { 130, 0, 300 }, 200, 136, { tile = { 128, 64 }, cluster = { 1, 2 } }, { grid = 4, seed = 19 })
product("scales, more groups than lanes", "contiguous", many, 136, 144, { dtype = "e4m3", scales = blocks, tile = { 128, 64 } }, { grid = 3, more = 2, seed = 20 })
product("scales, no rows at all", "masked", { 0, 0, 0 }, 136, 144, { dtype = "e4m3", scales = blocks, tile = { 128, 64 } }, { room = 4, grid = 2, seed = 21 })
product("scales, masked", "masked", { 130, 0, 7, 65 }, 264, 400, { dtype = "e4m3", scales = blocks, tile = { 128, 256 } }, { room = 131, grid = 1, seed = 6 })
product("scales, batched", "batched", { 70, 70 }, 136, 144, { dtype = "e5m2", scales = blocks, tile = { 64, 128 } }, { room = 70, grid = 1 })

-- What the device says is kept within the matrix.
local wild = wg.gemm { groups = "contiguous", tile = { 64, 64 } }
local A, B, D = wg.zeros("bf16", { 100, 64 }), wg.zeros("bf16", { 3 * 64, 64 }), wg.zeros("bf16", { 100, 64 })
wild:run(A, B, D, { offsets = wg.tensor("s32", { 3 }, { 1000, -5, 3 }), backend = "sim", grid = 1 })

local function refuses(message, given) check.refuses(message, function() wild:run(A, B, D, given) end) end
refuses("gemm: offsets must be a vector of s32, one for each group", {})
refuses('gemm: `sizes` is given, but not of a wg.gemm{ groups = "contiguous" }', { sizes = wg.zeros("s32", { 3 }) })
refuses("gemm: B has 192 rows, no multiple of the 5 groups", { offsets = wg.zeros("s32", { 5 }) })
local masked = wg.gemm { groups = "masked", tile = { 64, 64 } }
check.refuses("gemm: A has 100 rows, no multiple of the 3 groups", function() masked:run(A, B, D, { sizes = wg.zeros("s32", { 3 }) }) end)
check.refuses("wg.gemm: unknown groups `some` (legal: contiguous, masked, batched)", function() wg.gemm { groups = "some" } end)
assert(wg.gemm({ groups = "contiguous", problem = { 4096, 4096, 7168, 64 } }).plan.m == 64)
assert(wg.gemm({ groups = "contiguous", problem = { 32768, 7168, 2048, 4 } }).plan.schedule == "pingpong")
for _, opts in ipairs { { tile = { 128, 192 } }, { tile = { 128, 256 }, cluster = 2 }, { tile = { 64, 256 }, schedule = "pingpong" } } do
  opts.groups, opts.halves = "masked", true
  check.refuses("wg.gemm: `halves` with groups requires the cooperative schedule, no cluster, a plain epilogue and a tile whose columns halve, "
    .. "such as 256; tile[2] is " .. opts.tile[2], function() wg.gemm(opts) end)
end
check.refuses("wg.gemm: halves must be true or false, not 1", function() wg.gemm { groups = "masked", halves = 1 } end)
check.refuses("wg.gemm: `groups` excludes an MN-major B: a group is rows of A, and of B, in memory", function() wg.gemm { groups = "masked", b_major = "MN" } end)
check.refuses("wg.gemm: `groups` excludes `epilogue.bias`: they are the same for all groups, or are read by whole tiles", function() wg.gemm { groups = "masked", epilogue = { bias = "column" } } end)
local rows = { a = "row" }
check.refuses("wg.gemm: `groups` excludes scales of rows: they are the same for all groups, or are read by whole tiles", function() wg.gemm { groups = "masked", dtype = "e4m3", scales = rows } end)
local tuned = { gemm = { groups = "masked", problem = { 64, 64, 64, 100 } } } -- more groups than rows: some are empty
check.refuses("wg.tune: the sizes of groups are data of a launch: wg.tune{ build = } for a grouped product", function() wg.tune(tuned) end)
