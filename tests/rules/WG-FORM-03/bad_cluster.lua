-- WG-FORM-03, broken by the cluster.
local wg = require "wgrun"

wg.kernel("case", { threads = 128, cluster = { 17 } }, function(k) k:bar_sync(0) end) -- EXPECT: WG-FORM-03
