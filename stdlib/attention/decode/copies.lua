-- How blocks of K and V come to shared memory for wg.attention_decode: boxes by TMA where many keys lie in a row of
-- memory, and rows of 16-byte units by threads where pages are small. Either way a block is panels of 64 columns, K's
-- and then V's, whose lines of 128 bytes have the 128-byte swizzle. Loaders look up the pages of a block while the
-- block before is being copied.

local division = require "wgrun.builder.division"
local roofline = require "wgrun.cost.roofline"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

local function u32(k, value) return k:mov(value, { type = "u32" }) end

-- The places of a loader's rows of a block in pages: `count` of them, the i-th being the key first(i) of the block.
-- look(at, key) reads the page table for the block that begins with `key`, and take() gives the places that were
-- looked up last. Behind the end of the sequence stands its last row, so that no page is read that it does not have.
local function lookup(k, p, sizes, count, first, granule)
  local ahead = {}
  for i = 1, count do ahead[i] = { row = k:reg "u32", page = k:reg "u32" } end
  local function look(at, key)
    local last = k:max(at.length, 1) - 1
    if granule > 1 then last = division.divided(k, last, granule) * granule end
    for i, entry in ipairs(ahead) do
      local from = k:min(key + first(i), last)
      local slot = division.divided(k, from, p.page)
      k:sub(entry.row, from, slot * p.page)
      k:ld_global_u32(entry.page, k:element(sizes.pages, at.batch * sizes.table_width + slot))
    end
  end
  local function take()
    local places = {}
    for i, entry in ipairs(ahead) do places[i] = { row = u32(k, entry.row), page = u32(k, entry.page) } end
    return places
  end
  return look, take
end
module.lookup = lookup

-- Calls copy(at, key, stage, barrier) for each block of each work unit, with the address of the stage; before(at, key)
-- is called for the first block of a work unit. `expected`: the bytes that this warp announces.
local function each_block(k, p, ring, kv, work, before, expected, copy)
  local cursor, base = ring:cursor(), k:address(kv)
  work.each_unit(function(at, count)
    local key = at.block * p.block
    if before then before(at, key) end
    k:loop(count, function()
      ring:acquire(cursor)
      copy(at, key, base + cursor.stage * (2 * p.tile_bytes), ring:full_barrier(cursor), expected)
      ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

-- The copy of one box: `rows` rows from line `line` of panel `panel` of K or V on, both counted from 0.
local function box_copier(k, p, maps)
  local policy = pipeline.evict_first(k) -- of every byte of K and V
  return function(name, stage, panel, line, row, head, first, barrier)
    local ahead = panel * p.block * 128 + (name == "V" and p.tile_bytes or 0)
    local to = stage + line
    if ahead > 0 then to = to + ahead end
    local column = u32(k, 64 * panel)
    local place = p.layout == "bshd" and { column, head, row, first } or { column, row, head, first }
    k:cp_async_bulk_tensor_4d(to, maps[name], place, barrier, { policy = policy })
  end
end

-- A thread copies whole panels of a block: of contiguous K and V, or where a page holds a whole number of blocks.
local function copy_panels(k, p, source, ring, kv, work, lane)
  local copy_box = box_copier(k, p, source.maps)
  local look, take
  if p.page then look, take = lookup(k, p, source, 1, function() return 0 end, p.box_rows) end
  each_block(k, p, ring, kv, work, look, 2 * p.tile_bytes, function(at, key, stage, barrier, bytes)
    local place = take and take()[1] or { row = key, page = at.batch }
    if look then look(at, key + p.block) end
    k:if_(lane:eq(0), function()
      k:mbarrier_arrive_expect_tx(barrier, bytes)
      for _, name in ipairs { "K", "V" } do
        for panel = 0, p.panels - 1 do copy_box(name, stage, panel, 0, place.row, at.head, place.page, barrier) end
      end
    end)
  end)
end

-- Lanes copy a box of a page each. The panels of K and V are divided among the loader warps.
local function copy_boxes(k, p, source, ring, kv, work, lane, loader)
  local copy_box = box_copier(k, p, source.maps)
  local boxes = p.block // p.box_rows
  local rounds = roofline.ceil_div(boxes, 32)
  local look, take = lookup(k, p, source, rounds, function(i) return (lane + 32 * (i - 1)) * p.box_rows end, p.box_rows)
  local panels = 2 * p.panels // p.loaders -- of each warp
  each_block(k, p, ring, kv, work, look, panels * p.block * 128, function(at, key, stage, barrier, bytes)
    k:mbarrier_arrive_expect_tx(barrier, bytes, { guard = lane:eq(0) })
    local places = take()
    look(at, key + p.block)
    for warp = 0, p.loaders - 1 do
      k:if_(loader:eq(warp), function()
        for i, place in ipairs(places) do
          local box = lane + 32 * (i - 1)
          k:if_(box:lt(boxes), function()
            for number = warp * panels, (warp + 1) * panels - 1 do
              local name = number < p.panels and "K" or "V"
              copy_box(
                name, stage, number % p.panels, box * (p.box_rows * 128), place.row, at.head, place.page, barrier)
            end
          end)
        end
      end)
    end
  end)
end

-- Threads copy units of 16 bytes: side by side those of a row, so that a warp reads whole rows.
local function copy_rows(k, p, source, ring, kv, work, thread)
  local units = p.dim // 8
  local unit, first_row = division.remainder(k, thread, units), division.divided(k, thread, units)
  local at_a_time = 32 * p.loaders // units
  local rows = p.block // at_a_time
  local function row_of(i) return i == 1 and first_row or first_row + (i - 1) * at_a_time end
  local look, take = lookup(k, p, source, rows, row_of, 1)
  local from, policy = {}, pipeline.evict_first(k)
  for _, name in ipairs { "K", "V" } do from[name] = k:mad_wide_u32(unit, 16, source[name]) end
  each_block(k, p, ring, kv, work, look, nil, function(at, key, stage, barrier)
    local places = take()
    look(at, key + p.block)
    local panel = stage + (unit >> 3) * (p.block * 128)
    for i, place in ipairs(places) do
      k:mov(place.page, 0, { guard = at.length:eq(0) }) -- the table of an empty sequence may hold anything
      local line = p.layout == "bshd" and (place.page * p.page + place.row) * p.kv_heads + at.head
        or (place.page * p.kv_heads + at.head) * p.page + place.row
      local row = row_of(i)
      local to = panel + ((row << 7) + (((unit & 7) ~ (row & 7)) << 4))
      k:cp_async_cg(to, k:mad_wide_u32(line, 2 * p.dim, from.K), { policy = policy })
      k:cp_async_cg(to + p.tile_bytes, k:mad_wide_u32(line, 2 * p.dim, from.V), { policy = policy })
    end
    k:cp_async_mbarrier_arrive_noinc(barrier)
  end)
end

--- The arrivals at a stage's `full` barrier: of each loader warp that announces bytes, or of each thread that copies.
function module.producers(p) return p.copies == "rows" and 32 * p.loaders or p.loaders end

--- The loop of the loader warps.
--- @param source table  maps of K and V, or pointers K and V; pages and table_width
--- @param thread reg  u32: the thread's number among the loaders
function module.emit(k, p, source, ring, kv, work, thread)
  local lane = thread & 31
  if p.copies == "rows" then return copy_rows(k, p, source, ring, kv, work, thread) end
  if p.loaders == 1 then return copy_panels(k, p, source, ring, kv, work, lane) end
  local loader = k:reg "u32"
  k:shfl_sync_idx_b32(loader, thread >> 5, 0, 31)
  copy_boxes(k, p, source, ring, kv, work, lane, loader)
end

return module
