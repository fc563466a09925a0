-- kernel:timeline: what the model of time says of pipelines whose limit is known beforehand.
local wg = require "wgrun"
local check = require "check"

local block = 64
local tile = wg.tile { dtype = "bf16", mn = block, k = block, major = "K", swizzle = "128B" }

-- A product of 64 x 64 by a producer warp and a consumer warpgroup. `slow` names who is held up by arithmetic.
local function pipeline(slow, stages)
  local function idle(k, role)
    if slow ~= role then return end
    local x = k:mov(1.0, { type = "f32" })
    for _ = 1, 600 do x = k:fma(x, x, x) end -- each waits for the one before
  end
  return wg.kernel("pipeline_" .. (slow or "even"), { threads = 160 }, function(k)
    local A, B = k:tensor_map("A", { tile = tile }), k:tensor_map("B", { tile = tile })
    local D, K = k:param("D", "f32*"), k:param("K", "u32")
    local a = k:shared { tile = tile, count = stages, name = "a" }
    local b = k:shared { tile = tile, count = stages, name = "b" }
    local ring = k:pipeline { stages = stages, arrivals = 4, name = "ring" }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function() ring:init() end)
    k:bar_sync(0)
    k:if_(thread:ge(128), function()
      k:if_(thread:eq(128), function()
        local cursor = ring:cursor()
        k:loop({ from = 0, to = K, step = block }, function(first_k)
          idle(k, "producer")
          ring:acquire(cursor)
          local barrier = ring:expect(cursor, 2 * tile.bytes)
          k:load_tile { tile = tile, map = A, to = k:address(a, cursor.stage * tile.bytes), mn = 0, k = first_k, barrier = barrier }
          k:load_tile { tile = tile, map = B, to = k:address(b, cursor.stage * tile.bytes), mn = 0, k = first_k, barrier = barrier }
          ring:advance(cursor)
        end)
      end)
    end, function()
      local acc = k:regs("f32", block // 2)
      for i = 0, #acc - 1 do k:mov(acc[i], 0) end
      local cursor = ring:cursor()
      k:loop({ from = 0, to = K, step = block }, function()
        ring:wait(cursor)
        k:wgmma_fence()
        k:mma(acc, { a = a, b = b, a_offset = cursor.stage * tile.bytes, b_offset = cursor.stage * tile.bytes })
        k:wgmma_wait_group(0)
        idle(k, "consumer")
        ring:release(cursor, { lane = thread & 31 })
        ring:advance(cursor)
      end)
      k:store_accumulator(acc, { to = D, ld = block, row = 0, col = 0, rows = block, cols = block, vector = true })
    end)
  end)
end

local K = 1024
local A = wg.randn { shape = { block, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { block, K }, dtype = "bf16", seed = 2 }
local function timeline(slow, stages, seed)
  return pipeline(slow, stages):timeline { grid = { 1 }, args = { A, B, wg.zeros("f32", { block, block }), K }, seed = seed }
end

local function row(t, name)
  for i, row in ipairs(t.rows) do
    if row.name == name then return i end
  end
  error("no row " .. name, 2)
end

local function total(t, name, kind)
  local out, index = 0, row(t, name)
  for _, span in ipairs(t.spans) do
    if span.row == index and span.kind == kind then out = out + span.last - span.first end
  end
  return out
end

-- Who is slow is named, and the other waits.
local consumers = timeline("consumer", 4)
check.equal(consumers.verdict[1]:match "^producer waits for empty stages %(ring_empty%) %d+ %% of the time", consumers.verdict[1]:match "^[^(]*%([^)]*%) %d+ %% of the time")
check.equal(consumers.verdict[1]:match ": (the consumers are the limit)$", "the consumers are the limit")
check.equal(total(consumers, "producer", "wait for arrivals") > 0.5 * consumers.cycles, true)
check.equal(total(consumers, "consumer", "wait for copies") < 0.2 * consumers.cycles, true)

local producer = timeline("producer", 4)
check.equal(producer.verdict[1]:match "^consumer waits for full stages %(ring_full%)", "consumer waits for full stages (ring_full)")
check.equal(producer.verdict[1]:match ": (the producer is the limit)$", "the producer is the limit")
check.equal(total(producer, "producer", "wait for arrivals") < 0.1 * producer.cycles, true)
check.equal(total(producer, "consumer", "wait for copies") > 0.5 * producer.cycles, true)

-- One stage hides nothing of the time that a copy takes.
local one, four = timeline(nil, 1), timeline(nil, 4)
check.equal(one.cycles > 1.5 * four.cycles, true)
check.equal(one.verdict[1]:match ": (the time that a copy takes is the limit: more stages would hide it)$" ~= nil, true)
-- The waits follow the limit, the longest first, and then the engines, the busier one first.
local shares = {}
for i = 2, #one.verdict - 1 do shares[#shares + 1] = tonumber(one.verdict[i]:match " (%d+) %% of the time") end
check.equal(#shares > 0, true)
for i = 2, #shares do check.equal(shares[i - 1] >= shares[i], true) end
local busy, less = four.verdict[#four.verdict]:match " is busy (%d+) %% of the time, .* (%d+) %%$"
check.equal(tonumber(busy) >= tonumber(less), true)

for _, t in ipairs { consumers, producer, one, four } do
  -- What can do one thing at a time does one thing at a time, and everything lies within the kernel.
  local last, ends = {}, {}
  for _, span in ipairs(t.spans) do
    check.equal(span.last >= span.first and span.first >= 0, true)
    if t.rows[span.row].exclusive then
      check.equal(span.first >= (last[span.row] or 0) - 1e-6, true)
      check.equal(span.last <= t.cycles + 1e-6, true)
      last[span.row] = span.last
    end
    if span.kind == "copy" then ends[span.what] = math.max(ends[span.what] or 0, span.last) end
  end
  -- A wait for bytes ends when the last of them has come, and is known to have.
  local waits = 0
  for _, span in ipairs(t.spans) do
    if span.kind == "wait for copies" then
      waits = waits + 1
      check.near(span.last - ends[span.what], 20, 1e-6)
    end
  end
  check.equal(waits > 0, true)
  -- The rows of warps have no holes: work and waits add up.
  for index, r in ipairs(t.rows) do
    if r.warp then
      local sum, first, final = 0, math.huge, 0
      for _, span in ipairs(t.spans) do
        if span.row == index then
          sum, first, final = sum + span.last - span.first, math.min(first, span.first), math.max(final, span.last)
        end
      end
      check.near(sum, final - first, 1e-3)
    end
  end
  -- 16 blocks of four m64n64k16, 32 cycles each.
  check.near(t.tensor_busy * t.cycles, 16 * 4 * 32, 1)
end

-- The schedule of the simulator leaves the time as it is, but for what decides itself at run time: nothing here.
for seed = 1, 8 do check.equal(timeline(nil, 4, seed).text, four.text) end

-- The texts: what programs read is well-formed (tests/cli/timeline.sh asks a parser), what people read fits.
for _, name in ipairs { "producer", "consumer", "tensor core", "memory to SM", "copies" } do
  check.equal(utf8.len(four.text:match("\n(" .. name .. " [^\n]*)")) <= 80, true)
end
check.equal(four.text:find("producer", 1, true) ~= nil and four.text:find("tensor core", 1, true) ~= nil, true)
check.equal(four.svg:match "^<svg", "<svg")
check.equal(four.svg:match "</svg>\n$", "</svg>\n")
-- The axis has its unit, and the legend the kinds of spans that occur.
for _, has in ipairs { ">cycles</text>", ">waits for full stages (copies)</text>", ">bytes in transit</text>" } do
  check.equal(four.svg:find(has, 1, true) ~= nil, true)
end
check.equal(four.svg:find("waits at a barrier", 1, true) ~= nil, four.text:find("b waits at a barrier", 1, true) ~= nil)
for _, t in ipairs { four, one } do
  check.equal({ t.svg:find("waits for bulk stores", 1, true), t.text:find("waits for bulk stores", 1, true) }, {})
end
check.equal(four.perfetto:find('"traceEvents"', 1, true) ~= nil, true)

-- An elementwise kernel has neither copies nor products: it waits for loads.
local double = wg.kernel("double", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local at = k:element(X, k:special "ctaid.x" * 128 + k:special "tid.x")
  k:st_global_f32(at, k:ld_global_f32(at) * 2.0)
end)
local elementwise = double:timeline { grid = { 1000 }, args = { wg.randn { shape = { 128000 }, dtype = "f32" } } }
check.equal(elementwise.tensor_busy, 0)
check.equal(elementwise.rows[1].name, "warps 0 to 3")
check.equal(elementwise.verdict[1]:match "^warps 0 to 3 wait for loads", "warps 0 to 3 wait for loads")

-- What is wrong with the launch, and what the simulator finds, is said as by kernel:run.
check.raises("takes 1 argument", function() double:timeline { grid = { 1 }, args = {} } end)
local racy = wg.kernel("racy", { threads = 64 }, function(k)
  local out = k:param("out", "f32*")
  local s = k:shared { bytes = 256, name = "s" }
  local tid = k:special "tid.x"
  k:st_shared_f32(k:address(s, tid * 4), 1.0)
  k:st_global_f32(k:element(out, tid), k:ld_shared_f32(k:address(s, (tid ~ 32) * 4)))
end)
check.raises("WG-", function()
  racy:timeline { grid = { 1 }, args = { wg.zeros("f32", { 64 }) }, unchecked = true }
end)

-- kernel:profile: the same pipeline as its warps note it. On the simulator the clock counts steps.
local D, E = wg.zeros("f32", { block, block }), wg.zeros("f32", { block, block })
local noting = pipeline(nil, 4)
noting:run { grid = { 1 }, args = { A, B, D, K }, backend = "sim" }
local noted = noting:profile { grid = { 1 }, args = { A, B, E, K }, backend = "sim" }
check.equal(noted.source, "simulator")
check.equal(four.source, "model")
for i = 0, block - 1 do
  for j = 0, block - 1 do check.equal(E[{ i, j }], D[{ i, j }]) end
end
check.equal(noted.dropped, 0)
check.equal(noted.dropped_warps, 0)
check.equal(#noted.verdict, 0)
check.equal(noted.memory_busy, nil)
local kinds = {}
for _, span in ipairs(noted.spans) do kinds[span.kind] = (kinds[span.kind] or 0) + 1 end
check.equal(kinds["copy"], 2 * 16)
check.equal(kinds["product"], 16)
check.equal(total(noted, "producer", "wait for arrivals") >= 0, true)
check.equal(total(noted, "consumer", "wait for copies") > 0, true)
-- The phases that the model waits for are those that are noted.
local function phases(t, name, kind)
  local out, index = {}, row(t, name)
  for _, span in ipairs(t.spans) do
    if span.row == index and span.kind == kind then out[#out + 1] = span.what .. " " .. span.line end
  end
  return out
end
local all = {}
for i, what in ipairs(phases(noted, "consumer", "wait for copies")) do
  all[what] = true
  check.equal(what:match "^ring_full%[(%d)%], phase %d+", tostring((i - 1) % 4))
end
for _, what in ipairs(phases(four, "consumer", "wait for copies")) do check.equal(all[what], true) end
-- The text of the kernel is as before, and so is what it costs.
check.equal(noting:ptx():find("profile", 1, true), nil)
-- The same seed gives the same stamps.
check.equal(noting:profile({ grid = { 1 }, args = { A, B, E, K }, backend = "sim" }).text, noted.text)
-- What has no room is counted; the first ones are there.
local short = noting:profile { grid = { 1 }, args = { A, B, E, K }, backend = "sim", events = 4 }
check.equal(short.dropped > 100, true)
check.equal(short.text:find("more events, for which there was no room", 1, true) ~= nil, true)
-- Clusters of the grid that run on an SM one after the other; others are left out.
local waves = double:profile { grid = { 1000 }, args = { wg.randn { shape = { 128000 }, dtype = "f32" } }, backend = "sim", events = 1 }
check.equal(waves.source, "simulator")
check.raises("events", function() double:profile { grid = { 1 }, args = { E }, events = 0 } end)
check.raises("takes 1 argument (X), not 0", function() double:profile { grid = { 1 }, args = {}, backend = "sim" } end)
check.raises("WG-", function() racy:profile { grid = { 1 }, args = { wg.zeros("f32", { 64 }) }, backend = "sim" } end)
-- print and the prompt show the text.
check.equal(tostring(noted), noted.text)

-- Requests to memory: sectors and passes of a transpose through a tile without padding, and of a partial warp.
local through = wg.kernel("through", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local tile = k:shared { bytes = 8192, align = 16, name = "tile" }
  local base = k:address(tile)
  k:st_shared_f32(base + (thread << 7), k:ld_global_f32(k:element(X, thread)))
  local x = k:ld_shared_f32(base + (thread << 7))
  k:st_global_f32(k:element(Y, thread * 8), x, { guard = thread:lt(16) })
end)
local seen = {}
for _, of in ipairs(through:timeline { grid = { 1 }, args = { wg.zeros("f32", { 64 }), wg.zeros("f32", { 512 }) } }.requests) do
  seen[#seen + 1] = ("%s %s %d %d %d"):format(of.what, of.shared, of.count, of.units, of.needed)
end
check.equal(seen, { "ld.global false 2 8 8", "st.shared true 2 64 2", "ld.shared true 2 64 2", "st.global false 1 16 2" })
