-- The producer of a product: a warp that copies the tiles of A, of B or of both by TMA, and what comes with them (C,
-- and what the kind of main loop adds), into the stages of the ring. For each block of K it waits until all consumers
-- have released the stage, in a cluster those of all CTAs that its multicast reaches, and announces the bytes that the
-- stage's mbarrier then counts.

local division = require "wgrun.builder.division"
local plan = require "wgrun.epilogue.plan"
local tail = require "wgrun.mainloop.tail"
local native = require "wgrun.native"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

local divided = division.divided

-- Where memory limits the product, CTAs that all read the same columns of K at the same time compete for the same
-- memory channels: each CTA therefore starts one block after its neighbour, and wraps around.
local function k_offset_of(k, p, sizes)
  if not p.k_offset then return function(first_k) return first_k end end
  local whole_k = divided(k, sizes.K + (p.block_k - 1), p.block_k) * p.block_k
  local from = k:rem(k:special "ctaid.x" * p.block_k, whole_k)
  return function(first_k)
    first_k = first_k + from
    k:sub(first_k, first_k, whole_k, { guard = first_k:ge(whole_k) })
    return first_k
  end
end

-- In a cluster, CTAs along M need the same rows of B, and those along N the same rows of A. Each copies its share of
-- them, to all.
local function share(k, p, to)
  if p.cluster == 1 then return end
  local rank = k:special "cluster_ctarank"
  local along_m, along_n = rank, rank -- the CTA's place in the cluster
  if p.cluster_m > 1 and p.cluster_n > 1 then
    along_m, along_n = division.remainder(k, rank, p.cluster_m), divided(k, rank, p.cluster_m)
  end
  local function shifted(mask, by) return k:cvt_u16_u32(k:mov(mask, { type = "u32" }) << by) end
  if p.cluster_m > 1 then
    to.b, to.b_share = to.b + along_m * p.b:offset(p.b_box.mn, 0), along_m * p.b_box.mn
    to.b_mask = (1 << p.cluster_m) - 1
    if p.cluster_n > 1 then to.b_mask = shifted(to.b_mask, along_n * p.cluster_m) end
  end
  if p.cluster_n > 1 then
    to.a, to.a_share, to.a_mask = to.a + along_n * p.a:offset(p.a_box.mn, 0), along_n * p.a_box.mn, 0
    for other = 0, p.cluster_n - 1 do to.a_mask = to.a_mask | 1 << other * p.cluster_m end
    if p.cluster_m > 1 then to.a_mask = shifted(to.a_mask, along_m) end
  end
end

-- What the copies of this producer have in common: the first stage of each operand, where this CTA's copies go; the
-- policy of A.
local function destinations(g, copies)
  local k, p = g.k, g.p
  local to = { a = k:address(g.buffers.a), b = k:address(g.buffers.b) }
  share(k, p, to)
  to.k_offset = k_offset_of(k, p, g.sizes)
  to.policy = copies.A and p.evict_first.A and pipeline.evict_first(k) or nil
  to.more = p.kind.producer(g, copies)
  to.a_ahead, to.b_ahead = {}, {} -- the rows of the parts before one
  for part = 1, p.emulated and p.emulated.parts - 1 or 0 do
    to.a_ahead[part] = copies.A and k:mov(g.sizes.M * part, { type = "u32" })
    to.b_ahead[part] = copies.B and k:mov(g.sizes.N * part, { type = "u32" })
  end
  return to
end

-- The bytes that the producer announces for a stage: fewer where only half of the tile's rows or columns are copied, or
-- those that are left at the matrix's edge.
local function bytes_of(k, p, copies, more, work, edges)
  local of_a = copies.A and p.a.bytes + more.bytes_with_a or 0
  local others = (copies.B and p.b.bytes or 0) + more.bytes
  local bytes = of_a + others
  bytes = tail.without(k, work.tail_m, bytes, of_a // 2)
  if copies.B then bytes = tail.without(k, work.tail_n, bytes, p.b.bytes // 2) end
  for _, name in ipairs { "A", "B" } do
    if edges[name] then
      local less = (name == "A" and p.m or p.n) - p.edges[name]
      bytes = k:selp_b32(bytes - less * p.block_k * native.element_bytes[p.dtype], bytes, edges[name], { type = "u32" })
    end
  end
  return bytes
end

-- Whether the tile is at an edge of A or B where boxes of the rows that are left there hold all of them: predicates by
-- the operand's name. Copies of boxes with many rows outside are slow.
local function edges_of(p, sizes, copies, row, column)
  local edges = {}
  if copies.A and p.edges.A then edges.A = (sizes.M - row):le(p.edges.A) end
  if copies.B and p.edges.B then edges.B = (sizes.N - column):le(p.edges.B) end
  return edges
end

-- A tile of an operand, `whole`, by boxes with the rows that are left at the edge, one for each of its panels.
local function copy_edge(k, whole, map, to, row, first_k, barrier, policy)
  for column = 0, whole.k - 1, 128 // native.element_bytes[whole.dtype] do
    local panel, from = column == 0 and to or to + whole:offset(0, column), column == 0 and first_k or first_k + column
    k:cp_async_bulk_tensor_2d(panel, map, { from, row }, barrier, { policy = policy })
  end
end

-- Emits body(part, ahead) for each part of an operand: what its rows are behind in memory, nil for the first one.
local function each_part(p, ahead, body)
  for part = 0, p.emulated and p.emulated.parts - 1 or 0 do body(part, ahead[part]) end
end

-- The rows of A and their metadata: all of them at once, or each half by itself, where a tile may have only the upper
-- one. A sparse A stores half of its K.
local function copy_a(k, p, maps, to, tile, first_k, stage, barrier)
  local rows, blocks = p.a_box.mn, p.a_box.mn // 64
  local function copy(i)
    local at = to.a + stage * p.a.bytes
    each_part(p, to.a_ahead, function(part, ahead)
      local there, row = part * p.m + i * rows, i == 0 and tile.row or tile.row + i * rows
      k:load_tile {
        tile = p.a_box, whole = p.a, map = tile.map or maps.A, to = there == 0 and at or at + p.a:offset(there, 0),
        mn = ahead and row + ahead or row, k = p.kind.packed == 2 and first_k >> 1 or first_k,
        barrier = barrier, policy = to.policy, mask = to.a_mask,
      }
    end)
    if tile.with_a then tile.with_a(first_k, stage, barrier, i * blocks, (i + 1) * blocks - 1) end
  end
  if tile.edges.A then
    return k:if_(tile.edges.A, function()
      copy_edge(k, p.a, maps.A_edge, to.a + stage * p.a.bytes, tile.row, first_k, barrier, to.policy)
    end, function() copy(0) end)
  end
  tail.each(k, tile.tail_m, 2, function(number) copy(number - 1) end)
end

-- The columns of B, and behind them those of the gate, a second product: all at once, or each half by itself, where a
-- tile may have only the left one.
local function copy_b(k, p, maps, to, tile, first_k, stage, barrier)
  for product, map in ipairs { maps.B, maps.gate } do
    local at = to.b + stage * p.b.bytes
    local function copy(column)
      each_part(p, to.b_ahead, function(part, ahead)
        local there = (product - 1 + part) * p.n + column
        local row = column == 0 and tile.column or tile.column + column
        k:load_tile {
          tile = p.b_box, whole = p.b, map = map, to = there == 0 and at or at + p.b:offset(there, 0),
          mn = ahead and row + ahead or row, k = first_k, barrier = barrier, mask = to.b_mask,
        }
      end)
    end
    if tile.edges.B then
      local function edge() copy_edge(k, p.b, maps.B_edge, at, tile.column, first_k, barrier) end
      return k:if_(tile.edges.B, edge, function() copy(0) end)
    end
    tail.each(k, tile.tail_n, p.n, function(first) copy(first - 1) end)
  end
end

--- The role of a producer, which copies what `copies` names: A, B, C, scales. One thread of its warp issues the copies.
--- The others go round with it, so that what the copies need is the same in all lanes and lives in uniform registers.
function module.emit(g, copies)
  local k, p, ring, maps = g.k, g.p, g.ring, g.maps
  local cursor, elected = ring:cursor(), k:elect_sync()
  local to = destinations(g, copies)

  p.scheduler.each(g, {}, function(place, work)
    local row, column = place()
    local tile = {
      row = row, column = column, tail_m = work.tail_m, tail_n = work.tail_n,
      edges = edges_of(p, g.sizes, copies, row, column),
    }
    if p.gather and copies.A then tile.map = p.gather.source(g, work, row) end
    if work.a_first then tile.row = tile.row + work.a_first end
    if work.b_first then tile.column = tile.column + work.b_first end -- of the group's B
    if to.a_share then tile.row = tile.row + to.a_share end
    if to.b_share then tile.column = tile.column + to.b_share end
    tile.with_a = to.more.with_a and to.more.with_a(row)
    local bytes = bytes_of(k, p, copies, to.more, work, tile.edges)

    k:loop({ from = work.from, to = work.to, step = p.block_k }, function(first_k)
      first_k = to.k_offset(first_k)
      ring:acquire(cursor)
      k:if_(elected, function()
        local barrier = ring:expect(cursor, bytes)
        if to.more.before then to.more.before(row, first_k, cursor.stage, barrier) end
        if copies.A then copy_a(k, p, maps, to, tile, first_k, cursor.stage, barrier) end
        if copies.B then copy_b(k, p, maps, to, tile, first_k, cursor.stage, barrier) end
      end)
      ring:advance(cursor)
    end)
    if p.residual_stages then
      plan.copy_residual(k, p, ring, cursor, elected, copies.C and maps.C, k:address(g.buffers.b), row, column)
    end
  end)
end

return module
