-- The three warpgroups of wg.delta_rule_backward's last kernel that multiply (kernel.lua): dQ, dK' and dK'', 64 tokens
-- by 128 elements in their accumulators. Products with a state go through 32 more registers, since their rows are
-- scaled before they are added.

local warps = require "wgrun.builder.warp"
local gate_gradients = require "wgrun.linear_attention.backward.gate_gradients"
local images = require "wgrun.linear_attention.backward.images"
local row_stores = require "wgrun.linear_attention.backward.row_stores"
local units = require "wgrun.linear_attention.backward.units"
local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

local function add(a, b) return a + b end

-- Tokens by 128 elements in shared memory, as they lie in accumulators: each(r, x, y) gets the elements of registers r
-- and r + 1, of the registers from `from` on, `count` of them.
local function elements_of(g, buffer)
  local k, p = g.k, g.p
  local thread, split = k:special "tid.x", elements.from_output[p.dtype]
  local lane = thread & 31
  local line = k:address(buffer) + ((thread >> 5 & 3) << 4) * 128 + (lane & 15) * 128
  local at = {}
  for i = 0, 3 do at[i] = line + ((((lane >> 4) + 2 * i) ~ (lane & 7)) << 4) end
  local words = k:regs("b32", 4)
  return function(from, count, each)
    for r = from, from + count - 1, 8 do
      local sixteen = r // 8
      k:ldmatrix_x4(words, at[sixteen % 4], { offset = p.k:offset(0, 64) * (sixteen // 4) })
      for i = 0, 3 do each(r + 2 * i, split(k, words[i])) end
    end
  end
end

-- What the warpgroups have in common: registers, cursors, products. names: of what triangles are multiplied with, "q"
-- and "k".
local function role_of(g, names)
  local k, p, buffers, rings = g.k, g.p, g.buffers, g.rings
  local thread = k:special "tid.x"
  local me = {
    lane = thread & 31, warp = k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31), thread = thread & 127,
    sums = k:regs("f32", p.dim // 2), part = k:regs("f32", p.chunk // 2), words = k:regs("b32", p.chunk // 4),
    before = k:regs("f32", 2), to = k:address(buffers.sums),
    rows = rings.rows:cursor(), states = rings.states:cursor(), keys = rings.keys:cursor(),
    done = rings.sums:cursor(), shares = rings.shares:cursor(),
  }
  me.row = (me.warp << 4) + (me.lane >> 2) -- the first of the thread's two
  local offsets, stage_at = gates.places(k, p, buffers.gates)

  -- part = A B^T of rows of tokens: buffers and stages of the ring.
  function me.multiply_rows(a, b)
    local of_a, of_b = descriptors.view(k, a, p.k)(me.rows.stage), descriptors.view(k, b, p.k)(me.rows.stage)
    me.multiply(of_a, of_b, 0)
  end
  -- part = the columns of A S from 64 * half on.
  function me.multiply_state(a, state, half)
    local of_a, of_s = descriptors.view(k, a, p.k)(me.rows.stage), descriptors.view(k, state, images.tile)()
    me.multiply(of_a, function(step) return of_s(step, 64 * half) end, 1)
  end
  function me.multiply(of_a, of_b, trans_b)
    k:wgmma_fence()
    for step = 0, p.dim // 16 - 1 do
      k:wgmma_mma_async(me.part, of_a(step), of_b(step), {
        n = p.chunk, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_a = 0, trans_b = trans_b,
        scale_d = step == 0 and 0 or 1,
      })
    end
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end
  local products, along = operands.products(k, p), {}
  for _, name in ipairs(names) do along[name] = products.columns(buffers[name], p.k_columns) end
  -- sums += words (Q or K): in flight afterwards.
  function me.add_product(name)
    rings.keys:wait(me.keys)
    along[name](me.sums, me.words, nil, 1)
  end

  -- The array `name` for the thread's rows, and for its columns.
  function me.of_rows(name)
    local out = {}
    for half = 0, 1 do
      out[half] = k:ld_shared_f32(stage_at(me.rows.stage) + (me.row << 2), { offset = offsets[name] + 32 * half })
    end
    return out
  end
  function me.of_columns(name) return operands.columns(k, stage_at(me.rows.stage) + offsets[name], p.chunk) end
  function me.whole()
    return k:ld_shared_f32(stage_at(me.rows.stage), { offset = offsets.sum + 4 * (p.chunk - 1) })
  end

  -- words = part D factor, where column - row is at most `most` (for the transpose: row - column).
  local pair = (me.lane & 3) << 1
  local ahead = k:mov(me.row, { type = "s32" }) - k:mov(pair, { type = "s32" })
  function me.decay(logarithm, factor, strictly, transposed)
    local function element(r)
      local half, column = r // 2 % 2, 8 * (r // 4) + r % 2 - 8 * (r // 2 % 2)
      local inside
      if transposed then
        inside = strictly and ahead:lt(column) or ahead:le(column)
      else
        inside = strictly and ahead:gt(column) or ahead:ge(column)
      end
      return k:selp(k:ex2_approx_ftz(logarithm(half, r)) * factor * me.part[r], 0.0, inside)
    end
    for i = 0, #me.words - 1 do
      k:mov(me.words[i], elements.to_output[p.dtype](k, element(2 * i), element(2 * i + 1)))
    end
  end

  -- sums += diag(factors) part, in the columns from 64 * half on.
  function me.add_part(half, factors)
    for r = 0, #me.part - 1 do
      local to = me.sums[#me.part * half + r]
      k:fma(to, me.part[r], factors[r // 2 % 2], to)
    end
  end

  -- The dot products of the rows of sums and of Q or K, of the head alone: what those of the heads before have is taken
  -- away.
  function me.store_dots(name, each_row)
    local dots = { [0] = k:mov(0.0, { type = "f32" }), k:mov(0.0, { type = "f32" }) }
    each_row(0, #me.sums, function(r, x, y)
      local half = r // 2 % 2
      dots[half] = k:fma(me.sums[r + 1], y, k:fma(me.sums[r], x, dots[half]))
    end)
    for half = 0, 1 do
      local dot = warps.over_lanes(k, dots[half], add)
      me.store(name, half, dot - me.before[half], (me.lane & 3):eq(0))
      k:mov(me.before[half], dot)
    end
  end
  function me.store(name, half, value, guard)
    local offset = gate_gradients.offset(p, name) + 32 * half
    k:st_shared_f32(me.to + (me.row << 2), value, { offset = offset, guard = guard })
  end
  -- The sum over the warp of what g of the last token has besides: a part, by its number's first.
  function me.store_part(first, value)
    local sum = warps.over_lanes(k, value, add, 32)
    local to = me.to + (me.warp << 2)
    k:st_shared_f32(to, sum, { offset = gate_gradients.offset(p, "parts") + 4 * first, guard = me.lane:eq(0) })
  end

  function me.store_rows(here, to) row_stores.emit(here, me, to) end

  -- Gives back the stages of a head.
  local function free_head()
    k:bar_warp_sync(0xFFFFFFFF)
    for _, name in ipairs { "rows", "states" } do
      rings[name]:release(me[name], { lane = me.lane })
      rings[name]:advance(me[name])
    end
  end

  -- multiply() for each head, and then the dots of `name` with the rows of each_row; finish(here) behind the last head.
  function me.each(multiply, name, each_row, finish)
    units.each(g, function(here)
      for r = 0, #me.sums - 1 do k:mov(me.sums[r], 0.0) end
      for half = 0, 1 do k:mov(me.before[half], 0.0) end
      units.heads(here, function()
        rings.rows:wait(me.rows)
        rings.sums:acquire(me.done)
        multiply()
        free_head()
        me.store_dots(name, each_row)
        k:bar_warp_sync(0xFFFFFFFF)
        k:mbarrier_arrive(rings.sums:full_barrier(me.done), { guard = me.lane:eq(0) })
        rings.sums:advance(me.done)
      end)
      rings.keys:release(me.keys, { lane = me.lane })
      rings.keys:advance(me.keys)
      finish(here)
    end)
  end
  return me
end

-- The sum over all elements of S dS exp(G_63): the warpgroup's part in each thread.
local function state_product(g, me)
  local k, split = g.k, elements.from_output[g.p.dtype]
  local s, d_s, sum = k:regs("b32", 4), k:regs("b32", 4), k:mov(0.0, { type = "f32" })
  local mine = me.thread << 4
  k:loop(images.tile.bytes // 2048, function(i)
    local at = mine + (i << 11)
    k:ld_shared_v4_b32(s, k:address(g.buffers.s) + at)
    k:ld_shared_v4_b32(d_s, k:address(g.buffers.d_s) + at)
    for word = 0, 3 do
      local x0, x1 = split(k, s[word])
      local y0, y1 = split(k, d_s[word])
      k:fma(sum, x0, y0, sum)
      k:fma(sum, x1, y1, sum)
    end
  end)
  return sum * k:ex2_approx_ftz(me.whole())
end

-- dQ, or dK': rows times the state, and a triangle of their products with U times K.
local function emit_rows(g, rows, name, elements_from, strictly, factor, more, finish)
  local k, rings, buffers = g.k, g.rings, g.buffers
  local me = role_of(g, { "k" })
  local each_row = elements_of(g, elements_from)
  me.each(function()
    me.multiply_rows(rows, buffers.u)
    if more.of_products then more.of_products(me) end
    local ended, sum = me.of_rows "ended", me.of_columns "sum"
    me.decay(function(half, r) return ended[half] - sum(r) end, factor, strictly)
    me.add_product "k"
    rings.states:wait(me.states)
    local factors = {}
    for half = 0, 1 do factors[half] = k:ex2_approx_ftz(ended[half]) * factor end
    for half = 0, 1 do
      me.multiply_state(rows, buffers.s, half)
      me.add_part(half, factors)
    end
    if more.of_states then more.of_states(me) end
  end, name, each_row, function(here) finish(me, here) end)
end

--- The warpgroup that has dQ.
function module.emit_queries(g)
  emit_rows(g, g.buffers.d_o, "queries", g.buffers.q, false, g.sizes.scale, {
    of_states = function(me) me.store_part(0, state_product(g, me)) end,
  }, function(me, here) me.store_rows(here, g.sizes.dQ) end)
end

-- R_ii is in the lane whose pair of columns has its row: the warp's rows are the columns of two blocks of eight.
local function store_diagonal(g, me)
  local k = g.k
  local odd = (me.lane >> 2 & 1):eq(1)
  for half = 0, 1 do
    local value = k:reg "f32"
    for warp = 0, 3 do
      local r = 4 * (2 * warp + half) + 2 * half
      k:mov(value, k:selp(me.part[r + 1], me.part[r], odd), { guard = me.warp:eq(warp) })
    end
    me.store("diagonal", half, value, (me.lane & 3):eq(me.lane >> 3))
  end
end

-- Where the thread's accumulators of dK' lie for the thread of the same number that has dK'': four at a time.
local function shares(g, me, each)
  local to = g.k:address(g.buffers.shares) + (me.thread << 4)
  for r = 0, #me.sums - 1, 4 do each(r, to, 512 * r) end
end

--- The warpgroup that has dK'.
function module.emit_keys(g)
  local k, ring = g.k, g.rings.shares
  emit_rows(g, g.buffers.d_v, "keys", g.buffers.k, true, -1.0, {
    of_products = function(me) store_diagonal(g, me) end,
  }, function(me)
    ring:acquire(me.shares)
    shares(g, me, function(r, to, offset) k:st_shared_v4_f32(to, me.sums:slice(r, 4), { offset = offset }) end)
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(me.shares), { guard = me.lane:eq(0) })
    ring:advance(me.shares)
  end)
end

--- The warpgroup that has dK'', and stores dK.
function module.emit_other_keys(g)
  local k, rings, buffers = g.k, g.rings, g.buffers
  local me = role_of(g, { "q", "k" })
  local each_row = elements_of(g, buffers.k)
  me.each(function()
    local sum, ended_of_row = me.of_rows "sum", me.of_rows "ended"
    local function add_triangle(rows, factor, strictly, name)
      me.multiply_rows(buffers.u, rows)
      local ended = me.of_columns "ended"
      me.decay(function(half, r) return ended(r) - sum[half] end, factor, strictly, true)
      me.add_product(name)
    end
    add_triangle(buffers.d_o, g.sizes.scale, false, "q")
    add_triangle(buffers.d_v, -1.0, true, "k")
    rings.states:wait(me.states)
    local rest, whole, last = {}, me.whole(), k:mov(0.0, { type = "f32" })
    for half = 0, 1 do
      local inside = ended_of_row[half]:eq(sum[half])
      rest[half] = k:selp(k:ex2_approx_ftz(whole - sum[half]), 0.0, inside)
    end
    for half = 0, 1 do
      me.multiply_state(buffers.u, buffers.d_s, half)
      me.add_part(half, rest)
      each_row(#me.part * half, #me.part, function(r, x, y)
        local i = r % #me.part
        k:fma(last, k:fma(me.part[i + 1], y, me.part[i] * x), rest[i // 2 % 2], last)
      end)
    end
    me.store_part(4, last)
  end, "other_keys", each_row, function(here)
    rings.shares:wait(me.shares)
    local theirs = k:regs("f32", 4)
    shares(g, me, function(r, from, offset)
      k:ld_shared_v4_f32(theirs, from, { offset = offset })
      for i = 0, 3 do k:add(me.sums[r + i], me.sums[r + i], theirs[i]) end
    end)
    k:bar_warp_sync(0xFFFFFFFF)
    rings.shares:release(me.shares, { lane = me.lane })
    rings.shares:advance(me.shares)
    me.store_rows(here, g.sizes.dK)
  end)
end

return module
