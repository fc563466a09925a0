-- WG-PROXY-03, broken: the thread that copies acquires the map before it has seen that it was changed.
-- No call mends it: the fence names the map, or stands behind its last change.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.map_behind_flag(function(k, maps, X)
  k:tensormap_replace_global_address_global(maps, X + 128)
  k:fence_proxy_tensormap_release()
end, function(k, maps, flag, tile, full)
  k:fence_proxy_tensormap_acquire(maps)
  k:while_(function() return k:ld_acquire_gpu_global_u32(flag):ne(1) end, function() end)
  k:mbarrier_arrive_expect_tx(full, 128)
  k:cp_async_bulk_tensor_2d(tile, maps, { 0, 0 }, full) -- EXPECT IN RUN: WG-PROXY-03
end)
