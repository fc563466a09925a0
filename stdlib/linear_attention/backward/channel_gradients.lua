-- The two warpgroups of wg.delta_rule_backward's kernel for decays of each channel that multiply
-- (backward/channel_kernel.lua): each has 64 channels of dQ and dK. Sums over tokens go from band to band. Those up to
-- a band are relative to its middle, as the band's operands are, so that they decay from one middle to the next. A warp
-- has the rows of two bands, one in each half of a thread's rows; their sums stop there.

local chunk_role = require "wgrun.linear_attention.backward.chunk_role"
local images = require "wgrun.linear_attention.backward.images"
local row_stores = require "wgrun.linear_attention.backward.row_stores"
local channel_gates = require "wgrun.linear_attention.backward.channel_gates"
local rows = require "wgrun.linear_attention.backward.channel_operands"
local units = require "wgrun.linear_attention.backward.units"
local operands = require "wgrun.linear_attention.operands"
local warps = require "wgrun.builder.warp"
local descriptors = require "wgrun.tile.descriptors"

local module = {}

local columns <const> = 64 -- channels of a warpgroup

-- Products of the warpgroup, each a commit group.
local function products(g, me)
  local k, p, out = g.k, g.p, {}
  local function multiply(acc, of_a, of_b, form, steps)
    for step = form.first or 0, steps - 1 do
      k:wgmma_mma_async(acc, of_a(step), of_b(step), {
        n = columns, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_a = form.trans_a, trans_b = form.trans_b,
        scale_d = (form.adds or step > 0) and 1 or 0,
      })
    end
  end
  -- sums = A B^T of rows of tokens.
  function out.rows(a, b)
    k:wgmma_fence()
    multiply(me.sums, descriptors.view(k, a, p.k)(), descriptors.view(k, b, p.k)(), { trans_a = 0, trans_b = 0 },
      p.dim // 16)
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end
  -- sums = A S of the own channels of a state.
  function out.state(a, state)
    local of_s = descriptors.view(k, state, images.tile, k:mul(me.half, images.tile:offset(columns, 0)))()
    k:wgmma_fence()
    multiply(me.sums, descriptors.view(k, a, p.k)(), of_s, { trans_a = 0, trans_b = 1 }, p.dim // 16)
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end
  -- sums += words B, for the tokens of a band: list of words and the buffers of B. A step of 16 tokens has two bands:
  -- the words of the other one are left out.
  function out.band(band, list)
    local step = band // 2
    for _, one in ipairs(list) do
      for w = 0, 3 do k:mov(one.part[w], w // 2 == band % 2 and one[1][4 * step + w] or 0) end
    end
    k:wgmma_fence()
    for _, one in ipairs(list) do
      local of_b = descriptors.view(k, one[2], p.k_columns, k:mul(me.half, p.k:offset(0, columns)))()
      multiply(me.sums, function() return one.part end, of_b, { first = step, adds = true, trans_b = 1 }, step + 1)
    end
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end
  return out
end

-- words = part factor on and below the diagonal, or strictly below it; transposed: above it.
local function triangles(g, me)
  local k, p = g.k, g.p
  local pair = (me.lane & 3) << 1
  local ahead = k:mov(me.row, { type = "s32" }) - k:mov(pair, { type = "s32" })
  return function(words, factor, strictly, transposed)
    local function element(r)
      local column = 8 * (r // 4) + r % 2 - 8 * (r // 2 % 2)
      local name = (transposed and "l" or "g") .. (strictly and "t" or "e")
      local value = factor and me.sums[r] * factor or me.sums[r]
      return k:selp(value, 0.0, ahead[name](ahead, column))
    end
    operands.pack(k, p, words, element)
  end
end

--- The role of the warpgroup that has half of the channels: 0 or 1, a register.
function module.emit(g, half)
  local k, p, rings, buffers = g.k, g.p, g.rings, g.buffers
  local thread = k:special "tid.x"
  local function accumulators() return k:regs("f32", columns // 2) end
  local function words() return k:regs("b32", p.chunk // 4) end
  local me = {
    lane = thread & 31, warp = k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31), half = half,
    sums = accumulators(), -- the present product
    queries = accumulators(), keys = accumulators(), logs = accumulators(), -- dQ, dK, and the gradient of G
  }
  me.row = (me.warp << 4) + (me.lane >> 2) -- the first of the thread's two
  local triangle, more = words(), words()
  local part, part_of_more = k:regs("b32", 4), k:regs("b32", 4)
  local multiply, keep = products(g, me), triangles(g, me)
  local of_rows, of_states = rings.rows:cursor(), rings.states:cursor()
  local of_operands, of_sums = rings.operands:cursor(), rings.sums:cursor()
  local each = {}
  for _, name in ipairs { "queries", "keys", "columns" } do
    each[name] = chunk_role.elements_of(g, buffers[name], k:mul(half, p.k:offset(0, columns)))
  end
  local of_half = k:mul(half, 4 * columns)
  local function decays(number) -- an array of decays, for the thread's columns
    local ahead = math.type(number) and number * p.decay_bytes or k:mul(number, p.decay_bytes)
    return operands.columns(k, k:address(buffers.decays) + of_half + ahead, columns)
  end
  -- Lets the sums decay: both rows of the threads of the warps in `all`, and one of them, `row`, of those in `some`,
  -- which has the others, too. Without `some` of all warps.
  local function decay_sums(number, row, some, all)
    local decay
    local function of_row(wanted)
      for r = 0, #me.sums - 1 do
        if r // 2 % 2 == wanted then k:mul(me.sums[r], me.sums[r], decay(r)) end
      end
    end
    local function own()
      decay = decays(number)
      of_row(row)
      if all then k:if_(all, function() of_row(1 - row) end) else of_row(1 - row) end
    end
    if some then k:if_(some, own) else own() end
  end
  local logs = k:address(buffers.logs) + of_half + me.row * channel_gates.line + ((me.lane & 3) << 3)
  local function log_place(r) return 8 * channel_gates.line * (r // 2 % 2) + 32 * (r // 4) end

  -- For pairs of elements: finish(r, element, factor) with r and r + 1, an element of an operand, and its factor.
  local function each_element(name, sign, finish)
    each[name](0, #me.sums, function(r, x, y)
      local log = k:ld_shared_v2_f32(logs, { offset = log_place(r) })
      for i, element in ipairs { x, y } do
        finish(r + i - 1, element, k:ex2_approx_ftz(sign < 0 and k:neg(log[i - 1]) or log[i - 1]))
      end
    end)
  end

  -- Sums of rows up to their band, from the state before the chunk.
  local function forward()
    for band = 0, rows.bands - 1 do
      local warp = band // 2
      decay_sums(band, 1, band > 0 and me.warp:ge(warp), band % 2 == 1 and me.warp:gt(warp))
      multiply.band(band, { { triangle, buffers.columns, part = part } })
    end
  end

  -- The dot products of k and dk', of the own channels, go to where those who have dbeta find them.
  local to_dots = k:address(buffers.dots) + k:mul(half, 4 * p.chunk) + (me.row << 2)

  local function queries()
    multiply.rows(buffers.d_o, buffers.u)
    keep(triangle)
    rings.states:wait(of_states)
    multiply.state(buffers.d_o, buffers.s)
    rings.operands:wait(of_operands)
    forward()
    each_element("queries", 1, function(r, element, factor)
      k:mov(me.logs[r], me.sums[r] * element)
      k:fma(me.queries[r], me.sums[r], factor * g.sizes.scale, me.queries[r])
    end)
  end

  local function keys()
    multiply.rows(buffers.d_v, buffers.u)
    keep(triangle, nil, true)
    multiply.state(buffers.d_v, buffers.s)
    forward()
    rings.sums:acquire(of_sums)
    local dots = { [0] = k:mov(0.0, { type = "f32" }), k:mov(0.0, { type = "f32" }) }
    each_element("keys", 1, function(r, element, factor)
      local sum, of_row = k:neg(me.sums[r]), dots[r // 2 % 2]
      local product = sum * element
      k:add(me.logs[r], me.logs[r], product)
      k:add(of_row, of_row, product)
      k:fma(me.keys[r], sum, factor, me.keys[r])
    end)
    for row = 0, 1 do
      local dot = warps.over_lanes(k, dots[row], function(x, y) return x + y end)
      k:st_shared_f32(to_dots, dot, { offset = 32 * row, guard = (me.lane & 3):eq(0) })
    end
  end

  -- The sums over the tokens of what dK has of the gradient of the state, times K: a part of dg of the last token.
  local function store_sums()
    local decay, pairs_of = {}, { {}, {} }
    for row = 0, 1 do decay[row] = decays(me.warp + me.warp + (rows.bands + row)) end
    each.columns(0, #me.sums, function(r, x, y)
      local upper = r // 2 % 2 == 1
      for i, element in ipairs { x, y } do
        local of, number = pairs_of[i], r // 4
        local product = decay[r // 2 % 2](r + i - 1) * element
        of[number] = upper and k:fma(me.sums[r + i - 1], product, of[number]) or me.sums[r + i - 1] * product
      end
    end)
    local out = {}
    for i = 1, 2 do out[i] = warps.sums_of_each(k, pairs_of[i], columns // 8, me.lane, { stride = 4 }) end
    k:st_shared_v2_f32(k:address(buffers.sums) + k:mul(me.warp, p.decay_bytes) + of_half + (me.lane << 3), out)
  end

  local function other_keys()
    multiply.rows(buffers.u, buffers.d_o)
    keep(triangle, nil, false, true)
    multiply.rows(buffers.u, buffers.d_v)
    keep(more, -1.0, true, true)
    multiply.state(buffers.u, buffers.d_s)
    k:bar_warp_sync(0xFFFFFFFF)
    for _, one in ipairs { { rings.rows, of_rows }, { rings.states, of_states } } do
      one[1]:release(one[2], { lane = me.lane })
      one[1]:advance(one[2])
    end
    store_sums()
    local last = rows.bands - 1
    for band = last, 0, -1 do
      local warp, number = band // 2, band == last and 2 * rows.bands - 1 or band + 1
      decay_sums(number, 0, band < last and me.warp:le(warp), band % 2 == 0 and me.warp:lt(warp))
      multiply.band(band, {
        { triangle, buffers.queries, part = part }, { more, buffers.keys, part = part_of_more },
      })
    end
    local function finish(r, element, factor)
      k:fma(me.logs[r], k:neg(me.sums[r]), element, me.logs[r])
      k:fma(me.keys[r], me.sums[r], factor, me.keys[r])
      if r % 2 == 1 then k:st_shared_v2_f32(logs, me.logs:slice(r - 1, 2), { offset = log_place(r - 1) }) end
    end
    each_element("columns", -1, finish)
  end

  local alone = p.heads == p.qk_heads
  local function store(here, name, sums) row_stores.emit(here, me, g.sizes[name], sums, half << 6) end
  units.each(g, function(here)
    for r = 0, #me.queries - 1 do
      k:mov(me.queries[r], 0.0)
      k:mov(me.keys[r], 0.0)
    end
    units.heads(here, function()
      rings.rows:wait(of_rows)
      queries()
      if alone then store(here, "dQ", me.queries) end -- so that its registers are free
      keys()
      other_keys()
      k:bar_warp_sync(0xFFFFFFFF)
      k:mbarrier_arrive(rings.sums:full_barrier(of_sums), { guard = me.lane:eq(0) })
      rings.sums:advance(of_sums)
      rings.operands:release(of_operands, { lane = me.lane })
      rings.operands:advance(of_operands)
    end)
    if not alone then store(here, "dQ", me.queries) end
    store(here, "dK", me.keys)
  end)
end

return module
