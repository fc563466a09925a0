-- Blocks of a cache of 8-bit floats for wg.mla_decode. wgmma takes V of 8 bits only with keys side by side in memory
-- (PTX ISA 9.7.15.5.1), and a row of the cache has its columns so. Thus the threads of two warpgroups load rows, make
-- 16-bit floats of them, and store these where boxes of 16-bit caches come to: nine panels of 64 columns.
--
-- Four neighbouring threads have a row of each block, and each of them 16 columns of each panel. Eight threads, whose
-- stores shared memory takes together, have an even and an odd row: the swizzle moves their 16-byte units to all banks.
-- While a piece of a block is converted, the next ones are on their way to registers, and the next block to the L2
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

-- Pieces that are on their way to registers while another one is converted.
local ahead = 2

-- shfl.sync.idx among four neighbouring lanes (PTX ISA 9.7.9.6).
local four_lanes = 28 << 8 | 31

-- What the thread has of a block: `from`, its first unit of its row, and one of the row's scales.
local function thread_of(g, thread)
  local k, scaled = g.k, g.p.format.scales
  local me = { unit = thread & 3, row = thread >> 2, from = k:reg "u64" }
  me.to = k:address(g.buffers.cache) + ((me.row << 7) + (((me.unit << 1) ~ (me.row & 7)) << 4))
  me.scale, me.next_scale = scaled and k:reg "b32", scaled and k:reg "f32"
  return me
end

-- Begins to load a piece to registers, four words each: of each panel a unit of 16 bytes, or of a panel of 16-bit
-- floats two that lie side by side. again: registers of an earlier load.
local function load_piece(g, me, piece, again)
  local k, p, loaded = g.k, g.p, again or {}
  for panel = piece.first, piece.first + piece.panels - 1 do
    local rotary = 64 * panel >= p.value_dim
    local wide, offset = rotary and p.format.wide, rotary and p.format.rotary or 64 * panel
    local from = wide and k:mad_wide_u32(me.unit, 16, me.from) or me.from
    loaded[panel] = loaded[panel] or {}
    for half = 0, wide and 1 or 0 do
      loaded[panel][half] = loaded[panel][half] or k:regs("b32", 4)
      k:ld_global_v4_b32(loaded[panel][half], from, { offset = offset + 16 * half })
    end
  end
  return loaded
end

local function twice(half) return half << 16 | half end

-- The thread's scale, times what is left of the exponents' bias, in two parts: the nearest 16-bit float in the lower
-- half of a word, and what it leaves in the upper one. One alone is off by up to 2^-8, for all of its columns.
local function two_parts(g, scale)
  local k = g.k
  local whole = scale * elements.moved_e4m3.bf16.left
  local nearest = k:mov(k:cvt_rn_bf16x2_f32(whole, whole) & 0xFFFF0000, { type = "f32" })
  return k:cvt_rn_bf16x2_f32(whole - nearest, whole)
end

-- Four e4m3 of a word as two words of two 16-bit floats, times a scale if there is one, in two parts. prmt gives each
-- number the bits of its sign in front; a shift brings exponent and mantissa to where those of the wider type begin,
-- and the sign to its place. With conversions (F2FP, HADD2.F32) a block took twice as long as its products
-- (docs/experiments/mla_decoding.md).
local function converted(g, word, scale)
  local k, dtype, out = g.k, g.p.dtype, {}
  local wider = elements.moved_e4m3[dtype]
  local shift = wider.mantissa - 3
  local function mul(x, y) return k[("mul_%sx2"):format(dtype)](k, x, y) end
  for i, selector in ipairs { 0x9180, 0xB3A2 } do
    local bits = k:prmt_b32(word, word, selector) << shift & twice(0x8000 | 0x7F << shift)
    if scale then
      local x = mul(bits, k:mov(twice(wider.scale), { type = "b32" }))
      out[i] = k:fma_bf16x2(x, scale.nearest, mul(x, scale.left))
    else
      out[i] = mul(bits, k:mov(twice(wider.whole), { type = "b32" }))
    end
  end
  return out
end

-- Stores a piece that has been loaded to a stage of the cache's buffer.
local function store_piece(g, me, piece, loaded, stage)
  local k, p, scale = g.k, g.p, nil
  if me.scale and 64 * piece.first < p.value_dim then -- a piece of V has the columns of one scale
    local parts = k:reg "b32"
    k:shfl_sync_idx_b32(parts, me.scale, piece.first // piece.panels, four_lanes)
    scale = { nearest = k:prmt_b32(parts, parts, 0x1010), left = k:prmt_b32(parts, parts, 0x3232) }
  end
  for panel = piece.first, piece.first + piece.panels - 1 do
    local units, to = loaded[panel], me.to + (stage * p.k.bytes + panel * p.panel_bytes)
    for half = 0, 1 do
      local words = units[half]
      if not units[1] then
        local first, second = converted(g, units[0][2 * half], scale), converted(g, units[0][2 * half + 1], scale)
        words = { first[1], first[2], second[1], second[2] }
      end
      k:st_shared_v4_b32(half == 0 and to or to ~ 16, words)
    end
  end
end

-- Where the thread's row of the block lies that begins with `key`: look(at, key) and take(at) as the decoder's.
local function lookup(g, me)
  local k, p = g.k, g.p
  if p.page then
    local look, take = decode_copies.lookup(k, p, g.sizes, 1, function() return me.row end, 1)
    return look, function() return take()[1] end
  end
  local following = k:mov(0, { type = "u32" })
  return function(_, key) k:mov(following, key) end, function(at)
    return { page = at.batch, row = k:min(following + me.row, k:max(at.length, 1) - 1) }
  end
end

-- The address of the row at a place.
local function row_at(g, at, place)
  local k, p = g.k, g.p
  local page = k:selp(place.page, 0, at.length:ne(0)) -- the table of an empty sequence may hold anything
  return k:mad_wide_u32(page * (p.page or g.sizes.keys) + place.row, p.format.bytes, g.sizes.cache)
end

-- The thread goes on to the row at a place.
local function enter(g, me, at, place)
  local k, row = g.k, row_at(g, at, place)
  k:mov(me.from, k:mad_wide_u32(me.unit, 16, row))
  if me.scale then
    k:ld_global_f32(me.next_scale, k:mad_wide_u32(me.unit, 4, row), { offset = g.p.format.scales })
  end
end

-- Brings the block at `place` to the L2 cache: at once where its rows lie side by side, else each row by a thread.
local function prefetch(g, me, at, key, place)
  local k, p = g.k, g.p
  local asks = p.box_rows == p.block and k:special "tid.x":eq(0) or me.unit:eq(0)
  local rows = p.box_rows == p.block and p.block or 1
  if not p.page then rows = k:min(at.length - key, p.block) end
  k:cp_async_bulk_prefetch(
    row_at(g, at, place), k:mov(rows * p.format.bytes, { type = "u32" }), { guard = key:lt(at.length) & asks })
end

--- The loop of the warpgroups that convert. thread: u32, its number there. copy_queries(at): begins to copy those of a
--- work unit.
function module.emit(g, work, thread, copy_queries)
  local k, p = g.k, g.p
  local me, lane = thread_of(g, thread), thread & 31
  local look, take = lookup(g, me)
  local pieces, cursor = g.pieces, g.pieces[1].ring:cursor()
  work.each_unit(function(at, count)
    local key = at.block * p.block
    look(at, key)
    local place = take(at)
    look(at, key + p.block)
    copy_queries(at)
    enter(g, me, at, place)
    local loaded = {}
    for i = 1, ahead do loaded[i] = load_piece(g, me, pieces[i]) end
    k:loop(count, function()
      if me.scale then k:mov(me.scale, two_parts(g, me.next_scale)) end
      local following = take(at)
      prefetch(g, me, at, key + p.block, following)
      look(at, key + 2 * p.block)
      for i, piece in ipairs(pieces) do
        local number = (i + ahead - 1) % #pieces + 1
        if number == 1 then enter(g, me, at, following) end
        loaded[number] = load_piece(g, me, pieces[number], loaded[number])
        piece.ring:acquire(cursor)
        store_piece(g, me, piece, loaded[i], cursor.stage)
        k:bar_warp_sync(0xFFFFFFFF)
        k:mbarrier_arrive(piece.ring:full_barrier(cursor), { guard = lane:eq(0) })
      end
      pieces[1].ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

return module
