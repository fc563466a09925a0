-- Orders of tiles, and slices of K: every tile once, sums in a fixed order.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

-- Hilbert's curve visits each place once; in a square each step goes to a neighbour.
for _, extents in ipairs { { 1, 1 }, { 8, 8 }, { 3, 7 }, { 20, 5 }, { 1, 9 }, { 16, 16 } } do
  local rows, columns = extents[1], extents[2]
  local list, seen, far = wg.hilbert(rows, columns), {}, 0
  check.equal(#list, rows * columns)
  local row, column
  for _, entry in ipairs(list) do
    local r, c = entry >> 16, entry & 0xFFFF
    assert(r < rows and c < columns and not seen[entry])
    seen[entry] = true
    if row and math.abs(r - row) + math.abs(c - column) ~= 1 then far = far + 1 end
    row, column = r, c
  end
  if rows == columns then check.equal(far, 0) end
end
check.refuses("wg.hilbert: rows is 0, must be an integer from 1 to 65535", function() wg.hilbert(0, 4) end)

-- D = A * B under several seeds: right, and the same each time.
local function product(name, M, N, K, opts, seeds)
  local dtype = opts.dtype or "bf16"
  local A, B = multiplying.random(dtype, { M, K }, 1), multiplying.random(dtype, { N, K }, 2)
  local gemm = wg.gemm(opts)
  assert(#gemm.kernel:check() == 0, name)
  multiplying.each_seed(name, seeds or 3, function(seed)
    local D = wg.zeros(gemm.plan.d, { M, N })
    gemm:run(A, B, D, { seed = seed })
    return D
  end, function(i, j)
    local want = multiplying.dot(A, B, K, i, j)
    return want, multiplying.allowed(want, K)
  end)
  return gemm
end

local tile = { 64, 128 }
product("along Hilbert's curve", 264, 520, 64, { tile = tile, raster = "hilbert" })
product("Hilbert, ping-pong, cluster", 264, 392, 128, { tile = { 64, 128 }, schedule = "pingpong", raster = "hilbert", cluster = 2, stages = 3 })
product("two parts", 136, 264, 256, { tile = { 128, 256 }, splits = 2 })
product("parts of unequal length", 64, 128, 64 * 7, { tile = tile, splits = 3 })
product("five parts, cluster", 128, 128, 64 * 11, { tile = tile, splits = 5, cluster = 2 })
product("integers", 72, 136, 384, { dtype = "s8", tile = tile, splits = 3 })
product("few rows", 9, 72, 512, { problem = { 9, 72, 512 }, splits = 2 })
product("an epilogue once", 64, 128, 512, { tile = tile, splits = 4, d = "f32", raster = "hilbert", epilogue = { alpha = true } })

-- The counters are zero again: the next launch of the same kernel works, also of another size.
local gemm = wg.gemm { tile = tile, splits = 2 }
for _, M in ipairs { 64, 64, 128, 64 } do
  local A, B, D = wg.randn { shape = { M, 128 }, dtype = "bf16", seed = M }, wg.randn { shape = { 128, 128 }, dtype = "bf16", seed = 2 }, wg.zeros("bf16", { M, 128 })
  gemm:run(A, B, D)
  check.near(D[{ M - 1, 7 }], wg.dot(A, (M - 1) * 128, 1, B, 7 * 128, 1, 128), 0.3)
end

-- So does one launch that is started again and again.
local A, B, D = wg.randn { shape = { 64, 256 }, dtype = "bf16", seed = 5 }, wg.randn { shape = { 128, 256 }, dtype = "bf16", seed = 6 }, wg.zeros("bf16", { 64, 128 })
local launch = gemm:prepare(A, B, D)
for _ = 1, 3 do launch:start() end
launch:download()
check.near(D[{ 11, 7 }], wg.dot(A, 11 * 256, 1, B, 7 * 256, 1, 256), 0.3)

-- Stream-K: the tiles that fill no whole round of so many CTAs are cut by blocks of K, once each at most.
local function streamed(name, M, N, K, ctas, opts)
  opts.stream_k = true
  local gemm = wg.gemm(opts)
  local A, B = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }, wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
  multiplying.each_seed(name, 3, function(seed)
    local D = wg.zeros("bf16", { M, N })
    local launch = gemm:launch(A, B, D)
    launch.grid, launch.seed, launch.flops, launch.backend = { ctas }, seed, nil, "sim"
    gemm.kernel:run(launch)
    return D
  end, function(i, j)
    local want = multiplying.dot(A, B, K, i, j)
    return want, multiplying.allowed(want, K)
  end)
end

streamed("five tiles for four CTAs", 320, 64, 256, 4, { tile = { 64, 64 } })
streamed("seven blocks, unequal shares", 320, 64, 448, 3, { tile = { 64, 64 } })
streamed("an edge of K", 448, 64, 200, 4, { tile = { 64, 64 } })
streamed("one block a tile", 512, 64, 64, 3, { tile = { 64, 64 } })
streamed("whole rounds", 512, 64, 128, 4, { tile = { 64, 64 } })
streamed("fewer tiles than CTAs", 128, 64, 128, 4, { tile = { 64, 64 } })
streamed("two consumers, an epilogue", 640, 128, 192, 3, { tile = { 128, 128 }, raster = "hilbert", epilogue = { alpha = true } })
check.refuses("wg.gemm: stream_k must be true or false, not 1", function() wg.gemm { stream_k = 1 } end)
check.refuses("wg.gemm: `stream_k` excludes the pingpong schedule: CTAs that share a tile must not wait for others", function() wg.gemm { stream_k = true, schedule = "pingpong" } end)

-- What k:each_tile says of the tile that follows is what it says of that tile later.
local function followed(name, ctas, opts)
  local function write(k, at, values)
    for i, value in ipairs(values) do k:st_global_u32(at, value, { offset = 4 * (i - 1) }) end
  end
  local cuts = opts.last_splits
  local walk = wg.kernel("walk", { threads = 32 }, function(k)
    local out, M, N = k:param("out", "u32*"), k:param("M", "u32"), k:param("N", "u32")
    local visit = k:mov(0, { type = "u32" })
    local tiles = { m = 64, n = 64, rows = M, columns = N, group = 2 }
    for key, value in pairs(opts) do tiles[key] = value end
    k:each_tile(tiles, function(place, part, number, cut, following)
      local function of(at, its_part, its_number, its_cut)
        local row, column = at()
        if not cuts then return { row, column, 0, 0 } end
        return { row, column, k:selp_b32(its_part, 0, its_cut, { type = "u32" }), k:selp_b32(its_number, 0, its_cut, { type = "u32" }) }
      end
      local at = k:element(out, (k:special "ctaid.x" * 16 + visit) * 8)
      write(k, at, of(place, part, number, cut))
      write(k, at + 16, of(following()))
      k:add(visit, visit, 1)
    end)
  end)
  assert(#walk:check() == 0, name)
  local out = wg.tensor("u32", { ctas, 16, 8 })
  for i = 0, ctas * 16 - 1 do out[{ i // 16, i % 16, 0 }] = 0xFFFF end
  walk:run { grid = ctas, args = { out, 320, 192 }, backend = "sim" }
  local visits = 0
  for cta = 0, ctas - 1 do
    for visit = 0, 15 do
      if out[{ cta, visit, 0 }] ~= 0xFFFF then
        visits = visits + 1
        for i = 0, 3 do
          local there = visit < 15 and out[{ cta, visit + 1, 0 }] ~= 0xFFFF
          if there then check.equal(out[{ cta, visit, 4 + i }], out[{ cta, visit + 1, i }]) end
        end
      end
    end
  end
  return visits
end
check.equal(followed("whole tiles", 4, {}), 15)
check.equal(followed("slices of K in the last round", 7, { last_splits = 3 }), 17)
check.equal(followed("upper and lower halves", 7, { halves = true }), 16)

-- The model splits K where few tiles would leave the chip idle, and only there.
local function splits(M, N, K, opts)
  opts = opts or {}
  opts.problem = { M, N, K }
  return wg.gemm(opts).plan.splits
end
assert(splits(256, 256, 16384) > 1)
assert(splits(16, 1024, 8192) > 1)
check.equal(splits(256, 256, 128), 1)
for _, problem in ipairs { { 1024, 1024, 1024 }, { 4096, 4096, 14336 }, { 16, 8192, 8192 } } do
  check.equal(splits(table.unpack(problem)), 1)
end

check.equal(wg.gemm { schedule = "pingpong" }.plan.m, 128)
check.refuses_in_kernel("unknown option `raster` of k:each_tile (legal: m, n, rows, columns, cluster, group, order, splits, passes, first, every, halves, last_splits)", function(k) k:each_tile({ raster = 1 }, print) end)
check.refuses_in_kernel("unknown option `splits` of k:each_piece (legal: m, n, rows, columns, group, order, K, block)", function(k) k:each_piece({ splits = 1 }, print) end)
check.refuses_in_kernel("k:each_tile: option `m` is missing", function(k) k:each_tile({}, print) end)
check.refuses_in_kernel("k:each_tile: splits is 0, must be an integer from 1 to 65535", function(k) k:each_tile({ m = 64, n = 64, splits = 0 }, print) end)
check.refuses_in_kernel("k:each_tile: `passes` excludes `splits`, `last_splits` and `halves`", function(k) k:each_tile({ m = 64, n = 64, rows = k:reg "u32", columns = k:reg "u32", passes = 2, halves = true }, print) end)
check.refuses_in_kernel("k:each_tile: `last_splits` excludes `splits` and `halves`", function(k) k:each_tile({ m = 64, n = 64, rows = k:reg "u32", columns = k:reg "u32", splits = 2, last_splits = 2 }, print) end)
check.refuses_in_kernel("k:each_tile, rows: expected a register, got number", function(k) k:each_tile({ m = 64, n = 64, rows = 7, columns = k:reg "u32" }, print) end)
check.refuses_in_kernel("unknown option `of` of k:part_of_k (legal: K, block, part, splits)", function(k) k:part_of_k { of = 1 } end)
check.refuses_in_kernel("unknown option `to` of k:sum_parts (legal: acc, partials, counters, tile, first, part, splits, early, barrier, flag)", function(k) k:sum_parts { to = 1 } end)
-- Options of k:sum_parts, some of them others.
local function sums(k, change)
  local options = {
    acc = { k:regs("f32", 8) }, partials = k:param("partials", "f32*"), counters = k:param("counters", "u32*"), tile = k:reg "u32", part = k:reg "u32",
    splits = 2, barrier = 1, flag = k:reg "u32",
  }
  for key, value in pairs(change) do options[key] = value end
  return options
end
check.refuses_in_kernel("k:sum_parts: `acc` must be a list of register arrays", function(k) k:sum_parts(sums(k, { acc = {} })) end)
check.refuses_in_kernel("k:sum_parts: splits is 1, must be an integer from 2 to 65535", function(k) k:sum_parts(sums(k, { splits = 1 })) end)
check.refuses("wg.gemm: `splits` excludes the pingpong schedule: consumers with tiles of their own do not share the sums of one", function() wg.gemm { schedule = "pingpong", splits = 2 } end)
check.refuses("wg.gemm: splits is 0, must be an integer from 1 to 64", function() wg.gemm { splits = 0 } end)
check.refuses("wg.gemm: unknown raster `spiral` (legal: grouped, hilbert)", function() wg.gemm { raster = "spiral" } end)
check.refuses("wg.gemm: tile[1] is 320, must be a multiple of 128 for cooperative", function() wg.gemm { tile = { 320, 128 } } end)
check.refuses("wg.gemm: tile[1] is 0, must be an integer from 64 to 512", function() wg.gemm { tile = { 0, 128 } } end)
check.refuses("wg.gemm: a tile of 256 x 256, cooperative, takes 256 accumulators a thread: at most 208 fit", function() wg.gemm { tile = { 256, 256 } } end)
check.refuses("wg.gemm: problem[3] is 0, must be an integer from 1 to 2147483647", function() wg.gemm { problem = { 8, 8, 0 } } end)
check.refuses("wg.gemm: stages is 9, must be an integer from 2 to 4", function() wg.gemm { tile = { 128, 256 }, stages = 9 } end)
local A, B, D = wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 128, 64 }), wg.zeros("bf16", { 64, 128 })
check.refuses("gemm: K is 64, 1 block of 64: too few for 2 splits: wg.gemm{ splits = 1 }", function() gemm:run(A, B, D) end)

-- A workspace has room for the CTAs that the launch counts.
do
  local gemm = wg.gemm { tile = { 64, 64 }, stream_k = true, problem = { 320, 64, 256 } }
  local A, B, D = wg.zeros("bf16", { 320, 256 }), wg.zeros("bf16", { 64, 256 }), wg.zeros("bf16", { 320, 64 })
  check.refuses("gemm:run: grid is 500 CTAs, at most 5 with `stream_k`", function() gemm:run(A, B, D, { grid = 500 }) end)
  check.refuses("gemm:time: grid is 6 CTAs, at most 5 with `stream_k`", function() gemm:time(A, B, D, { grid = { 6 } }) end)
  gemm:run(A, B, D, { grid = 4, backend = "sim" })
end

-- A launch may be given some of the SMs: whole clusters of them.
do
  local A, D = wg.zeros("bf16", { 2048, 64 }), wg.zeros("bf16", { 2048, 2048 })
  local function made(opts)
    opts.tile = { 128, 128 }
    return wg.gemm(opts)
  end
  local function grid(opts, sms) return made(opts):launch(A, A, D, { sms = sms }).grid[1] end
  check.equal({ grid({}, 33), grid({}, 1000), grid({ cluster = 2 }, 33), grid({ stream_k = true }, 20) }, { 33, grid {}, 32, 20 })
  local pairs_of_ctas = made { cluster = 2 }
  check.refuses("gemm: sms is 1, but a cluster has 2 CTAs", function() pairs_of_ctas:launch(A, A, D, { sms = 1 }) end)
  local few, weights = wg.gemm { b_type = "s4", tile = { 64, 16, 128 } }, wg.prepack(wg.zeros("u8", { 256, 128 }), "s4")
  local x, y = wg.zeros("bf16", { 16, 256 }), { b_scales = wg.zeros("bf16", { 2, 256 }), sms = 8 }
  check.refuses("gemm: `sms` is given, but the kernel has a CTA for each tile", function() few:launch(x, weights, x, y) end)
end

-- A hot chip is limited by its power, so that the plan takes other tiles: there ping-pong was faster. What the schedule excludes decides first.
local large = { 8192, 8192, 8192 }
local function schedule(opts)
  opts.problem = large
  return wg.gemm(opts).plan.schedule
end
check.equal(schedule {}, "pingpong")
check.equal(schedule { heat = "hot" }, "pingpong")
check.equal(schedule { heat = "cool" }, "cooperative")
check.equal(schedule { stream_k = true }, "cooperative")
check.equal(schedule { splits = 2 }, "cooperative")
check.refuses("wg.gemm: unknown heat `warm` (legal: hot, cool)", function() wg.gemm { heat = "warm" } end)
