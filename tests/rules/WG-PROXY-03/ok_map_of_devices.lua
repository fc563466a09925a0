-- WG-PROXY-03, kept: a device acquires a map that another one has changed, both in the scope of the system.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.map_of_devices(
  function(k, maps, own) k:tensormap_cp_fenceproxy(maps, own, { sem = "release.sys" }) end,
  function(k, maps) k:fence_proxy_tensormap_acquire(maps, { sem = "acquire.sys" }) end)
