-- Rows of a cache of 8-bit floats that a thread of wg.mla_decode loads, a piece of a block at a time. Loads and the
-- operands of products share the paths of the SM's memory, a line of 128 bytes at a time, and rows of 656 bytes are not
-- aligned to lines. So eight neighbouring threads load 128 bytes of a row, which lie in two lines
-- (docs/experiments/mla_decoding.md).

local decode_copies = require "wgrun.attention.decode.copies"

local module = {}

--- Rows of the cache by the option `cache_type`: their bytes, and where the scales (f32, one for each 128 columns of V)
--- and the columns of the rotary embedding lie. wide: the type of these, if it is another one. descale: a launch gives
--- one factor of all elements, which scores and O are multiplied by.
module.formats = {
  e4m3 = { dtype = "e4m3", bytes = 576, rotary = 512, descale = true },
  fp8_ds_mla = { dtype = "u8", bytes = 656, scales = 512, rotary = 528, wide = "bf16" },
}

--- What the thread has of a block: `rows` rows, `apart` from each other, the first of which is `row`; `unit`, its place
-- among the eight threads of a row; for each row `from`, where it is in the cache, and `next`, where the next block's
-- is. Where all rows of a block lie side by side in memory, there is one of these. scale and next_scale: of two rows,
-- one of their eight scales.
function module.thread(g, thread)
  local k, p = g.k, g.p
  local me = { unit = thread & 7, row = thread >> 3, apart = 16 * p.copiers, from = {}, next = {} }
  me.rows = p.block // me.apart
  me.together = p.page and p.box_rows == p.block
  me.places = me.together and 1 or me.rows
  for i = 1, me.places do me.from[i], me.next[i] = k:reg "u64", k:reg "u64" end
  if p.format.scales then
    me.scale, me.next_scale = {}, {}
    for i = 1, me.rows // 2 do me.scale[i], me.next_scale[i] = k:reg "b32", k:reg "f32" end
  end
  return me
end

--- Whether a piece has the columns of the rotary embedding.
function module.is_rotary(p, piece) return 64 * piece.first >= p.value_dim end

-- Where row `i` of the thread's, from 0, begins: of the places at `from`, and so many bytes further.
local function row_of(p, me, from, i)
  if me.together then return from[1], i * me.apart * p.format.bytes end
  return from[i + 1], 0
end

--- Begins to load a piece to registers: of each row 16 bytes, or of 8-bit columns of the rotary embedding 8. again:
-- registers of an earlier load.
function module.load(g, me, piece, places, again)
  local k, p, loaded = g.k, g.p, again or {}
  local narrow = module.is_rotary(p, piece) and not p.format.wide
  local bytes = narrow and 8 or 16
  for i = 0, me.rows - 1 do
    local row, offset = row_of(p, me, places, i)
    loaded[i] = loaded[i] or k:regs("b32", bytes // 4)
    offset = offset + (module.is_rotary(p, piece) and p.format.rotary or 64 * piece.first)
    k["ld_global_v" .. bytes // 4 .. "_b32"](
      k, loaded[i], k:mad_wide_u32(me.unit, bytes, row), { offset = offset })
  end
  return loaded
end

--- Where the thread's rows of the block lie that begins with `key`: look(at, key) and take(at) as the decoder's.
function module.lookup(g, me)
  local k, p = g.k, g.p
  if p.page then
    return decode_copies.lookup(
      k, p, g.sizes, me.places, function(i) return i == 1 and me.row or me.row + me.apart * (i - 1) end, 1)
  end
  local following = k:mov(0, { type = "u32" })
  return function(_, key) k:mov(following, key) end, function(at)
    local places, last = {}, k:max(at.length, 1) - 1
    for i = 1, me.places do
      places[i] = { page = at.batch, row = k:min(following + (me.row + me.apart * (i - 1)), last) }
    end
    return places
  end
end

--- Begins with the rows at `places`, those of the next block: where they are, and their scales.
function module.find(g, me, at, places)
  local k, p = g.k, g.p
  for i, place in ipairs(places) do
    local page = k:selp(place.page, 0, at.length:ne(0)) -- the table of an empty sequence may hold anything
    k:mov(
      me.next[i], k:mad_wide_u32(page * (p.page or g.sizes.keys) + place.row, p.format.bytes, g.sizes.cache))
  end
  if not me.scale then return end
  for i, scale in ipairs(me.next_scale) do
    local first, offset = row_of(p, me, me.next, 2 * i - 2)
    local second, further = row_of(p, me, me.next, 2 * i - 1)
    local of_second = me.unit:ge(4)
    local row = me.together and k:mad_wide_u32(k:selp_b32(further, offset, of_second, { type = "u32" }), 1, first)
      or k:selp(second, first, of_second)
    k:ld_global_f32(scale, k:mad_wide_u32(me.unit & 3, 4, row), { offset = p.format.scales })
  end
end

--- The thread goes on to the rows that find has found.
function module.enter(g, me)
  for i, from in ipairs(me.from) do g.k:mov(from, me.next[i]) end
end

--- Brings the block that find has found to the L2 cache: at once where its rows lie side by side, else each row
-- by a thread.
function module.prefetch(g, me, at, key)
  local k, p = g.k, g.p
  local function ask(row, guard, rows)
    k:cp_async_bulk_prefetch(row, k:mov(rows * p.format.bytes, { type = "u32" }), { guard = guard })
  end
  if p.box_rows == p.block then
    local rows = p.page and p.block or k:min(at.length - key, p.block)
    return ask(me.next[1], key:lt(at.length) & k:special "tid.x":eq(0), rows)
  end
  for i, row in ipairs(me.next) do
    ask(row, (key + (me.row + me.apart * (i - 1))):lt(at.length) & me.unit:eq(0), k:mov(1, { type = "u32" }))
  end
end

return module
