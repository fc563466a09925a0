-- WG-FORM-03, broken by the number of threads.
local wg = require "wgrun"

wg.kernel("case", { threads = 1056 }, function(k) k:bar_sync(0) end) -- EXPECT: WG-FORM-03
