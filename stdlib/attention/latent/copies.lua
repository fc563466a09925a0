-- How blocks of the cache come to shared memory for wg.mla_decode. A block is nine panels of 64 columns, whose lines of
-- 128 bytes have the 128-byte swizzle, and has three pieces, each with a ring of its own: what one warpgroup does not
-- need any more is copied anew while the other still multiplies. TMA copies boxes of keys, a warp each piece; in a
-- cluster, whose CTAs have the same keys, one CTA copies a piece for both. Of pages with few keys, threads copy rows.

local decode_copies = require "wgrun.attention.decode.copies"
local division = require "wgrun.builder.division"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

-- Calls copy(at, key, to, barrier) for each block of each work unit, with the address of the piece in its stage;
-- before(at, key) is called for the first block of a work unit. copies: in a cluster, whether this CTA copies the piece.
local function each_block(g, piece, work, before, copy, copies)
  local k, p, ring = g.k, g.p, piece.ring
  local cursor, acquire = ring:cursor(), function(cursor) ring:acquire(cursor) end
  if copies then
    -- The CTA that does not copy expects the piece as soon as the one before has come.
    acquire = function(cursor)
      k:if_(copies, function() ring:acquire(cursor) end, function()
        k:mbarrier_wait(ring:full_barrier(cursor), cursor.phase ~ 1)
      end)
    end
  end
  local base = k:address(g.buffers.kv, piece.first * p.panel_bytes)
  work.each_unit(function(at, count)
    local key = at.block * p.block
    before(at, key)
    k:loop(count, function()
      acquire(cursor)
      copy(at, key, base + cursor.stage * p.k.bytes, ring:full_barrier(cursor))
      ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

-- Lanes copy a box each.
local function copy_boxes(g, piece, work, lane)
  local k, p = g.k, g.p
  local boxes, policy = p.block // p.box_rows, pipeline.evict_first(k)
  local mask = p.cluster > 1 and (1 << p.cluster) - 1 or nil
  local of_this_cta = p.cluster > 1 and k:special "cluster_ctarank":eq(piece.copier) or nil
  local copies = of_this_cta and lane:lt(boxes) & of_this_cta or lane:lt(boxes)
  local look, take
  if p.page then
    look, take = decode_copies.lookup(k, p, g.sizes, 1, function() return k:min(lane, boxes - 1) * p.box_rows end, p.box_rows)
  end
  each_block(g, piece, work, look or function() end, function(at, key, to, barrier)
    local place = take and take()[1] or { row = key, page = at.batch }
    if look then look(at, key + p.block) end
    k:mbarrier_arrive_expect_tx(barrier, piece.panels * p.panel_bytes, { guard = lane:eq(0) })
    k:bar_warp_sync()
    k:if_(copies, function()
      local line = boxes > 1 and to + lane * (p.box_rows * 128) or to
      for panel = 0, piece.panels - 1 do
        local column = k:mov(64 * (piece.first + panel), { type = "u32" })
        k:cp_async_bulk_tensor_3d(
          panel == 0 and line or line + panel * p.panel_bytes, g.maps.cache, { column, place.row, place.page }, barrier,
          { policy = policy, mask = mask })
      end
    end)
  end, of_this_cta)
end

-- Threads copy units of 16 bytes, eight of them a line; 16 lines at a time.
local function copy_rows(g, work, thread)
  local k, p = g.k, g.p
  local unit, first_row, rows = thread & 7, thread >> 3, p.block // 16
  local look, take = decode_copies.lookup(k, p, g.sizes, rows, function(i)
    return i == 1 and first_row or first_row + 16 * (i - 1)
  end, 1)
  local from, policy = k:mad_wide_u32(unit, 16, g.sizes.cache), pipeline.evict_first(k)
  local in_line = (first_row << 7) + ((unit ~ (first_row & 7)) << 4)
  each_block(g, g.pieces[1], work, look, function(at, key, to, barrier)
    local places, lines = take(), {}
    look(at, key + p.block)
    for i, place in ipairs(places) do
      k:mov(place.page, 0, { guard = at.length:eq(0) }) -- the table of an empty sequence may hold anything
      lines[i] = k:mad_wide_u32(place.page * p.page + place.row, 2 * p.dim, from)
    end
    for i, line in ipairs(lines) do
      for panel = 0, p.dim // 64 - 1 do
        k:cp_async_cg(
          to + (in_line + (panel * p.panel_bytes + 16 * 128 * (i - 1))), line + 128 * panel, { policy = policy })
      end
    end
    k:cp_async_mbarrier_arrive_noinc(barrier)
  end)
end

--- The arrivals at the `full` barrier of a piece.
function module.producers(p) return p.copies == "rows" and 128 or 1 end

--- The loops of the warps that copy: a warpgroup. thread: u32, its number there.
function module.emit(g, work, thread)
  local k, p = g.k, g.p
  if p.copies == "rows" then return copy_rows(g, work, thread) end
  local warp = k:reg "u32"
  k:shfl_sync_idx_b32(warp, thread >> 5, 0, 31)
  for i, piece in ipairs(g.pieces) do
    k:if_(warp:eq(i - 1), function() copy_boxes(g, piece, work, thread & 31) end)
  end
end

return module
