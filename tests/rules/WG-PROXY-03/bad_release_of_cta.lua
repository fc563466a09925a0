-- WG-PROXY-03, broken: the map is released to the threads of its CTA alone, and another CTA acquires it.
-- No call mends it: the scope is to be wider.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.changed_map(
  function(k, maps, own) k:tensormap_cp_fenceproxy(maps, own, { sem = "release.cta" }) end,
  function(k, maps, copies)
    k:fence_proxy_tensormap_acquire(maps, { guard = copies, sem = "acquire.cluster" }) -- EXPECT: WG-PROXY-03
  end)
