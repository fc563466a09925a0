-- How queries and blocks of the cache come to shared memory for wg.mla_decode. A block is nine panels of 64 columns,
-- whose lines of 128 bytes have the 128-byte swizzle, and has some pieces, each with a ring of its own: what one
-- consumer does not need any more is copied anew while the other still multiplies. Warps copy boxes of keys by TMA,
-- each some of the pieces; in a cluster, whose CTAs have the same keys, one CTA copies a piece for both. Of pages with
-- few keys, threads copy rows.

local decode_copies = require "wgrun.attention.decode.copies"
local completion = require "wgrun.attention.latent.completion"
local dequantize = require "wgrun.attention.latent.dequantize"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

local function u32(k, value) return k:mov(value, { type = "u32" }) end

-- Waits until a piece of a stage may be filled. In a cluster, the CTA that does not copy it expects its bytes as soon
-- as those before have come.
local function acquire(g, piece, cursor)
  local k, ring = g.k, piece.ring
  if g.p.cluster == 1 then return ring:acquire(cursor) end
  k:if_(k:special "cluster_ctarank":eq(piece.copier), function() ring:acquire(cursor) end, function()
    k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase ~ 1)
  end)
end

-- Copies a piece of a block to address `to`: each lane a box of keys, from its place. `following`: the place of the
-- next block's box, which then comes to the L2 cache already.
local function copy_boxes(g, piece, lane, to, place, following, barrier)
  local k, p = g.k, g.p
  local boxes, policy = p.block // p.box_rows, pipeline.evict_first(k)
  local copies = lane:lt(boxes)
  if p.cluster > 1 then copies = copies & k:special "cluster_ctarank":eq(piece.copier) end
  local mask = p.cluster > 1 and (1 << p.cluster) - 1 or nil
  k:mbarrier_arrive_expect_tx(barrier, piece.panels * p.panel_bytes, { guard = lane:eq(0) })
  k:if_(copies, function()
    if boxes > 1 then to = to + lane * (p.box_rows * 128) end
    for panel = 0, piece.panels - 1 do
      local column = u32(k, 64 * (piece.first + panel))
      k:cp_async_bulk_tensor_3d(
        panel == 0 and to or to + panel * p.panel_bytes, g.maps.cache, { column, place.row, place.page }, barrier,
        { policy = policy, mask = mask })
    end
    if not following then return end
    for panel = 0, piece.panels - 1 do
      local column = u32(k, 64 * (piece.first + panel))
      k:cp_async_bulk_prefetch_tensor_3d(
        g.maps.cache, { column, following.row, following.page }, { policy = policy, guard = following.there })
    end
  end)
end

-- The warps that copy boxes.
local function each_box(g, work, lane, warp)
  local k, p = g.k, g.p
  local look, take
  if p.page then
    local last_box = p.block // p.box_rows - 1
    look, take = decode_copies.lookup(
      k, p, g.sizes, 1, function() return k:min(lane, last_box) * p.box_rows end, p.box_rows)
  end
  local function place_of(at, key) return take and take()[1] or { row = key, page = at.batch } end
  local cursor, base = g.pieces[1].ring:cursor(), k:address(g.buffers.cache)
  work.each_unit(function(at, count)
    local key = at.block * p.block
    if look then look(at, key) end
    k:loop(count, function()
      local place, following = place_of(at, key), nil
      if look then look(at, key + p.block) end
      if not p.memory_bound then
        following = place_of(at, key + p.block)
        following.there = (key + p.block):lt(at.length)
      end
      for _, piece in ipairs(g.pieces) do
        k:if_(warp:eq(piece.warp), function()
          acquire(g, piece, cursor)
          local to = base + (cursor.stage * p.k.bytes + piece.first * p.panel_bytes)
          copy_boxes(g, piece, lane, to, place, following, piece.ring:full_barrier(cursor))
        end)
      end
      g.pieces[1].ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

-- Lanes copy the queries of each unit, 16 bytes each. Rows that there are not become 0.
local function queries_of(g, lane, threads)
  local k, p, ring = g.k, g.p, g.queries
  local cursor, unit, first_row = ring:cursor(), lane & 7, lane >> 3
  return function(at)
    ring:acquire(cursor)
    local line = completion.first_row(g, at) + first_row
    local from = k:element(g.sizes.Q, (at.batch * p.rows + line) * p.dim + (unit << 3))
    k:loop({ from = first_row, to = 64, step = threads // 8 }, function(row)
      local bytes = k:selp_b32(16, 0, line:lt(p.rows), { type = "u32" })
      local to = k:address(g.buffers.q) + ((row << 7) + ((unit ~ (row & 7)) << 4))
      for panel = 0, p.dim // 64 - 1 do
        k:cp_async_cg(
          panel == 0 and to or to + 64 * 128 * panel, panel == 0 and from or from + 128 * panel, { src_size = bytes })
      end
      k:add(line, line, threads // 8)
      k:add(from, from, threads // 8 * 2 * p.dim)
    end)
    k:cp_async_mbarrier_arrive_noinc(ring:full_barrier(cursor))
    ring:advance(cursor)
  end
end

-- Threads copy units of 16 bytes, eight of them a line; 16 lines at a time.
local function each_row(g, work, thread)
  local k, p = g.k, g.p
  local unit, first_row, rows = thread & 7, thread >> 3, p.block // 16
  local look, take = decode_copies.lookup(k, p, g.sizes, rows, function(i)
    return i == 1 and first_row or first_row + 16 * (i - 1)
  end, 1)
  local from, policy = k:mad_wide_u32(unit, 16, g.sizes.cache), pipeline.evict_first(k)
  local in_block = k:address(g.buffers.cache) + ((first_row << 7) + ((unit ~ (first_row & 7)) << 4))
  local ring, copy_queries = g.pieces[1].ring, queries_of(g, thread, 128)
  local cursor = ring:cursor()
  work.each_unit(function(at, count)
    local key = at.block * p.block
    look(at, key)
    copy_queries(at)
    k:loop(count, function()
      ring:acquire(cursor)
      local places, to = take(), in_block + cursor.stage * p.k.bytes
      look(at, key + p.block)
      for i, place in ipairs(places) do
        k:mov(place.page, 0, { guard = at.length:eq(0) }) -- the table of an empty sequence may hold anything
        local line = k:mad_wide_u32(place.page * p.page + place.row, 2 * p.dim, from)
        for panel = 0, p.dim // 64 - 1 do
          k:cp_async_cg(
            to + (panel * p.panel_bytes + 16 * 128 * (i - 1)), panel == 0 and line or line + 128 * panel,
            { policy = policy })
        end
      end
      k:cp_async_mbarrier_arrive_noinc(ring:full_barrier(cursor))
      ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

--- The arrivals at the `full` barriers of pieces, and of queries.
function module.producers(p) return ({ boxes = 1, rows = 128, converted = 4 * p.copiers })[p.copies] end
function module.query_producers(p) return p.copies == "boxes" and 32 or 128 * p.copiers end

--- The loops of the warps that copy: a warpgroup. thread: u32, its number there.
function module.emit(g, work, thread)
  local k = g.k
  if g.p.copies == "rows" then return each_row(g, work, thread) end
  if g.p.copies == "converted" then
    return dequantize.emit(g, work, thread, queries_of(g, thread, 128 * g.p.copiers))
  end
  local warp, lane = k:shfl_sync_idx_b32(thread >> 5, 0, 31), thread & 31
  k:if_(warp:lt(3), function() each_box(g, work, lane, warp) end, function()
    work.each_unit(queries_of(g, lane, 32))
  end)
end

return module
