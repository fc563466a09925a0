-- Blocks of a cache of 8-bit floats for wg.mla_decode. wgmma takes V of 8 bits only with keys side by side in memory
-- (PTX ISA 9.7.15.5.1), and a row of the cache has its columns so. Thus the threads of a warpgroup load rows, make
-- 16-bit floats of them, and store these where boxes of 16-bit caches come to: nine panels of 64 columns.
--
-- A thread has two rows of each block, eight apart, and of each panel of 64 columns 16. Eight neighbouring threads,
-- whose stores shared memory takes together, have an even and an odd row: the swizzle moves their 16-byte units to all
-- banks. While a piece of a block is converted, the next one is on its way to registers, and the next block to the L2
-- cache.

local decode_copies = require "wgrun.attention.decode.copies"
local elements = require "wgrun.tile.elements"

local module = {}

--- Rows of the cache by the option `cache_type`: their bytes, and where the scales (f32, one for each 128 columns of V)
--- and the columns of the rotary embedding lie. wide: the type of these, if it is another one. descale: a launch gives
--- one factor of all elements, which scores and O are multiplied by.
module.formats = {
  e4m3 = { dtype = "e4m3", bytes = 576, rotary = 512, descale = true },
  fp8_ds_mla = { dtype = "u8", bytes = 656, scales = 512, rotary = 528, wide = "bf16" },
}

local scaled_columns = 128

-- Whether each 16 keys of a block lie side by side: then a thread's second row is eight rows behind its first one.
-- Registers are scarce: with a place for each row the page numbers were spilled.
local function side_by_side(p) return p.page and p.box_rows >= 16 end

-- What the thread has of a block: from[i], its first unit of row i, and offsets[i], bytes behind that.
local function thread_of(g, thread)
  local k, p = g.k, g.p
  local me = { unit = thread & 3, row = ((thread >> 5) << 4) + (thread >> 2 & 7), from = {}, scales = {} }
  me.to = k:address(g.buffers.cache) + ((me.row << 7) + (((me.unit << 1) ~ (me.row & 7)) << 4))
  for i = 0, 1 do
    me.from[i] = i == 1 and side_by_side(p) and me.from[0] or k:reg "u64"
    me.scales[i] = p.format.scales and k:regs("f32", 4)
  end
  me.offsets = { [0] = 0, side_by_side(p) and 8 * p.format.bytes or 0 }
  return me
end

-- Begins to load a piece to registers, four words each: of each panel, of each row, a unit of 16 bytes, or of a panel
-- of 16-bit floats two that lie side by side. again: registers of an earlier load.
local function load_piece(g, me, piece, again)
  local k, p, loaded = g.k, g.p, again or {}
  for panel = piece.first, piece.first + piece.panels - 1 do
    local rotary = 64 * panel >= p.value_dim
    local wide, offset = rotary and p.format.wide, rotary and p.format.rotary or 64 * panel
    loaded[panel] = loaded[panel] or { [0] = {}, {} }
    for i = 0, 1 do
      local units = loaded[panel][i]
      local from = wide and k:mad_wide_u32(me.unit, 16, me.from[i]) or me.from[i]
      for half = 0, wide and 1 or 0 do
        units[half] = units[half] or k:regs("b32", 4)
        k:ld_global_v4_b32(units[half], from, { offset = me.offsets[i] + offset + 16 * half })
      end
    end
  end
  return loaded
end

-- Two words of four 8-bit floats each as four words of two 16-bit floats, times a scale if there is one.
local function converted(g, first, second, scale)
  local k, p, out = g.k, g.p, {}
  for i, word in ipairs { first, second } do
    local halves = k:regs("b16", 2)
    k:unpack(halves, word)
    for j = 0, 1 do
      local x, y = elements.from_output.e4m3(k, halves[j])
      if scale then x, y = x * scale, y * scale end
      out[2 * i + j - 1] = elements.to_output[p.dtype](k, x, y)
    end
  end
  return out
end

-- Stores a piece that has been loaded to a stage of the cache's buffer.
local function store_piece(g, me, piece, loaded, stage)
  local k, p = g.k, g.p
  for panel = piece.first, piece.first + piece.panels - 1 do
    for i = 0, 1 do
      local units = loaded[panel][i]
      local to = me.to + (stage * p.k.bytes + (panel * p.panel_bytes + 8 * 128 * i))
      for half = 0, 1 do
        local words = units[half]
        if not units[1] then
          local scale = me.scales[i] and me.scales[i][64 * panel // scaled_columns]
          words = converted(g, units[0][2 * half], units[0][2 * half + 1], scale)
        end
        k:st_shared_v4_b32(half == 0 and to or to ~ 16, words)
      end
    end
  end
end

-- Where the thread's rows of the block lie that begins with `key`, or the first one alone if they lie side by side:
-- look(at, key) and take(at) as the decoder's.
local function lookup(g, me)
  local k, p = g.k, g.p
  local function row_of(i) return i == 1 and me.row or me.row + 8 end
  if side_by_side(p) then
    local in_box = me.row & (p.box_rows - 1)
    local look, take = decode_copies.lookup(k, p, g.sizes, 1, function() return me.row - in_box end, p.box_rows)
    return look, function()
      local place = take()[1]
      return { { page = place.page, row = place.row + in_box } }
    end
  end
  if p.page then return decode_copies.lookup(k, p, g.sizes, 2, row_of, 1) end
  local following = k:mov(0, { type = "u32" })
  local function take(at)
    local places, last = {}, k:max(at.length, 1) - 1
    for i = 1, 2 do places[i] = { page = at.batch, row = k:min(following + row_of(i), last) } end
    return places
  end
  return function(_, key) k:mov(following, key) end, take
end

-- The address of the row at a place.
local function row_at(g, at, place)
  local k, p = g.k, g.p
  local page = k:selp(place.page, 0, at.length:ne(0)) -- the table of an empty sequence may hold anything
  return k:mad_wide_u32(page * (p.page or g.sizes.keys) + place.row, p.format.bytes, g.sizes.cache)
end

-- The thread goes on to the rows at `places`.
local function enter(g, me, at, places)
  local k, format = g.k, g.p.format
  for i, place in ipairs(places) do
    k:mov(me.from[i - 1], row_at(g, at, place))
  end
  for i = 0, 1 do
    if format.scales then k:ld_global_v4_f32(me.scales[i], me.from[i], { offset = me.offsets[i] + format.scales }) end
  end
  for i = 1, #places do k:mov(me.from[i - 1], k:mad_wide_u32(me.unit, 16, me.from[i - 1])) end
end

-- Brings the block at `places` to the L2 cache: at once where its rows lie side by side, else each row by a thread.
local function prefetch(g, me, at, key, places)
  local k, p = g.k, g.p
  local there = key:lt(at.length)
  if not p.page or p.box_rows == p.block then
    local rows = p.page and p.block or k:min(at.length - key, p.block)
    local size = p.page and k:mov(rows * p.format.bytes, { type = "u32" }) or rows * p.format.bytes
    k:cp_async_bulk_prefetch(row_at(g, at, places[1]), size, { guard = there & k:special "tid.x":eq(0) })
  else
    for _, place in ipairs(places) do
      for _, offset in ipairs(#places == 2 and { 0 } or { 0, me.offsets[1] }) do
        local size = k:mov(p.format.bytes, { type = "u32" })
        k:cp_async_bulk_prefetch(row_at(g, at, place), size, { guard = there & me.unit:eq(0), offset = offset })
      end
    end
  end
end

--- The loop of the warpgroup that converts. thread: u32, its number there. copy_queries(at): begins to copy those of a
--- work unit.
function module.emit(g, work, thread, copy_queries)
  local k, p = g.k, g.p
  local me, lane = thread_of(g, thread), thread & 31
  local look, take = lookup(g, me)
  local pieces, cursor = g.pieces, g.pieces[1].ring:cursor()
  work.each_unit(function(at, count)
    local key = at.block * p.block
    look(at, key)
    local places = take(at)
    look(at, key + p.block)
    copy_queries(at)
    enter(g, me, at, places)
    local first = load_piece(g, me, pieces[1])
    k:loop(count, function()
      local following = take(at)
      prefetch(g, me, at, key + p.block, following)
      look(at, key + 2 * p.block)
      local loaded = first
      for i, piece in ipairs(pieces) do
        local ahead = pieces[i % #pieces + 1]
        if i == #pieces then enter(g, me, at, following) end
        ahead = load_piece(g, me, ahead, i == #pieces and first or nil)
        piece.ring:acquire(cursor)
        store_piece(g, me, piece, loaded, cursor.stage)
        k:bar_warp_sync(0xFFFFFFFF)
        k:mbarrier_arrive(piece.ring:full_barrier(cursor), { guard = lane:eq(0) })
        loaded = ahead
      end
      pieces[1].ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

return module
