-- WG-PROXY-03, broken: the map is released before its last change.
-- No call mends it: the fence names the map, or stands behind its last change.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.map_behind_flag(function(k, maps, X)
  k:fence_proxy_tensormap_release()
  k:tensormap_replace_global_address_global(maps, X + 128)
end, function(k, maps, flag, tile, full)
  k:while_(function() return k:ld_acquire_gpu_global_u32(flag):ne(1) end, function() end)
  k:fence_proxy_tensormap_acquire(maps) -- EXPECT IN RUN: WG-PROXY-03
  k:mbarrier_arrive_expect_tx(full, 128)
  k:cp_async_bulk_tensor_2d(tile, maps, { 0, 0 }, full)
end)
