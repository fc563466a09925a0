-- What three warps of wg.ssd_backward's kernel make of a unit besides its products: sums over the columns of both
-- states, the gradient of dt, and sums over the chunk's tokens for those of A, dt_bias and D. With the sums of a token
-- that the warpgroups leave (side.lua), row of its pairs and its state as a query, column and state as a key, the
-- gradient of A dt is
--
--   da_t = sum over i >= t of (row_i - dt_i column_i) + sum over j < t of (dt_j state_j) + exp(G_63) <R, S>
--
-- where pairs of tokens both after t cancel each other: both sums of the pairs are of the same f32 products.

local arrays = require "wgrun.linear_attention.gates"
local warps = require "wgrun.builder.warp"

local module = {}

local function sum(a, b) return a + b end

-- Stores a sum over the chunk's tokens of a head: number `field` of p.fields.
local function store_part(g, head, field, value, guard)
  local k, p = g.k, g.p
  local row = k:cvt_u64_u32(head * p.fields + field) * k:cvt_u64_u32(g.sizes.records)
  k:st_global_b32(k:element(g.sizes.parts, row + k:cvt_u64_u32(g.at.record)), value, { guard = guard })
end

--- For a record that no sequence has: all of its sums are 0.
function module.nothing(g)
  local k, p = g.k, g.p
  local first = g.unit(k:mov(0, { type = "u32" })).head * p.fields
  local count = p.units // p.head_units * p.fields
  k:loop({ from = k:special "tid.x", to = count, step = p.threads }, function(field)
    store_part(g, k:mov(0, { type = "u32" }), first + field, k:mov(0.0, { type = "f32" }))
  end)
end

-- The sum over the lanes after the lane's own.
local function after(k, value, lane)
  local total = k:mov(value, { type = "f32" })
  for i = 0, 4 do
    local other = k:reg "f32"
    k:shfl_sync_down_b32(other, total, 1 << i, 31)
    k:add(total, total, other, { guard = lane:lt(32 - (1 << i)) })
  end
  local out = k:reg "f32"
  k:shfl_sync_down_b32(out, total, 1, 31)
  return k:selp(out, 0.0, lane:lt(31))
end

-- The sum over the lanes before the lane's own.
local function before(k, value, lane)
  local out = k:reg "f32"
  k:shfl_sync_up_b32(out, arrays.prefix_sums(k, value, lane), 1, 0)
  return k:selp(out, 0.0, lane:gt(0))
end

-- A head, whose sums are there: v has row, column and state of the lane's two tokens, and the product of the states.
local function finish_head(g, lane, head, from, offsets, v)
  local k, p, at = g.k, g.p, g.at
  local function load(name)
    local out = k:regs("f32", 2)
    k:ld_shared_v2_f32(out, from + (lane << 3), { offset = offsets[name] })
    return out
  end
  local dt, slope, rate = load "dt", load "slope", k:ld_global_f32(k:element(g.sizes.A, head))
  local whole = k:ex2_approx_ftz(k:ld_shared_f32(from, { offset = offsets.j + 4 * (p.chunk - 1) }))
  local pairs_of, states = {}, {}
  for i = 0, 1 do
    pairs_of[i] = v.row[i] - dt[i] * v.column[i]
    states[i] = dt[i] * v.state[i]
  end
  local second = after(k, pairs_of[0] + pairs_of[1], lane) + pairs_of[1]
  local both = before(k, states[0] + states[1], lane)
  local da = { [0] = second + pairs_of[0] + both, second + both + states[0] }
  local of_rate, of_bias = k:mov(0.0, { type = "f32" }), k:mov(0.0, { type = "f32" })
  local token = (at.chunk << 6) + (lane << 1)
  for i = 0, 1 do
    da[i] = k:fma(whole, v.product, da[i])
    local gradient = (v.column[i] + v.state[i] + rate * da[i]) * slope[i]
    of_rate, of_bias = k:fma(dt[i], da[i], of_rate), of_bias + gradient
    local place = k:element(g.sizes.ddt, k:mad_wide_u32(at.first + token + i, p.heads, k:cvt_u64_u32(head)))
    local guard = (token + i):lt(at.tokens)
    if p.dt_dtype == "f32" then
      k:st_global_b32(place, gradient, { guard = guard })
    else
      k:st_global_b16(place, k["cvt_rn_" .. p.dt_dtype .. "_f32"](k, gradient), { guard = guard })
    end
  end
  local first = lane:eq(0)
  store_part(g, head, 0, warps.over_lanes(k, of_rate, sum, 32), first)
  if p.dt_bias then store_part(g, head, 1, warps.over_lanes(k, of_bias, sum, 32), first) end
end

--- The warp that adds up: the gradients of dt, and the parts of those of A and dt_bias.
function module.emit(g)
  local k, p, rings = g.k, g.p, g.rings
  local lane, keys, cursor = k:special "tid.x" & 31, rings.keys:cursor(), rings.sums:cursor()
  local offsets, stage_at = arrays.places(k, p, g.buffers.gates)
  local v = { row = k:regs("f32", 2), column = k:regs("f32", 2), state = k:regs("f32", 2), product = k:reg "f32" }
  local function clear()
    k:mov(v.product, 0.0)
    for _, name in ipairs(p.sums) do
      for i = 0, 1 do k:mov(v[name][i], 0.0) end
    end
  end
  clear()
  k:loop(p.units, function(number)
    rings.sums:wait(cursor) -- the warpgroups have waited for the stage of keys
    local from = k:address(g.buffers.sums, cursor.stage * p.sums.bytes)
    for index, name in ipairs(p.sums) do
      local pair = k:regs("f32", 2)
      k:ld_shared_v2_f32(pair, from + (lane << 3), { offset = 4 * p.chunk * (index - 1) })
      for i = 0, 1 do k:add(v[name][i], v[name][i], pair[i]) end
    end
    k:add(v.product, v.product, k:ld_shared_f32(from, { offset = 4 * p.chunk * #p.sums }))
    k:bar_warp_sync(0xFFFFFFFF)
    rings.sums:release(cursor, { lane = lane })
    rings.sums:advance(cursor)
    local function head_is_complete()
      finish_head(g, lane, g.unit(number).head, stage_at(keys.stage), offsets, v)
      clear()
    end
    if p.head_units == 1 then head_is_complete() else k:if_((number & 1):eq(1), head_is_complete) end
    k:bar_warp_sync(0xFFFFFFFF)
    rings.keys:release(keys, { lane = lane })
    rings.keys:advance(keys)
  end)
end

-- The diagonals of products of a warp: sums of what two matrices multiplied element by element give. A block is 16 rows
-- by 16 elements of both, four words a lane as ldmatrix loads them. Its product has 16 columns, eight for each of two
-- instructions; of their results the diagonal is in one lane of four, in register 0 or 1, and in 2 or 3.
local function diagonals(g, lane)
  local k, p = g.k, g.p
  local ahead = (lane >> 2) - ((lane & 3) << 1) -- u32: a lane before the diagonal has more than 1
  local odd, out = ahead:eq(1), { has = ahead:le(1) }
  function out.add(sums, x, y)
    for n = 0, 1 do
      local mine = sums:slice(4 * n, 4)
      k:mma_sync(mine, x, { y[n], y[n + 2] }, mine, { m = 16, n = 8, k = 16, d = "f32", a = p.dtype, b = p.dtype })
    end
  end
  --- The lane's elements of the first and of the last eight rows of a block.
  function out.of(sums) return k:selp(sums[1], sums[0], odd), k:selp(sums[7], sums[6], odd) end
  return out
end

local function clear(k, sums)
  for i = 0, #sums - 1 do k:mov(sums[i], 0.0) end
end

--- The warp that multiplies the states S and R of a unit element by element, and adds the products up.
function module.states(g)
  local k, p, rings = g.k, g.p, g.rings
  local lane, keys, cursor = k:special "tid.x" & 31, rings.keys:cursor(), rings.sums:cursor()
  local diagonal, sums, ahead = diagonals(g, lane), k:regs("f32", 8), {}
  for step = 0, 3 do ahead[step] = ((lane & 15) << 7) + ((((lane >> 4) + 2 * step) ~ (lane & 7)) << 4) end
  k:loop(p.units, function()
    rings.keys:wait(keys)
    clear(k, sums)
    local from, words = {}, {}
    for i, name in ipairs { "S", "R" } do
      from[i], words[i] = k:address(g.buffers[name], keys.stage * p.state_bytes), k:regs("b32", 4)
    end
    k:loop({ from = 0, to = p.state_bytes, step = 16 * 128 }, function(rows)
      for step = 0, 3 do
        for i = 1, 2 do k:ldmatrix_x4(words[i], from[i] + rows + ahead[step], { trans = 0 }) end
        diagonal.add(sums, words[1], words[2])
      end
    end)
    k:bar_warp_sync(0xFFFFFFFF)
    rings.keys:release(keys, { lane = lane })
    rings.keys:advance(keys)
    local first, last = diagonal.of(sums)
    local value = warps.over_lanes(k, k:selp(first + last, 0.0, diagonal.has), sum, 32)
    rings.sums:acquire(cursor)
    local to = k:address(g.buffers.sums, cursor.stage * p.sums.bytes)
    k:st_shared_b32(to, value, { offset = 4 * p.chunk * #p.sums, guard = lane:eq(0) })
    k:mbarrier_arrive(rings.sums:full_barrier(cursor), { guard = lane:eq(0) })
    rings.sums:advance(cursor)
  end)
end

--- Returns add(number), for the warp that also stores dx: the parts of the gradient of D, sums of x dY over the tokens.
function module.skip(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane, keys, field = k:special "tid.x" & 31, rings.keys:cursor(), 1 + (p.dt_bias and 1 or 0)
  local diagonal, total = diagonals(g, lane), k:mov(0.0, { type = "f32" })
  local line, unit = ((lane & 7) + ((lane >> 4) << 3)) << 7, lane >> 3 & 1
  local token = (at.chunk << 6) + ((lane & 3) << 1)
  local function inside(word, first) -- of dY, two tokens: others' rows follow
    local low = k:selp(k:mov(0xFFFF, { type = "b32" }), 0, (token + first):lt(at.tokens))
    return word & (low | k:selp(k:mov(0xFFFF0000, { type = "b32" }), 0, (token + (first + 1)):lt(at.tokens)))
  end
  return function(number)
    local of, sums, words, from = g.unit(number), k:regs("f32", 8), {}, {}
    rings.keys:wait(keys)
    for i, name in ipairs { "V", "dY" } do
      from[i], words[i] = k:address(g.buffers[name], keys.stage * p.v.bytes) + line, k:regs("b32", 4)
    end
    k:loop(p.columns // 16, function(block)
      clear(k, sums)
      local ahead = ((unit + (block << 1)) ~ (lane & 7)) << 4
      for step = 0, p.chunk // 16 - 1 do
        for i = 1, 2 do k:ldmatrix_x4(words[i], from[i] + ahead, { trans = 1, offset = 16 * 128 * step }) end
        for i = 0, p.packed and 3 or -1 do k:mov(words[2][i], inside(words[2][i], 16 * step + 8 * (i // 2))) end
        diagonal.add(sums, words[1], words[2])
      end
      local first, last = diagonal.of(sums)
      if p.D == "headdim" then
        local column = of.column + (block << 4) + ((lane >> 2) + field)
        store_part(g, of.head, column, first, diagonal.has)
        store_part(g, of.head, column + 8, last, diagonal.has)
      else
        k:add(total, total, k:selp(first + last, 0.0, diagonal.has))
      end
    end)
    k:bar_warp_sync(0xFFFFFFFF)
    rings.keys:release(keys, { lane = lane })
    rings.keys:advance(keys)
    if p.D == "headdim" then return end
    local function store()
      store_part(g, of.head, field, warps.over_lanes(k, total, sum, 32), lane:eq(0))
      k:mov(total, 0.0)
    end
    if p.head_units == 1 then store() else k:if_((number & 1):eq(1), store) end
  end
end

return module
