-- WG-PROXY-03, kept: the map is released and acquired in the cluster.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.changed_map(
  function(k, maps, own) k:tensormap_cp_fenceproxy(maps, own, { sem = "release.cluster" }) end,
  function(k, maps, copies)
    k:fence_proxy_tensormap_acquire(maps, { guard = copies, sem = "acquire.cluster" })
  end)
