-- What the three warpgroups of wg.delta_rule_backward's last kernel that multiply have in common (gradients.lua):
-- registers, cursors, products, dot products of rows, and the order of a unit's heads.

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

--- Returns each_row(from, count, each), for tokens by 128 elements in shared memory: calls each(r, x, y) with the
--- elements that lie in registers r and r + 1 of accumulators, for `count` registers from `from` on. offset: of the
--- first one, in bytes.
function module.elements_of(g, buffer, offset)
  local k, p = g.k, g.p
  local thread, split = k:special "tid.x", elements.from_output[p.dtype]
  local lane = thread & 31
  local line = k:address(buffer, offset) + ((thread >> 5 & 3) << 4) * 128 + (lane & 15) * 128
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

--- The role of a warpgroup. names: of what its triangles are multiplied with, "q" and "k".
function module.make(g, names)
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

  -- words = part D factor on and below the diagonal, or strictly below it; transposed: above it. D is the exponential
  -- of logarithm(half, r), in units of log2.
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

  function me.store_rows(here, to) row_stores.emit(here, me, to, me.sums) end

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

return module
