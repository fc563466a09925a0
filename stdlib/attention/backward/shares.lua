-- The consumers' shares of dQ in wg.attention_backward, which they add to sums in global memory, f32 in the order of
-- their registers. Where shared memory is not what limits the products (`staged`), a consumer writes its share there,
-- and a thread of the producer's warpgroup adds it by a bulk reduction (PTX ISA 9.7.9.25.4.2). Else reductions of
-- registers are faster.

local scheduler = require "wgrun.attention.backward.scheduler"

local module = {}

--- The shares on their way, and the ring over them: a stage for each consumer.
function module.stages_of(k, p)
  return k:shared { bytes = p.sums_bytes, align = 128, name = "dQ" },
    k:pipeline { stages = p.consumers, producers = 4, name = "share" }
end

-- Adds the consumer's share from registers.
local function add_from_registers(me, own)
  local k, p = me.k, me.p
  return function(dq, number, only)
    local to = k:mad_wide_u32(own, 1, k:mad_wide_u32(number, p.sums_bytes, me.sizes.sums))
    for i = only and only.first or 0, only and only.last or #dq // 4 - 1 do
      k:red_relaxed_gpu_global_add_v4_f32(
        to, dq:slice(4 * i, 4), { offset = 2048 * i, guard = only and only.guard })
    end
  end
end

-- Hands the consumer's share over to the thread that adds it.
local function hand_over(me, own)
  local k, ring = me.k, me.rings.share
  local cursor, to = ring:cursor(), k:address(me.buffers.share) + own
  k:mov(cursor.stage, me.number)
  return function(dq)
    ring:acquire(cursor)
    for i = 0, #dq // 4 - 1 do k:st_shared_v4_f32(to, dq:slice(4 * i, 4), { offset = 2048 * i }) end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync()
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = me.lane:eq(0) })
    k:xor(cursor.phase, cursor.phase, 1)
  end
end

--- Returns add(dq, number, only), which adds the consumer's share of dQ of block `number` to its sums. Where it is not
--- `staged`, `only` may be a guard, and the first and last of the fours of registers.
function module.adder(me)
  local share = me.p.cluster > 1 and me.at.rank * me.p.consumers + me.number or me.number
  local own = share * me.p.share_bytes + ((me.k:special "tid.x" & 127) << 4)
  return (me.p.staged and hand_over or add_from_registers)(me, own)
end

--- The thread that adds what the consumers hand over.
function module.add_all(g)
  local k, p, ring = g.k, g.p, g.rings.share
  local cursor, from = ring:cursor(), k:address(g.buffers.share)
  scheduler.each(g, function(block, head)
    local to = k:mad_wide_u32(scheduler.number(p, g.at, block, head), p.sums_bytes, g.sizes.sums)
    for mine = 0, p.consumers - 1 do
      k:mov(cursor.stage, mine)
      ring:wait(cursor)
      local offset = mine * p.share_bytes
      k:cp_reduce_async_bulk(
        k:mad_wide_u32(offset, 1, to), from + offset, p.share_bytes, { op = "add", type = "f32" })
      k:cp_async_bulk_commit_group()
    end
    for mine = 0, p.consumers - 1 do
      k:cp_async_bulk_wait_group(p.consumers - 1 - mine, { read = true })
      k:mov(cursor.stage, mine)
      k:mbarrier_arrive(ring:empty_barrier(cursor))
    end
    k:xor(cursor.phase, cursor.phase, 1)
  end)
end

return module
