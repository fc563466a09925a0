-- Accesses to global memory that need no order, or have one: elements of one's own, in place; the same value from all
-- CTAs; sums by atomics and by reducing copies; a handshake of atomics; a barrier; a tensor that is read by all and
-- written by none.
-- good: in_place same_value atomics reductions ticket barrier read_only strided cluster
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("global", { threads = 128, cluster = kit.is "cluster" and { 2 } or nil }, function(k)
  local X, Y, counter = k:param("X", "f32*"), k:param("Y", "f32*"), k:param("counter", "u32*")
  local thread, cta = k:special "tid.x", k:special "ctaid.x"
  local index = k:mad_lo_u32(cta, 128, thread)
  local mine = k:element(X, index)
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  if kit.is "in_place" then
    k:st_global_f32(mine, k:ld_global_f32(mine) * 2.0)
  elseif kit.is "same_value" then
    k:st_global_u32(k:element(counter, 0), 1)
  elseif kit.is "atomics" then
    k:red_add_f32(k:element(Y, thread), k:ld_global_f32(mine), { space = "global" })
  elseif kit.is "reductions" then
    local first = thread:eq(0)
    k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), 1)
    k:fence_proxy_async()
    k:bar_sync(0)
    k:cp_reduce_async_bulk(Y, tile, 512, { op = "add", type = "f32", guard = first })
    k:cp_async_bulk_commit_group { guard = first }
    k:cp_async_bulk_wait_group(0, { guard = first })
  elseif kit.is "ticket" then
    -- The last CTA to come reads what all have written.
    k:st_global_f32(mine, 1)
    k:bar_sync(0)
    local last = k:shared { bytes = 4, align = 4, name = "last" }
    local place = k:mov(last, { type = "u32" })
    k:if_(thread:eq(0), function()
      k:st_shared_u32(place, k:atom_add_u32(k:element(counter, 0), 1, { space = "global", sem = "acq_rel.gpu" }))
    end)
    k:bar_sync(0)
    k:if_(k:ld_shared_u32(place):eq(3), function()
      for i = 0, 3 do k:ld_global_f32(k:element(X, thread + 128 * i)) end
    end)
  elseif kit.is "barrier" then
    k:st_global_f32(mine, 1)
    k:bar_sync(0)
    k:ld_global_f32(k:element(X, index ~ 127))
  elseif kit.is "read_only" then
    k:st_global_f32(k:element(Y, index), k:ld_global_f32(k:element(X, thread)))
  elseif kit.is "strided" then
    k:loop(2, function(i) k:st_global_f32(k:element(Y, k:mad_lo_u32(i, 512, index)), 1) end)
  elseif kit.is "cluster" then
    k:st_global_f32(mine, 1)
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
    k:ld_global_f32(k:element(X, index ~ 128))
  end
end)
kernel:run { grid = { 4 }, args = { wg.zeros("f32", { 512 }), wg.zeros("f32", { 1024 }), wg.zeros("u32", { 1 }) } }
