# ptx and cuda: the text on standard output and nothing else there.
file kernel.lua <<'END'
local wg = require "wgrun"
print "noise"
wg.kernel("alpha", { threads = 128 }, function(k) end)
wg.kernel("beta", { threads = 128 }, function(k) end)
END
run ptx kernel.lua
exits 0
err "noise"
out_lacks noise
out_has ".target sm_90a"
out_has "alpha"
out_has "beta"
run cuda kernel.lua
exits 0
out_has "__global__"
run ptx --json kernel.lua
exits 0
out_has '"name": "beta"'
