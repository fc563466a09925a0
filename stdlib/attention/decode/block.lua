-- What a compute warp of wg.attention_decode does with a block of keys: the scores of its 16 rows of queries and its
-- slice of the keys, by mma.sync, their softmax, and the values that they weigh. Scores are accumulators of 16 rows and
-- 8 keys each: register 4 eight + 2 half + i is key 8 eight + column + i (PTX ISA 9.7.14.5.8, figure of the C
-- fragment).

local scores = require "wgrun.attention.scores"
local division = require "wgrun.builder.division"
local warps = require "wgrun.builder.warp"
local elements = require "wgrun.tile.elements"

local module = {}

-- The addresses that ldmatrix takes in a stage, for the 16 columns `unit` (0 to 3) of each panel: eight rows of 128
-- bytes, whose units lie in different banks by the swizzle. Scores want K as it is: lanes 8 to 15 give the next
-- columns, lanes 16 to 31 the next eight keys. Values want V transposed: lanes 8 to 15 give the next keys.
local function addresses(k, p, kv, warp)
  local lane, base = warp.lane, k:address(kv) + warp.key_group * (p.slice * 128)
  local in_eight = lane & 7
  local key_of_k, key_of_v = in_eight + ((lane >> 4) << 3), lane & 15
  local of_k, of_v = {}, {}
  for unit = 0, 3 do
    of_k[unit] = base + (key_of_k << 7) + (((((lane >> 3) & 1) + 2 * unit) ~ in_eight) << 4)
    of_v[unit] = base + (key_of_v << 7) + p.tile_bytes + ((((lane >> 4) + 2 * unit) ~ in_eight) << 4)
    if warp.column_group then of_v[unit] = of_v[unit] + warp.column_group * (p.own_columns * p.block * 2) end
  end
  return function(stage)
    local k_at, v_at = {}, {}
    local ahead = stage * (2 * p.tile_bytes)
    for unit = 0, 3 do k_at[unit], v_at[unit] = of_k[unit] + ahead, of_v[unit] + ahead end
    return k_at, v_at
  end
end

-- The key of the thread's first score in a block.
local function first_key(me, block)
  return me.k:mov(block * me.p.block + me.warp.key_group * me.p.slice + me.column, { type = "s32" })
end

-- The limits of what a warp sees of a block, where it does not see all of it. Keys count from the thread's first one.
local function mask_of(me, at, block)
  local k, p = me.k, me.p
  local function signed(x) return k:mov(x, { type = "s32" }) end
  local first = first_key(me, block)
  local length = signed(at.length) - first
  local mask = { length = length }
  for half = 0, p.row_halves - 1 do
    mask[half] = length
    if p.causal and p.queries > 1 then -- the last query sees all keys, the one before all but the last
      mask[half] = length - (p.queries - 1) + signed(division.divided(k, me.rows[half].number, p.sharing))
    end
  end
  return mask
end

-- Calls visit(r, key) for the scores of a row, with their keys, counted from the thread's first.
local function each_score(me, half, visit)
  for eight = 0, me.p.slice // 8 - 1 do
    for i = 0, 1 do visit(4 * eight + 2 * half + i, 8 * eight + i) end
  end
end

-- Calls visit(fragment, slice, step) for the 16 x 16 blocks of so many columns of K or V, each two operands B of eight
-- columns.
local function each_fragment(me, columns, load, from, visit)
  for step = 0, columns // 16 - 1 do
    for slice = 0, me.p.slice // 16 - 1 do
      visit(load(me.k, from[step % 4], { offset = step // 4 * me.p.block * 128 + slice * 16 * 128 }), slice, step)
    end
  end
end

local function score(me, k_at)
  each_fragment(me, me.p.dim, me.k.ldmatrix_x4, k_at, function(b, slice, step)
    for eight = 0, 1 do
      local d = me.scores:slice(8 * slice + 4 * eight, 4)
      me.k:mma_sync(d, me.q:slice(4 * step, 4), b:slice(2 * eight, 2), step == 0 and me.zeros or d, me.form)
    end
  end)
end

local function hide(me, mask)
  for half = 0, me.p.row_halves - 1 do
    each_score(me, half, function(r, key) me.k:mov(me.scores[r], -math.huge, { guard = mask[half]:le(key) }) end)
  end
end

-- Makes probabilities of a row's scores, relative to the running maximum. Returns the factor by which the sums so far
-- shrink, and whether this maximum, or one of those before (`grown`), has grown.
local function softmax_of_row(me, half, grown)
  local k, scores, own, top, sum = me.k, me.scores, me.rows[half], nil, nil
  each_score(me, half, function(r) top = top and k:max(top, scores[r]) or scores[r] end)
  top = k:max(warps.over_lanes(k, top, function(x, y) return k:max(x, y) end), own.maximum)
  local grows = top:gt(own.maximum)
  grown = grown and grown | grows or grows
  local shrink = k:ex2_approx_ftz((own.maximum - top) * me.scale)
  k:mov(own.maximum, top)
  local minus = k:neg(top * me.scale)
  each_score(me, half, function(r) k:ex2_approx_ftz(scores[r], k:fma(scores[r], me.scale, minus)) end)
  each_score(me, half, function(r) sum = sum and sum + scores[r] or scores[r] end)
  k:fma(own.sum, own.sum, shrink, sum)
  for r = half, #me.probabilities - 1, 2 do
    k:mov(me.probabilities[r], elements.to_output[me.p.dtype](k, scores[2 * r], scores[2 * r + 1]))
  end
  return shrink, grown
end

-- Scores become probabilities; the sums so far shrink where the maximum has grown.
local function softmax(me)
  local k, acc, shrink, grown = me.k, me.acc, {}, nil
  for half = 0, me.p.row_halves - 1 do shrink[half], grown = softmax_of_row(me, half, grown) end
  k:if_(k:vote_sync_any_pred(grown), function()
    for r = 0, #acc - 1 do
      local half = r // 2 % 2
      if half < me.p.row_halves then k:mul(acc[r], acc[r], shrink[half]) end
    end
  end)
end

-- Behind the end of a sequence anything may lie in memory, and 0 times infinity is no number: V is cleared there.
local function clear(k, b, mask, slice)
  for i = 0, 3 do
    local key = 16 * slice + 8 * (i % 2)
    k["and"](
      k, b[i], b[i], k:selp_b32(0xFFFF, 0, mask.length:gt(key)) | k:selp_b32(0xFFFF0000, 0, mask.length:gt(key + 1)))
  end
end

local function add_values(me, v_at, mask)
  each_fragment(me, me.p.own_columns, me.k.ldmatrix_x4_trans, v_at, function(b, slice, step)
    if mask then clear(me.k, b, mask, slice) end
    for eight = 0, 1 do
      local d = me.acc:slice(8 * step + 4 * eight, 4)
      me.k:mma_sync(d, me.probabilities:slice(4 * slice, 4), b:slice(2 * eight, 2), d, me.form)
    end
  end)
end

--- Returns step(at, block, masked), which adds the values of a block, of the stage that comes next, to the sums of the
--- warp `me`: a table of k, p, warp, scale, q (the queries as operand A), acc, rows and column.
function module.emit(me, ring, kv)
  local k, p = me.k, me.p
  me.scores, me.probabilities, me.zeros = k:regs("f32", p.slice // 2), k:regs("b32", p.slice // 4), k:regs("f32", 4)
  for i = 0, 3 do k:mov(me.zeros[i], 0.0) end
  for r = 0, #me.probabilities - 1 do k:mov(me.probabilities[r], 0) end -- those of unused rows stay so
  me.form = { d = "f32", a = p.dtype, b = p.dtype, k = 16 }
  local cursor, at_stage, scored = ring:cursor(), addresses(k, p, kv, me.warp), scores.emit_packed(me, me.sizes.cap)

  return function(at, block, masked)
    ring:wait(cursor)
    local k_at, v_at = at_stage(cursor.stage)
    score(me, k_at)
    if scored then scored(at, first_key(me, block)) end
    local mask = masked and mask_of(me, at, block)
    if mask then hide(me, mask) end
    softmax(me)
    add_values(me, v_at, mask)
    -- TMA's next copies come after these reads
    if p.copies == "boxes" then k:fence_proxy_async { space = "shared::cta" } end
    k:bar_warp_sync()
    ring:release(cursor, { lane = me.warp.lane })
    ring:advance(cursor)
  end
end

return module
