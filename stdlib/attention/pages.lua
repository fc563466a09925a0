-- K and V in pages, for wg.attention: a table has for each sequence where its pages are. A block of keys comes in boxes
-- that lie in one page each. Boxes behind the end of a sequence are read from a page that there is not, and become 0;
-- behind the end within a box anything may lie, and 0 times infinity is no number: there consumers make V 0. Where
-- pages have few keys, the lanes of a warp copy rows instead, 16 bytes each (`copies` = "rows").

local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"
local native = require "wgrun.native"

local module = {}

-- No page has this number: what is read of it is 0.
local nowhere = 0x7FFFFFFF

-- Boxes of fewer rows take TMA longer than rows take a warp (docs/experiments/attention.md).
local least_box = 16

-- The boxes of a block, and how many of them a thread looks up at a time: few enough for its registers.
local function boxes_of(p)
  local boxes = p.block // p.box_rows
  local at_once = math.min(boxes, 8)
  while boxes % at_once ~= 0 do at_once = at_once - 1 end
  return boxes, at_once
end

-- A barrier for all consumers.
local all_consumers = 7

--- A plan for tensors of K and V in pages: their dimensions are pages, keys of a page, heads and columns (`layout`).
function module.of_keys(p) return p.page and setmetatable({ packed = false }, { __index = p }) or p end

--- Chooses "rows" where boxes would have few rows, and lines are of 128 bytes.
function module.choose_copies(p)
  local whole = p.lines.line_bytes == 128 and p.value_lines.line_bytes == 128
  p.copies = p.page and p.box_rows < least_box and whole and p.block % 32 == 0 and "rows" or "boxes"
  if p.page and p.copies == "boxes" then module.check_boxes(p) end
end

--- The arrivals at a stage's `full` barrier: of the thread that announces bytes, or of each lane that copies rows.
function module.producers(p) return p.copies == "rows" and 32 or 1 end

--- Raises where boxes would come to addresses that TMA cannot write to (PTX ISA 9.7.9.25.5.2).
function module.check_boxes(p)
  for _, lines in ipairs { p.lines, p.value_lines } do
    if p.box_rows * lines.line_bytes % 128 ~= 0 then
      native.fail(("%s: page is %d, must be a multiple of %d where rows are copied in lines of %d bytes"):format(
        p.what, p.page, 128 // lines.line_bytes, lines.line_bytes))
    end
  end
end

--- The keys of a sequence: as many as `lengths` says, and its pages can have.
function module.keys(k, p, sizes, batch, same)
  return k:min(same(k:ld_global_u32(k:element(sizes.lengths, batch))), sizes.table_width * p.page)
end

-- The places in pages of `count` boxes from the key `first` on.
local function look(k, p, sizes, at, first, count)
  local places = {}
  for i = 1, count do
    local row = i == 1 and first or first + (i - 1) * p.box_rows
    local slot, page = division.divided(k, row, p.page), k:mov(nowhere, { type = "u32" })
    k:ld_global_u32(page, k:element(sizes.pages, at.batch * sizes.table_width + slot), { guard = row:lt(at.keys) })
    places[i] = { page = page, row = row - slot * p.page }
  end
  return places
end

--- Returns a function that looks up the block of keys from `key` on, of a sequence and head, and returns copy(to,
--- barrier), which copies it by TMA.
function module.loader(k, p, sizes)
  local place = tensors.place(module.of_keys(p))
  local boxes, at_once = boxes_of(p)
  return function(tile, lines, map, at, key)
    local bytes = p.box_rows * lines.line_bytes -- of a box in a panel
    local function copy(places, to, barrier)
      for i, here in ipairs(places) do
        for _, panel in ipairs(tile.tma_box.panels) do
          local column = k:mov(tile.major == "MN" and panel.mn or panel.k, { type = "u32" })
          k:cp_async_bulk_tensor_4d(
            to + (tile:offset(panel.mn, panel.k) + (i - 1) * bytes), map,
            place(column, { head = at.head, batch = here.page }, here.row), barrier)
        end
      end
    end
    local first = look(k, p, sizes, at, key, at_once)
    return function(to, barrier)
      copy(first, to, barrier)
      if at_once == boxes then return end
      k:loop({ from = at_once, to = boxes, step = at_once }, function(box)
        copy(look(k, p, sizes, at, key + box * p.box_rows, at_once), to + box * bytes, barrier)
      end)
    end
  end
end

--- For all lanes of a warp: returns look(at, key), which finds where the rows of a block of keys are, of a sequence and
--- head, from `key` on; and copy(tile, tensor, columns, to), which copies these by cp.async. Eight lanes copy a line of
--- 128 bytes. What lies behind the end, or in a page that there is not, becomes 0, as in boxes.
function module.row_copier(k, p, sizes)
  local lane = k:special "tid.x" & 31
  local unit, own, lines = lane & 7, lane >> 3, k:regs("u32", p.block // 32)
  local function look(at, key)
    for i = 0, #lines - 1 do
      local number = key + (i == 0 and lane or lane + 32 * i)
      local slot, page = division.divided(k, number, p.page), k:mov(nowhere, { type = "u32" })
      k:ld_global_u32(page, k:element(sizes.pages, at.batch * sizes.table_width + slot), { guard = number:lt(at.keys) })
      local inside = page:lt(sizes.page_count)
      local row = number - slot * p.page
      k:mov(lines[i], nowhere)
      k:mov(
        lines[i], p.layout == "bhsd" and (page * p.kv_heads + at.head) * p.page + row
          or (page * p.page + row) * p.kv_heads + at.head, { guard = inside })
    end
  end
  local function copy(tile, tensor, columns, to)
    local from = k:mad_wide_u32(unit, 16, tensor)
    for row = 0, p.block - 4, 4 do -- of the first eight lanes
      local line = k:reg "u32"
      k:shfl_sync_idx_b32(line, lines[row // 32], own + row % 32, 31)
      local outside = line:eq(nowhere)
      local bytes = k:selp_b32(0, 16, outside, { type = "u32" })
      local source = k:mad_wide_u32(k:selp_b32(0, line, outside, { type = "u32" }), 2 * columns, from)
      local mine = own + row
      local there = to + ((mine << 7) + ((unit ~ (mine & 7)) << 4))
      for number, panel in ipairs(tile.tma_box.panels) do
        k:cp_async_cg(there + tile:offset(panel.mn, panel.k), source + 128 * (number - 1), { src_size = bytes })
      end
    end
  end
  return look, copy
end

--- Waits for the cursor's stage of a ring of K or V. What threads have copied, products see behind a fence.
function module.wait(me, ring, cursor)
  ring:wait(cursor)
  if me.p.copies == "rows" then me.k:fence_proxy_async { space = "shared::cta" } end
end

--- Of a tile's first block, which its sequence may not fill: makes V 0 behind the end.
function module.clear_values(me, at)
  local k, p = me.k, me.p
  if p.copies == "rows" then return end
  local from = me.walk.block * p.block
  k:if_((from + p.block):gt(at.keys), function()
    me.rings.v:wait(me.value)
    local units, first = p.value_lines.line_bytes // 16, at.keys - k:min(from, at.keys)
    local stage = k:address(me.buffers.v) + me.value.stage * p.v.bytes
    local zeros = k:regs("b32", 4)
    for i = 0, 3 do k:mov(zeros[i], 0) end
    local thread = me.thread - 128
    k:loop({ from = first * units + thread, to = p.block * units, step = 128 * p.consumers }, function(unit)
      for _, panel in ipairs(p.v.tma_box.panels) do
        k:st_shared_v4_b32(stage + p.v:offset(panel.mn, panel.k) + (unit << 4), zeros)
      end
    end)
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(all_consumers, { threads = 128 * p.consumers })
  end)
end

return module
