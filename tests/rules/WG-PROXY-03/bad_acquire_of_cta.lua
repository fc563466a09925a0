-- WG-PROXY-03, broken: another CTA acquires the map from the threads of its own CTA alone.
-- No call mends it: the scope is to be wider.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.changed_map(
  function(k, maps, own) k:tensormap_cp_fenceproxy(maps, own, { sem = "release.gpu" }) end,
  function(k, maps, copies)
    k:fence_proxy_tensormap_acquire(maps, { guard = copies, sem = "acquire.cta" }) -- EXPECT: WG-PROXY-03
  end)
