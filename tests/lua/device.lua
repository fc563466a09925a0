-- wg.device; asking for the GPU, as the library's plans do, loads no compiler and no cuBLAS: these take longer than all else.
local wg = require "wgrun"
local check = require "check"

local device, why, code = wg.device()
if device then
  check.equal(device.capability, "9.0")
else
  assert(type(why) == "string" and #why > 0)
  check.equal(code, "ENODEV")
end

wg.gemm { problem = { 4096, 4096, 4096 } }.kernel:check()
for line in io.lines "/proc/self/maps" do
  local library = line:match "lib(nvrtc%S*)" or line:match "lib(cublas%S*)"
  assert(not library, library)
end
