-- WG-PROXY-03, kept: Between a generic-proxy write to global memory and a bulk copy that reads, overwrites or reduces it stands a fence.proxy.async of global memory, and between a change of a tensor map and a copy through it a fence.proxy.tensormap that acquires.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map, X = k:tensor_map("Y", { dtype = "f32", box = { 32, 4 } }), k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local thread, zero, value = k:special "tid.x", k:mov(0, { type = "s32" }), k:mov(1, { type = "f32" })
  local first = thread:eq(0)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:st_global_f32(k:element(X, thread), value)
  k:fence_proxy_async{space="global"}
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
  k:mbarrier_wait(full, 0)
end)
local X = wg.zeros("f32", { 4, 32 })
kernel:run { grid = { 1 }, args = { X, X } }
