-- A warpgroup of wg.ssd_backward's kernel: that of the queries, whose rows are those of C and dY, or that of the keys,
-- whose rows are those of B and x. Both do the same, with rows and columns exchanged, so that each has what it
-- multiplies in registers. In the notation of kernel.lua the queries compute, and the keys
--
--   dY x^T,  dC = diag(exp G) dY S + (sum of E diag(dt)) B,   U = C S^T
--   x dY^T,  dB = diag(dt exp(G_63 - G)) x R + (sum of E diag(dt))^T C,   U = B R^T
--
-- where the sums go over the heads of the CTA: the second product is one for all of them, and the keys get the sum from
-- the queries. The rows of E * (C B^T), and of U with those of dY or x, give sums of a token, for the gradients of dt
-- and A (token_sums.lua). From U come v, the gradient of dt x, and, for the gate z, y.

local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local products = require "wgrun.linear_attention.ssd.backward.side_products"
local results = require "wgrun.linear_attention.ssd.backward.side_results"
local steps = require "wgrun.linear_attention.ssd.steps"
local warps = require "wgrun.builder.warp"
local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"

local module = {}

--- What differs: buffers, and the arrays of the rows and the columns.
module.queries = { own = "C", other = "B", values = "dY", others = "V", state = "S", row = "i", column = "j",
  result = "y" }
module.keys = { own = "B", other = "C", values = "V", others = "dY", state = "R", row = "j", column = "i",
  result = "dx" }

-- Returns load(words, name, stage): rows of x or dY as operands A of products and accumulators have them.
local function rows_loader(g)
  local k, p, thread = g.k, g.p, g.k:special "tid.x"
  local row = ((thread >> 5 & 3) << 4) + (thread & 15)
  return function(words, name, stage)
    local from = k:address(g.buffers[name], stage * p.v.bytes) + (row << 7)
    for step = 0, p.columns // 16 - 1 do
      local unit = ((thread >> 4 & 1) + 2 * step) ~ (thread & 7)
      k:ldmatrix_x4(words:slice(4 * step, 4), from + (unit << 4), { trans = 0 })
    end
  end
end

-- What the pairs of a chunk add to the sums of rows, and with the queries to those of the scores' gradients; leaves the
-- weights of the product within the chunk, as words, where there is a result. By blocks of 16 columns, in some of which
-- the warp's 16 rows have no pair of a token and one that it sees. All others are masked as if they had the diagonal:
-- code of their own would cost more, since what the roles of a CTA execute at a time is more than the instruction cache
-- has.
local function pairs_of(g, me, from, of)
  local k, convert, p = g.k, elements.to_output[g.p.dtype], g.p
  local columns = from + (me.pair << 2)
  local function visit(block)
    local function load(name)
      local out = k:regs("f32", 4)
      for eight = 0, 1 do
        k:ld_shared_v2_f32(out:slice(2 * eight, 2), columns, { offset = me.offsets[name] + 64 * block + 32 * eight })
      end
      return out
    end
    local sums, dt, weights = load(me.side.column), me.queries and load "dt", {}
    for r = 8 * block, 8 * block + 7 do
      local half, column = r // 2 % 2, r // 4 % 2 * 2 + r % 2
      local w = k:ex2_approx_ftz(me.queries and of.sums[half] - sums[column] or sums[column] - of.sums[half])
      local ahead = 8 * (r // 4) + r % 2 - 8 * half -- the column less the row, but for the thread's own
      w = k:selp(w, 0.0, me.queries and me.ahead:ge(ahead) or not me.queries and me.ahead:le(ahead))
      if me.queries then
        local e = w * me.acc[r] * dt[column]
        k:add(me.of_scores[r], me.of_scores[r], e)
        k:fma(of.total[half], e, me.scores[r], of.total[half])
        weights[r] = me.weights and w * me.scores[r] * dt[column]
      else
        weights[r] = w * me.scores[r]
        k:fma(of.total[half], weights[r], me.acc[r], of.total[half])
      end
    end
    for i = 4 * block, me.weights and 4 * block + 3 or -1 do
      k:mov(me.weights[i], convert(k, weights[2 * i], weights[2 * i + 1]))
    end
  end
  for block = 0, p.chunk // 16 - 1 do
    local inside = me.queries and me.warp:ge(block) or not me.queries and me.warp:le(block)
    k:if_(inside, function() visit(block) end, function()
      for i = 4 * block, me.weights and 4 * block + 3 or -1 do k:mov(me.weights[i], 0) end
    end)
  end
end

-- Stores the sums of the thread's two rows that token_sums.lua reads.
local function store_sums(g, me, of, dot)
  local k, ring, offsets = g.k, g.rings.sums, {}
  for i, name in ipairs(g.p.sums) do offsets[name] = 4 * g.p.chunk * (i - 1) end
  ring:acquire(me.sums)
  local to = k:address(g.buffers.sums, me.sums.stage * g.p.sums.bytes) + (me.first_row << 2)
  local first = (me.lane & 3):eq(0)
  local function store(name, half, value)
    local sum = warps.over_lanes(k, value, function(a, b) return a + b end)
    k:st_shared_b32(to, sum, { offset = offsets[name] + 32 * half, guard = first })
  end
  for half = 0, 1 do
    local of_state = of.factor[half] * dot[half]
    if me.queries then
      store("row", half, of.total[half] + of_state)
    else
      store("column", half, of.total[half])
      store("state", half, of_state)
    end
  end
  k:bar_warp_sync(0xFFFFFFFF)
  k:mbarrier_arrive(ring:full_barrier(me.sums), { guard = me.lane:eq(0) })
  ring:advance(me.sums)
end

-- For both rows of the thread the sum of products of words, split by `split`, and accumulators.
local function dots(k, split, words, acc)
  local sums = k:regs("f32", 4) -- of even and of odd columns: chains of half the length
  for i = 0, #words - 1 do
    for one, x in ipairs { split(k, words[i]) } do
      local sum, r = sums[2 * (i % 2) + one - 1], 2 * i + one - 1
      if i < 2 then k:mul(sum, x, acc[r]) else k:fma(sum, x, acc[r], sum) end
    end
  end
  return { [0] = sums[0] + sums[1], sums[2] + sums[3] }
end

-- A unit, whose operands are there.
local function compute(g, me, number, product)
  local k, p, stage, form = g.k, g.p, me.keys.stage, { type = g.p.dtype .. "x2" }
  local from, split = me.stage_at(stage), elements.from_output[p.dtype]
  local rows, of = from + (me.first_row << 2), { total = k:regs("f32", 2) }
  local function load(name)
    local out = {}
    for half = 0, 1 do out[half] = k:ld_shared_f32(rows, { offset = me.offsets[name] + 32 * half }) end
    return out
  end
  local weight = me.queries and "scaled" or "rest" -- of the state in a token
  me.load_rows(me.scaled, me.side.values, stage)
  local factor = load(weight)
  of.sums, of.dt = load(me.side.row), not me.queries and load "dt"
  for half = 0, 1 do
    local both = of.dt and factor[half] * of.dt[half] or factor[half]
    local high, low = steps.in_two(k, p, both, both)
    for i = half, #me.scaled - 1, 2 do
      k:fma(me.scaled[i], me.scaled[i], high, k:mul(me.scaled[i], low, form), form)
    end
    k:mov(of.total[half], 0.0)
  end
  product.pairs(me.acc, stage)
  product.rows(me.of_rows, me.scaled, stage)
  product.of_state(me.u, stage)
  k:wgmma_wait_group(me.weights == me.scaled and 1 or 2)
  pairs_of(g, me, from, of)
  -- Only now: registers are scarce while there are pairs.
  local skip = me.weights and p.D and results.skip_of(g, g.unit(number), me.pair)
  me.load_rows(me.values, me.side.values, stage)
  of.factor = load(weight)
  k:wgmma_wait_group(0)
  local dot = dots(k, split, me.values, me.u)
  if me.weights then
    for r = 0, #me.u - 1 do k:mul(me.u[r], me.u[r], of.factor[r // 2 % 2]) end
    product.within(me.u, me.weights, stage)
    if skip then me.load_rows(me.values, me.side.others, stage) end
  end
  store_sums(g, me, of, dot)
  if me.weights then k:wgmma_wait_group(0) end
  k:bar_warp_sync(0xFFFFFFFF)
  g.rings.keys:release(me.keys, { lane = me.lane })
  g.rings.keys:advance(me.keys)
  if me.weights then results.store(g, me, of, skip, me.values) end
end

--- The role of the warpgroup: side is module.queries or module.keys.
function module.emit(g, side)
  local k, p, rings, thread = g.k, g.p, g.rings, g.k:special "tid.x"
  local me = {
    side = side, queries = side == module.queries, lane = thread & 31,
    warp = k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31), load_rows = rows_loader(g), keys = rings.keys:cursor(),
    sums = rings.sums:cursor(), scores = k:regs("f32", p.chunk // 2), acc = k:regs("f32", p.chunk // 2),
    u = k:regs("f32", p.columns // 2), of_rows = k:regs("f32", p.dim // 2), values = k:regs("b32", p.chunk // 4),
    scaled = k:regs("b32", p.chunk // 4),
  }
  me.offsets, me.stage_at = gates.places(k, p, g.buffers.gates)
  me.pair, me.first_row = (me.lane & 3) << 1, (me.warp << 4) + (me.lane >> 2)
  me.ahead = k:mov(me.first_row, { type = "s32" }) - k:mov(me.pair, { type = "s32" })
  local name = side.result
  if g.buffers[name] then
    me.weights = me.queries and me.scaled or k:regs("b32", p.chunk // 4) -- the queries have no registers for both
    local pieces = panels.pieces(p.panel, k:address(g.buffers[name]), me.lane, me.warp)(0, 0)
    me.output = { ring = name, cursor = rings[name]:cursor(), pieces = pieces }
  end
  local product = products.make(g, side)
  rings.rows:wait(rings.rows:cursor())
  product.scores(me.scores)
  me.of_scores = me.queries and k:regs("f32", p.chunk // 2)
  for _, sums in ipairs { me.of_rows, me.of_scores or nil } do
    for r = 0, #sums - 1 do k:mov(sums[r], 0.0) end
  end
  k:loop(p.units, function(number)
    rings.keys:wait(me.keys)
    compute(g, me, number, product)
  end)
  if me.queries then
    operands.pack(k, p, me.values, function(r) return me.of_scores[r] end)
    for i, piece in ipairs(panels.pieces(p.panel, k:address(g.buffers.pairs), me.lane, me.warp)(0, 0)) do
      k:stmatrix_x4(piece.at, me.values:slice(4 * (i - 1), 4), { offset = piece.offset })
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(rings.pairs:full_barrier(rings.pairs:cursor()), { guard = me.lane:eq(0) })
    product.finish(me.of_rows, me.values)
  else
    rings.pairs:wait(rings.pairs:cursor())
    product.finish(me.of_rows)
  end
  k:wgmma_wait_group(0)
  results.store_rows(g, me, me.queries and g.sizes.dC or g.sizes.dB)
end

return module
