-- WG-MEM-01, kept: Every access to global memory lies inside a tensor that was passed to the kernel.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local n = k:param("n", "u32")
  local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
  local address = k:element(X, i)
  k:if_(i:lt(n), function()
    local x = k:ld_global_f32(address)
    k:st_global_f32(address, x)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 200 }), 200 } }
