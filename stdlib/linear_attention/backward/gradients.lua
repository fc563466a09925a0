-- The three warpgroups of wg.delta_rule_backward's last kernel that multiply (kernel.lua): dQ, dK' and dK'', 64 tokens
-- by 128 elements in their accumulators. Products with a state go through 32 more registers, since their rows are
-- scaled before they are added.

local chunk_role = require "wgrun.linear_attention.backward.chunk_role"
local images = require "wgrun.linear_attention.backward.images"
local elements = require "wgrun.tile.elements"

local module = {}

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
  local me = chunk_role.make(g, { "k" })
  local each_row = chunk_role.elements_of(g, elements_from)
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
  local me = chunk_role.make(g, { "q", "k" })
  local each_row = chunk_role.elements_of(g, buffers.k)
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
