-- WG-PROXY-03, broken: the map is released in the scope of a device, and another device acquires it.
-- No call mends it: the scope is to be wider.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.map_of_devices(
  function(k, maps, own) k:tensormap_cp_fenceproxy(maps, own, { sem = "release.gpu" }) end,
  function(k, maps)
    k:fence_proxy_tensormap_acquire(maps, { sem = "acquire.sys" }) -- EXPECT IN RUN: WG-PROXY-03
  end)
