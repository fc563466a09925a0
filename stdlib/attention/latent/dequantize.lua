-- Blocks of a cache of 8-bit floats for wg.mla_decode. wgmma takes V of 8 bits only with keys side by side in memory
-- (PTX ISA 9.7.15.5.1), and a row of the cache has its columns so. Thus the threads of two warpgroups load rows, make
-- 16-bit floats of them, and store these where boxes of 16-bit caches come to: nine panels of 64 columns.
--
-- Eight neighbouring threads have a row of each block, and each of them 16 neighbouring columns of the 128 of a piece.
-- Half of them have their columns in the second panel of the piece: they store their two units of 16 bytes in the other
-- order, so that the swizzle moves all eight to different banks.
--
-- While pieces of a block are converted, others are on their way to registers. ptxas (13.0) counts all loads of the
-- loop by one scoreboard: a wait for one of them is a wait for all. So a thread waits for two pieces before it begins
-- to load others (arrive).

local row_loads = require "wgrun.attention.latent.row_loads"
local elements = require "wgrun.tile.elements"

local module = {}

-- Columns of V with one scale: those of a piece.
local scaled = 128

-- shfl.sync.idx among eight neighbouring lanes (PTX ISA 9.7.9.6).
local eight_lanes = 24 << 8 | 31

-- prmt (PTX ISA 9.7.9.7) of the lower and the upper two numbers of a word: each with the bits of its sign in front.
local selectors = { 0x9180, 0xB3A2 }

-- What the thread needs to store, besides what it needs to load (row_loads.lua).
local function thread_of(g, thread)
  local k, me = g.k, row_loads.thread(g, thread)
  local second, line = me.unit >> 2, k:address(g.buffers.cache) + (me.row << 7)
  me.to = line + (second * g.p.panel_bytes + ((((me.unit & 3) << 1 | second) ~ (me.row & 7)) << 4))
  me.rotary_to = line + ((me.unit ~ (me.row & 7)) << 4)
  -- prmt takes two numbers of the first of two words, or of the second one.
  me.selectors = {}
  for i, selector in ipairs(selectors) do
    me.selectors[i] = k:selp_b32(selector ~ 0x4444, selector, second:ne(0), { type = "b32" })
  end
  me.arrived = k:address(g.buffers.arrived, thread << 2)
  return me
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

-- Two e4m3 of the words x and y, which prmt selects, as two 16-bit floats, times a scale if there is one, in two parts.
-- prmt gives each number the bits of its sign in front; a shift brings exponent and mantissa to where those of the
-- wider type begin, and the sign to its place.
local function converted(g, x, y, selector, scale)
  local k, dtype = g.k, g.p.dtype
  local wider = elements.moved_e4m3[dtype]
  local shift = wider.mantissa - 3
  local function mul(a, b) return k[("mul_%sx2"):format(dtype)](k, a, b) end
  local bits = k:prmt_b32(x, y, selector) << shift & twice(0x8000 | 0x7F << shift)
  if not scale then return mul(bits, k:mov(twice(wider.whole), { type = "b32" })) end
  local number = mul(bits, k:mov(twice(wider.scale), { type = "b32" }))
  return k:fma_bf16x2(number, scale.nearest, mul(number, scale.left))
end

-- The scales of a piece, which has the columns of one: of each row of the thread's, in both parts.
local function scales_of(g, me, piece)
  local k, scales = g.k, {}
  if not me.scale or row_loads.is_rotary(g.p, piece) then return scales end
  for i = 0, me.rows - 1 do
    scales[i] = k:reg "b32"
    k:shfl_sync_idx_b32(scales[i], me.scale[i // 2 + 1], 4 * (i % 2) + piece.first * 64 // scaled, eight_lanes)
  end
  return scales
end

-- Stores a piece that has been loaded to a stage of the cache's buffer.
local function store_piece(g, me, piece, loaded, scales, stage)
  local k, p = g.k, g.p
  local rotary = row_loads.is_rotary(p, piece)
  local to = (rotary and me.rotary_to or me.to) + (stage * p.k.bytes + piece.first * p.panel_bytes)
  for i = 0, me.rows - 1 do
    local words, parts = loaded[i], scales[i]
    local scale = parts and { nearest = k:prmt_b32(parts, parts, 0x1010), left = k:prmt_b32(parts, parts, 0x3232) }
    local line = i == 0 and to or to + i * me.apart * 128
    local function store(unit, own, first, other)
      local out = {}
      for j = 0, 1 do
        for _, selector in ipairs(own) do
          out[#out + 1] = converted(g, words[first + j], words[other + j], selector, scale)
        end
      end
      k:st_shared_v4_b32(unit, out)
    end
    if rotary and p.format.wide then
      k:st_shared_v4_b32(line, words)
    elseif rotary then
      store(line, selectors, 0, 0)
    else
      store(line, me.selectors, 0, 2)
      store(line ~ 16, me.selectors, 2, 0)
    end
  end
end

-- Waits until a piece has come to registers: stores a word of it that nobody reads. Loads that follow stay behind it.
local function arrive(g, me, loaded)
  local k, words = g.k, loaded[me.rows - 1]
  k:st_shared_b32(me.arrived, words[#words - 1])
  k:bar_warp_sync(0xFFFFFFFF)
end

--- The loop of the warpgroups that convert. thread: u32, its number there. copy_queries(at): begins to copy those of a
--- work unit.
function module.emit(g, work, thread, copy_queries)
  local k, p = g.k, g.p
  local me, lane = thread_of(g, thread), thread & 31
  local look, take = row_loads.lookup(g, me)
  local pieces, cursor, loaded = g.pieces, g.pieces[1].ring:cursor(), {}
  local function load(places, ...)
    for _, i in ipairs { ... } do loaded[i] = row_loads.load(g, me, pieces[i], places, loaded[i]) end
  end
  local function convert(...)
    for _, i in ipairs { ... } do
      local piece, scales = pieces[i], scales_of(g, me, pieces[i])
      piece.ring:acquire(cursor)
      store_piece(g, me, piece, loaded[i], scales, cursor.stage)
      k:bar_warp_sync(0xFFFFFFFF)
      k:mbarrier_arrive(piece.ring:full_barrier(cursor), { guard = lane:eq(0) })
    end
  end
  work.each_unit(function(at, count)
    local key = at.block * p.block
    look(at, key)
    row_loads.find(g, me, at, take(at))
    look(at, key + p.block)
    copy_queries(at)
    row_loads.enter(g, me)
    load(me.from, 1, 2)
    k:loop(count, function()
      arrive(g, me, loaded[2])
      if me.scale then
        for i, scale in ipairs(me.next_scale) do k:mov(me.scale[i], two_parts(g, scale)) end
      end
      row_loads.find(g, me, at, take(at))
      row_loads.prefetch(g, me, at, key + p.block)
      look(at, key + 2 * p.block)
      load(me.from, 3, 4)
      convert(1, 2)
      arrive(g, me, loaded[4])
      load(me.next, 1, 2)
      convert(3)
      load(me.from, 5)
      convert(4, 5)
      row_loads.enter(g, me)
      pieces[1].ring:advance(cursor)
      k:add(key, key, p.block)
    end)
  end)
end

return module
