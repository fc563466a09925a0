-- WG-FORM-03, broken: A CTA has 1 to 1024 threads and at most 227 KiB of shared memory, a cluster 1 to 16 CTAs.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local tile = wg.tile{dtype="bf16", mn=384, k=64, major="K"}
  local stages = k:shared{tile=tile, count=6, name="stages"} -- EXPECT: WG-FORM-03
  k:bar_sync(0)
end)
kernel:run { grid = { 1 }, args = {} }
