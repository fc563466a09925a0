-- Kernels whose roles hand stages of rings to each other, made of a table of choices. What a kernel does wrong, and when,
-- is one of the choices.
--   consumers   warps that read; warp 0 fills the rings
--   rings       a list of { stages, style, fill, release, every }: how stage and phase are counted ("wrap", "turn", "mask", "shift"),
--               who fills a stage ("copy": one thread, "store": all lanes), who hands it back ("lane" of each warp, "all"
--               threads, "cta": one thread behind a named barrier), and in which turns the ring is used (1: all, 2: even)
--   trips       { form, number }: how many turns a tile has, of n
--   again       the same, written in another way, for the consumers
--   prologue    turns in which the producer does not wait; peeled: in a loop of their own
--   lag         a stage is handed back one turn later
--   unrolled    2 or 4: the producer's loop has as many turns in one, and another loop has those that are left
--   idle        a warp that waits as the producer does, and fills nothing, as those of a producing warpgroup do: it may come late
--   tail        the producer waits until all stages are free again
--   tiles       a CTA goes on with tile ctaid.x, ctaid.x + nctaid.x, ... of m
--   leave       "spare": a warp ends at once; "cta": CTAs from 1 on do
--   cluster     2: each CTA's consumers hand back to the producers of both CTAs
--   drawn       tiles are drawn from a counter (draws.lua)
--   fault       { what, when, ... }
local wg = require "wgrun"
local draws = dofile((arg[0]:match ".*/" or "") .. "draws.lua")

local program = {}

--- a - b, or 0 where that is less.
function program.left(k, a, b)
  local signed = { type = "s32" }
  return k:mov(k:max(k:mov(a, signed) - k:mov(b, signed), 0), { type = "u32" })
end

-- How many turns: a number of the launch, and a second way to write the same one.
program.trips = {
  n = { function(_, n) return n end, function(k, n) return k:add(k:sub(n, 1), 1) end },
  plus = { function(_, n, c) return n + c end, function(_, n, c) return (n + (c + 1)) - 1 end },
  twice = { function(_, n, c) return (n << 1) + c end, function(_, n, c) return n + n + c end },
  blocks = { function(_, n, c) return (n + ((1 << c) - 1)) >> c end, function(k, n, c) return k:div(n + ((1 << c) - 1), 1 << c) end },
  parts = { function(_, n, c) return n >> c end, function(k, n, c) return k:div(n, 1 << c) end },
  remainder = { function(_, n, c) return n & ((2 << c) - 1) end, function(k, n, c) return k:rem(n, 2 << c) end },
  -- As of causal attention: the lesser of two numbers, and what is left of one, signed, with the tile.
  lesser = { function(k, n, c, tile) return k:min(n, tile + c) end, function(k, n, c, tile) return k:selp(n, tile + c, n:lt(tile + c)) end },
  left = { function(k, n, c, tile) return program.left(k, n + c, tile) end, function(k, n, c, tile) return program.left(k, n, tile - c) end },
  fixed = { function(k, _, c) return k:mov(c + 1, { type = "u32" }) end, function(k, _, c) return k:mov(c + 1, { type = "u32" }) end },
}

-- When something is wrong: a predicate of what is known in a turn.
program.when = {
  always = function(k, at) return at.n:ge(0) end,
  turn = function(_, at, f) return at.turn:eq(f.number) end,
  turns_from = function(_, at, f) return at.turn:ge(f.number) end,
  turn_of = function(k, at, f) return k:rem(at.turn, f.modulus):eq(f.number % f.modulus) end,
  last_turn = function(_, at) return (at.turn + 1):eq(at.trips) end,
  n_is = function(_, at, f) return at.n:eq(f.number) end,
  n_from = function(_, at, f) return at.n:ge(f.number) end,
  n_of = function(k, at, f) return k:rem(at.n, f.modulus):eq(f.number % f.modulus) end,
  trips_is = function(_, at, f) return at.trips:eq(f.number) end,
  odd_trips = function(_, at) return (at.trips & 1):eq(1) end,
  trips_of = function(k, at, f) return k:rem(at.trips, f.modulus):eq(f.number % f.modulus) end,
  second_tile = function(_, at) return at.tile:eq(at.cta + at.ctas) end,
  last_tile = function(_, at) return (at.tile + 1):eq(at.tiles) end,
  ctas = function(_, at, f) return at.ctas:gt(f.number) end,
  rank = function(_, at) return at.rank:eq(1) end,
  tile_is = function(_, at, f) return at.tile:eq(f.number) end,
  tile_of = function(k, at, f) return k:rem(at.tile, f.modulus):eq(f.number % f.modulus) end,
  made_is = function(_, at, f) return at.made:eq(f.number) end,
  made_from = function(_, at, f) return at.made:ge(f.number) end,
}

-- The same by arithmetic that a proof may get wrong, of a number and a constant.
program.arithmetic = {
  square = function(_, v, c) return (v * v):eq(c * c) end,
  exclusive = function(_, v, c) return (v ~ c):lt(2) end,
  cut = function(_, v, c) return ((v << 29) >> 29):eq(c & 7) end,
  least = function(k, v, c) return k:min(v, c + 1):eq(c + 1) end,
  greatest = function(k, v, c) return k:max(v, c):eq(c) end,
  third = function(k, v, c) return k:div(v, 3):eq(c // 3) end,
  sixth = function(k, v, c) return k:rem(v, 6):eq(c % 6) end,
  wrapped = function(_, v, c) return (v - c):gt(v) end,
  negative = function(k, v, c) return k:setp_lt_s32(k:sub_s32(k:mov(v, { type = "s32" }), c), 0) end,
  ones = function(k, v, c) return k:popc(v):eq(1 + c % 3) end,
  leading = function(k, v, c) return k:clz(v):eq(29 - c % 3) end,
  field = function(k, v, c) return k:bfe_u32(v, 1, 2):eq(c & 3) end,
  chosen = function(k, v, c) return k:selp(v, k:mov(5, { type = "u32" }), v:lt(c)):eq(c // 2) end,
  high = function(k, v, c) return k:mul_hi_u32(v, 0x40000000):eq(c >> 2) end,
  tripled = function(_, v, c) return ((v * 3 + c) & 4):ne(0) end,
  shifted = function(k, v, c) return k:shr(k:mov(1 << (c % 16), { type = "u32" }), v):eq(0) end,
  wide = function(k, v, c) return ((k:cvt_u64_u32(v) << 32) >> 33):eq(c >> 1) end,
  below = function(k, v, c) return k:cvt_s64_s32(k:mov(v - c, { type = "s32" })):lt(0) end,
}
for name, holds in pairs(program.arithmetic) do
  program.when["n " .. name] = function(k, at, f) return holds(k, at.n, f.number) end
  program.when["turn " .. name] = function(k, at, f) return holds(k, at.turn, f.number) end
  program.when["trips " .. name] = function(k, at, f) return holds(k, at.trips, f.number) end
  program.when["tile " .. name] = function(k, at, f) return holds(k, at.tile, f.number) end
  program.when["made " .. name] = function(k, at, f) return holds(k, at.made, f.number) end
end

--- The kernel of a program.
function program.kernel(p)
  local rings, fault = p.rings, p.fault
  if p.drawn and p.drawn.alone then
    return draws.alone(wg, p, function(k, at) return program.when[fault.when](k, at, fault) end)
  end
  local warps = 1 + p.consumers + (p.leave == "spare" and 1 or 0) + (p.idle and 1 or 0)
  return wg.kernel("program", { threads = 32 * warps, cluster = p.cluster and { p.cluster } or nil }, function(k)
    local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
    local n = k:param("n", "u32")
    local m = p.tiles and k:param("m", "u32")
    local queue = p.drawn and draws.queue(k, p.drawn, p.consumers, k:param("counter", "u32*"))
    local u32 = { type = "u32" }
    for i, ring in ipairs(rings) do
      ring.room = k:shared { bytes = 128 * ring.stages, align = 128, name = "room" .. i }
      ring.full = k:shared { bytes = 8 * ring.stages, align = 8, name = "full" .. i }
      ring.empty = k:shared { bytes = 8 * ring.stages, align = 8, name = "empty" .. i }
    end
    local tid, lane = k:special "tid.x", k:special "laneid"
    local at = { n = n, cta = k:special "ctaid.x", ctas = k:special "nctaid.x" }
    at.rank = p.cluster and k:special "cluster_ctarank"

    --- Does `right` unless the fault strikes, then `wrong`.
    local function unless(what, right, wrong)
      if not fault or fault.what ~= what then return right() end
      k:if_(program.when[fault.when](k, at, fault), wrong or function() end, right)
    end
    local function each_ring(body)
      for _, ring in ipairs(rings) do
        if ring.every == 1 then
          body(ring)
        else
          k:if_((at.turn & (ring.every - 1)):eq(0), function() body(ring) end)
        end
      end
    end
    --- A role's place in each ring.
    local function cursors()
      local out = {}
      for _, ring in ipairs(rings) do
        local c = { stage = k:mov(0, u32), phase = k:mov(0, u32) }
        if ring.style ~= "wrap" then c.turn = k:mov(0, u32) end
        out[ring] = c
      end
      return out
    end
    local function advance(ring, c)
      local stages = ring.stages
      if ring.style == "wrap" then
        k:add(c.stage, c.stage, 1)
        k:if_(c.stage:eq(stages), function()
          k:mov(c.stage, 0)
          unless("phase", function() k:xor(c.phase, c.phase, 1) end)
        end)
        return
      end
      unless("count", function() k:add(c.turn, c.turn, 1) end)
      if ring.style == "shift" and stages & (stages - 1) == 0 then
        k:mov(c.stage, ((c.turn << 4) & ((stages - 1) << 4)) >> 4)
        k:mov(c.phase, k:selp(k:mov(1, u32), k:mov(0, u32), ((c.turn << 1) & (stages << 1)):ne(0)))
      elseif ring.style == "mask" and stages & (stages - 1) == 0 then
        local bits = 0
        while 1 << bits < stages do bits = bits + 1 end
        k:mov(c.stage, c.turn & (stages - 1))
        k:mov(c.phase, (c.turn >> bits) & 1)
      else
        k:mov(c.stage, k:rem(c.turn, stages))
        k:mov(c.phase, k:div(c.turn, stages) & 1)
      end
    end
    local function bar(buffer, stage) return k:address(buffer, stage << 3) end

    k:if_(tid:eq(0), function()
      for _, ring in ipairs(rings) do
        local back = ring.release == "lane" and p.consumers or ring.release == "all" and 32 * p.consumers or 1
        for s = 0, ring.stages - 1 do
          k:mbarrier_init(k:address(ring.full, 8 * s), ring.fill == "copy" and 1 or 32)
          k:mbarrier_init(k:address(ring.empty, 8 * s), back * (p.cluster or 1))
        end
      end
      if queue then queue.init() end
      k:fence_mbarrier_init()
    end)
    if p.cluster then
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
    else
      k:bar_sync(0)
    end
    if p.leave == "spare" then k:if_(tid:ge(32 * (warps - 1)), function() k:exit() end) end
    if p.leave == "cta" then k:if_(at.cta:ge(1), function() k:exit() end) end

    --- The consumers read what the producer draws, and may be wrong about it.
    local function each_drawn(reads, body)
      local drawn = { of = p.drawn.of, number = p.drawn.number, back = p.drawn.back }
      local what = reads and fault and fault.what
      if what == "back" then drawn.back = (drawn.back + 1) % 3 elseif what == "made" then drawn.number = drawn.number + 1 end
      local next_tile = draws.memory(k, at, drawn)
      local function tile(number)
        next_tile(number)
        at.tile = number
        body()
      end
      at.tile, at.turn, at.trips = at.made, at.made, at.made
      if reads then queue.read_each(m, lane, unless, tile) else queue.draw_each(m, unless, tile) end
    end
    local function each_tile(reads, body)
      if not p.tiles then return body() end
      at.tiles = m
      if queue then return each_drawn(reads, body) end
      k:loop({ from = at.cta, to = m, step = at.ctas }, function(tile)
        at.tile = tile
        body()
      end)
    end
    local function trips(which)
      if p.drawn and p.drawn.turns then return k:mov(at.made) end
      return program.trips[p.trips.form][which](k, n, p.trips.number, at.tile)
    end

    local function acquire(ring, c)
      local function wait() k:mbarrier_wait(bar(ring.empty, c.stage), c.phase ~ 1) end
      unless("wait_empty", at.waits and function() k:if_(at.waits, wait) end or wait)
    end
    local function fill(ring, c)
      local full = bar(ring.full, c.stage)
      if ring.fill == "copy" then
        unless("expect", function() k:mbarrier_arrive_expect_tx(full, 128) end, function() k:mbarrier_arrive_expect_tx(full, 256) end)
        unless("copy", function() k:cp_async_bulk(k:address(ring.room, c.stage << 7), X, 128, full) end)
        unless("copy_twice", function() end, function() k:cp_async_bulk(k:address(ring.room, c.stage << 7), X, 128, full) end)
      else
        unless("store", function() k:st_shared_f32(k:address(ring.room, (c.stage << 7) + (lane << 2)), 1.0) end)
        unless("arrive_full", function() k:mbarrier_arrive(full) end)
      end
    end
    local function produce(fill)
      local at_ring = cursors()
      each_tile(false, function()
        local count = trips(1)
        local turn = k:mov(0, u32)
        at.trips, at.turn = count, turn
        local function one(waits)
          each_ring(function(ring)
            if waits then acquire(ring, at_ring[ring]) end
            fill(ring, at_ring[ring])
            advance(ring, at_ring[ring])
          end)
          k:add(turn, turn, 1)
        end
        local to = k:mov(count)
        unless("turn_less", function() end, function() k:sub(to, to, 1, { guard = to:gt(0) }) end)
        if p.prologue > 0 and not p.peeled then
          k:while_(function() return turn:lt(to) end, function()
            at.waits = turn:ge(p.prologue)
            one(true)
          end)
          return
        elseif p.prologue > 0 then
          local first = k:min(count, p.prologue)
          k:while_(function() return turn:lt(first) end, function() one(false) end)
        end
        if p.unrolled then
          local whole = to - (to & (p.unrolled - 1))
          k:while_(function() return turn:lt(whole) end, function()
            for _ = 1, p.unrolled do one(true) end
          end)
        end
        k:while_(function() return turn:lt(to) end, function() one(true) end)
      end)
      if p.tail then
        each_ring(function(ring)
          k:loop(ring.stages, function()
            k:mbarrier_wait(bar(ring.empty, at_ring[ring].stage), at_ring[ring].phase ~ 1)
            advance(ring, at_ring[ring])
          end)
        end)
      end
    end

    local function release(ring, stage)
      local empty = bar(ring.empty, stage)
      local function arrive()
        unless("arrive_empty", function()
          if p.cluster then
            for rank = 0, p.cluster - 1 do k:mbarrier_arrive(k:mapa(empty, rank), { space = "shared::cluster" }) end
          else
            k:mbarrier_arrive(empty)
          end
        end)
        unless("arrive_twice", function() end, function() k:mbarrier_arrive(empty) end)
      end
      if ring.fill == "copy" then unless("fence", function() k:fence_proxy_async() end) end
      if ring.release == "all" then
        arrive()
      elseif ring.release == "lane" then
        unless("meeting", function() k:bar_warp_sync() end)
        k:if_(lane:eq(0), arrive)
      else
        unless("barrier", function() k:bar_sync(1, { threads = 32 * p.consumers }) end)
        k:if_(tid:eq(32), arrive)
      end
    end
    local function consume()
      local at_ring = cursors()
      local sum = k:mov(0.0, { type = "f32" })
      local behind = {}
      if p.lag then
        for _, ring in ipairs(rings) do behind[ring] = k:mov(0, u32) end
      end
      each_tile(true, function()
        local count = trips(p.again and 2 or 1)
        local turn = k:mov(0, u32)
        at.trips, at.turn = count, turn
        local to = k:mov(count)
        unless("turn_more", function() end, function() k:add(to, to, 1) end)
        k:while_(function() return turn:lt(to) end, function()
          unless("leave", function() end, function() k:break_() end)
          each_ring(function(ring)
            local c = at_ring[ring]
            unless("wait_full", function() k:mbarrier_wait(bar(ring.full, c.stage), c.phase) end)
            k:add(sum, sum, k:ld_shared_f32(k:address(ring.room, (c.stage << 7) + (lane << 2))))
            if p.lag then
              k:if_(turn:ge(ring.every), function() release(ring, behind[ring]) end)
              k:mov(behind[ring], c.stage)
            else
              release(ring, c.stage)
            end
            advance(ring, c)
          end)
          k:add(turn, turn, 1)
        end)
        if p.lag then
          k:if_(count:gt(0), function()
            for _, ring in ipairs(rings) do release(ring, behind[ring]) end
          end)
        end
      end)
      k:st_global_f32(k:element(Y, (at.cta << 7) + tid), sum)
    end
    local producing = rings[1].fill == "copy" and tid:eq(0) or tid:lt(32)
    k:if_(producing, function() produce(fill) end)
    if p.idle then
      local warp = tid >> 5
      k:if_(warp:gt(0), function() k:if_(warp:le(p.consumers), consume) end)
      k:if_(warp:eq(p.consumers + 1), function() produce(function() end) end)
    else
      k:if_(tid:ge(32), consume)
    end
    if p.cluster then
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
    end
  end)
end

return program
