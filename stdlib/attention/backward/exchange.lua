-- What the two CTAs of a cluster give each other in wg.attention_backward. Each has 64 keys; both pass over the same
-- queries. Each copies half of the columns of Q and dO to both. Each gives its dS of a block to the other, so that both
-- have dS of 128 keys, and half of the columns of dQ.

local tensors = require "wgrun.attention.tensors"

local module = {}

--- The copies of the producer: keys(row_of, barrier), half of the columns of the other CTA's keys; rows(...), as
--- tensors.loader copies a tile, half of the columns of a block of queries to both; prefetch(map, at, row), those to
--- the L2 cache. A block with one stage is copied so late that its way from memory would be waited for.
function module.share_copies(g, copy)
  local k, p, at, buffers = g.k, g.p, g.at, g.buffers
  local place = tensors.place(p)
  local column, offset = at.rank * (p.dim // 2), at.rank * p.half_q.bytes
  return {
    keys = function(row_of, barrier)
      local key = at.key + (at.rank ~ 1) * p.own_keys
      copy(p.half_k, k:address(buffers.other_k), g.maps.K, at, row_of(key), barrier, { column = column })
    end,
    rows = function(_, to, map, from, row, barrier)
      copy(p.half_q, to + offset, map, from, row, barrier, { column = column, mask = 3 })
    end,
    prefetch = function(map, from, row)
      for _, panel in ipairs(p.half_q.tma_box.panels) do
        local where = place(column + panel.k, from, row)
        k["cp_async_bulk_prefetch_tensor_" .. #where .. "d"](k, map, where)
      end
    end,
  }
end

--- What a consumer does about it. The ring's first stage is that of a block before the first one, whose dS is 0.
function module.consumer(me)
  local k, p, at, ring, buffers = me.k, me.p, me.at, me.rings.ds, me.buffers
  local bytes, thread, other = p.ds.bytes, k:special "tid.x", at.rank ~ 1
  local leader = thread:eq(128)
  local own, others = k:address(buffers.ds), k:address(buffers.other_ds)
  local exchange = { read = ring:cursor(), write = ring:cursor() }

  --- Of the block before the first one.
  function exchange.begin()
    local zero, ahead = k:regs("b32", 4), (thread - 128) << 4
    for i = 0, 3 do k:mov(zero[i], 0) end
    for first = 0, bytes - 1, 16 * 128 * p.consumers do
      for _, to in ipairs { own, others } do k:st_shared_v4_b32(to + ahead, zero, { offset = first }) end
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(1, { threads = 128 * p.consumers })
    k:mbarrier_arrive(ring:full_barrier(exchange.read), { guard = leader })
    ring:advance(exchange.write)
  end

  --- Waits until both CTAs are done with the stage that is written next.
  function exchange.acquire() ring:acquire(exchange.write) end

  --- Sends the stage that both consumers have written.
  function exchange.send()
    local full, offset = ring:full_barrier(exchange.write), exchange.write.stage * bytes
    k:mbarrier_arrive_expect_tx(full, bytes, { guard = leader })
    k:cp_async_bulk_cluster(
      k:mapa(others + offset, other), own + offset, bytes, k:mapa(full, other), { guard = leader })
    ring:advance(exchange.write)
  end

  --- Waits for both CTAs' dS of the stage that is read next.
  function exchange.wait() ring:wait(exchange.read) end

  --- Products have read it.
  function exchange.release()
    ring:release(exchange.read, { lane = me.lane, cluster = p.cluster })
    ring:advance(exchange.read)
  end
  return exchange
end

return module
