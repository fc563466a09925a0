-- close.lua A.npy B.npy: two f32 results that differ in the order of additions only.
local wg = require "wgrun"
local ok, worst = wg.compare(assert(wg.load(arg[1])), assert(wg.load(arg[2])), { absolute = 1e-3 })
print(("worst difference %.3g"):format(worst))
if not ok then os.exit(1) end
