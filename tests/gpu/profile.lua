-- kernel:profile beside what is known otherwise: run with --backend=gpu or gpu-cuda on a device (tests/gpu/run.sh). On the simulator
-- everything but the times is checked.
local wg = require "wgrun"
local gpu = wg.backend ~= "sim"
local function expect(good, what, ...)
  if not good then error(what:format(...), 2) end
end

-- A pipeline of TMA copies and products: all roles, all kinds of stamps.
local block, stages = 64, 4
local K = gpu and 8192 or 1024
local tile = wg.tile { dtype = "bf16", mn = block, k = block, major = "K", swizzle = "128B" }
local pipeline = wg.kernel("profiled", { threads = 160 }, function(k)
  local A, B = k:tensor_map("A", { tile = tile }), k:tensor_map("B", { tile = tile })
  local D, Kp = k:param("D", "f32*"), k:param("K", "u32")
  local a = k:shared { tile = tile, count = stages, name = "a" }
  local b = k:shared { tile = tile, count = stages, name = "b" }
  local ring = k:pipeline { stages = stages, arrivals = 4, name = "ring" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  k:if_(thread:ge(128), function()
    k:if_(thread:eq(128), function()
      local cursor = ring:cursor()
      k:loop({ from = 0, to = Kp, step = block }, function(first)
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, 2 * tile.bytes)
        k:load_tile { tile = tile, map = A, to = k:address(a, cursor.stage * tile.bytes), mn = 0, k = first, barrier = barrier }
        k:load_tile { tile = tile, map = B, to = k:address(b, cursor.stage * tile.bytes), mn = 0, k = first, barrier = barrier }
        ring:advance(cursor)
      end)
    end)
  end, function()
    local acc = k:regs("f32", block // 2)
    for i = 0, #acc - 1 do k:mov(acc[i], 0) end
    local cursor = ring:cursor()
    k:loop({ from = 0, to = Kp, step = block }, function()
      ring:wait(cursor)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, a_offset = cursor.stage * tile.bytes, b_offset = cursor.stage * tile.bytes })
      k:wgmma_wait_group(0)
      ring:release(cursor, { lane = thread & 31 })
      ring:advance(cursor)
    end)
    k:store_accumulator(acc, { to = D, ld = block, row = 0, col = 0, rows = block, cols = block, vector = true })
  end)
end)

local A = wg.randn { shape = { block, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { block, K }, dtype = "bf16", seed = 2 }
local function launch(D) return { grid = { 1 }, args = { A, B, D, K } } end
local plain, noted = wg.zeros("f32", { block, block }), wg.zeros("f32", { block, block })
pipeline:run(launch(plain))
local t = pipeline:profile(launch(noted))
for i = 0, block - 1 do
  for j = 0, block - 1 do expect(plain[{ i, j }] == noted[{ i, j }], "a profile computes something else at %d, %d", i, j) end
end

local function count(t, kind)
  local n = 0
  for _, span in ipairs(t.spans) do
    if span.kind == kind then n = n + 1 end
  end
  return n
end
local function row(t, name)
  for i, r in ipairs(t.rows) do
    if r.name == name then return i end
  end
  error("no row " .. name .. "\n" .. t.text, 2)
end
expect(t.source == (gpu and "gpu" or "simulator"), "source %s", t.source)
expect(t.dropped == 0 and t.dropped_warps == 0, "%d stamps and %d warps were dropped", t.dropped, t.dropped_warps)
row(t, "producer")
row(t, "consumer")
local blocks = K // block
expect(count(t, "copy") == 2 * blocks, "%d copies of %d blocks", count(t, "copy"), blocks)
expect(count(t, "product") == blocks, "%d groups of products", count(t, "product"))
-- Each wait is within its CTA, after the one before, and what is waited for has begun before.
local last = {}
local first_copy = {}
for _, span in ipairs(t.spans) do
  expect(span.last >= span.first, "a span ends before it begins")
  if t.rows[span.row].exclusive then
    expect(span.first >= (last[span.row] or 0) - 1e-6 and span.last <= t.cycles + 1e-6, "%s at %g is not in its place", span.kind, span.first)
    last[span.row] = span.last
  elseif span.kind == "copy" then
    first_copy[span.what] = math.min(first_copy[span.what] or math.huge, span.first)
  end
end
for _, span in ipairs(t.spans) do
  if span.kind == "wait for copies" then
    expect((first_copy[span.what] or math.huge) < span.last, "%s is passed before it is copied", span.what)
  end
end
-- Room for less: the rest is counted. 2 waits or products a block, and the two barriers before and after.
local short = pipeline:profile { grid = { 1 }, args = { A, B, wg.zeros("f32", { block, block }), K }, events = 8 }
expect(short.dropped > 3 * blocks, "%d dropped", short.dropped)

-- The cost of a stamp: a loop of barriers with and without them.
local rounds = gpu and 1000 or 10
local barriers = wg.kernel("barriers", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local begin = k:special "tid.x"
  k:loop(rounds, function() k:bar_sync(1) end)
  k:st_global_b32(k:element(X, begin), begin)
end)
local X = wg.zeros("u32", { 64 })
local run = barriers:profile { grid = { 1 }, args = { X }, events = 2 * rounds }
expect(count(run, "wait at a barrier") == rounds, "%d barriers", count(run, "wait at a barrier"))
expect(count(run, "work") <= rounds + 1, "%d pieces of work", count(run, "work"))

-- Clusters: the CTAs of one lie on several SMs, whose clocks are brought together.
local cluster = wg.kernel("pairs", { threads = 32, cluster = 2 }, function(k)
  local X = k:param("X", "u32*")
  k:loop(50, function()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end)
  k:if_(k:special("tid.x"):eq(0), function() k:st_global_b32(k:element(X, k:special "ctaid.x"), 1) end)
end)
local pairs_ = cluster:profile { grid = { 4 }, args = { wg.zeros("u32", { 4 }) }, clusters = 2 }
row(pairs_, "cta 1 warp 0")
row(pairs_, "cta 3 warp 0")
if gpu then
  -- Both CTAs of a cluster pass its barrier at about the same time.
  local passed = { {}, {} }
  for _, span in ipairs(pairs_.spans) do
    local which = span.row == row(pairs_, "warp 0") and 1 or span.row == row(pairs_, "cta 1 warp 0") and 2
    if which and span.kind == "wait at a barrier" then table.insert(passed[which], span.last) end
  end
  local worst = 0
  for i = 1, #passed[1] do worst = math.max(worst, math.abs(passed[1][i] - passed[2][i])) end
  print(("clocks of two SMs: barriers of a cluster are passed within %.0f cycles of each other"):format(worst))
  expect(worst < 3000, "the clocks of two SMs are %g cycles apart", worst)
  expect(math.abs(t.ghz - 1.6) < 0.6, "%g GHz", t.ghz)

  -- The figures for docs/timeline.md.
  local per_round = run.cycles / rounds
  local begun = barriers:time { grid = { 1 }, args = { X }, rounds = 50 }
  print(("barriers: %.1f cycles each with stamps; without, %.2f us for %d of them in all"):format(per_round, begun.median_us, rounds))
  local timed = pipeline:time { grid = { 1 }, args = { A, B, wg.zeros("f32", { block, block }), K }, rounds = 50 }
  local model = pipeline:timeline(launch(wg.zeros("f32", { block, block })))
  print(("pipeline: %.2f us measured, %.2f us (%.0f cycles) noted, %.2f us (%.0f cycles) by the model"):format(timed.median_us,
    t.microseconds, t.cycles, model.microseconds, model.cycles))
  print(t.text)
  print(model.text)
end
print "profile: good"
