-- WG-RACE-04, kept: a thread releases at a place and stores there once more, both strong: a release pattern of the place (PTX ISA 8.8).
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y, flag, go = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("flag", "u32*"), k:param("go", "u32*")
  k:if_(k:special "tid.x":eq(0), function()
    k:if_(k:special "ctaid.x":eq(0), function()
      k:st_global_u32(X, 7)
      k:st_release_gpu_global_u32(flag, 1)
      k:st_relaxed_gpu_global_u32(flag, 2)
      k:st_relaxed_gpu_global_u32(go, 1)
    end, function()
      k:while_(function() return k:ld_relaxed_gpu_global_u32(go):eq(0) end, function() end)
      k:if_(k:ld_acquire_gpu_global_u32(flag):eq(2), function() k:st_global_u32(Y, k:ld_global_u32(X)) end)
    end)
  end)
end)
local function one() return wg.zeros("u32", { 1 }) end
local X, Y, flag, go = one(), one(), one(), one()
kernel:run { grid = { 2 }, args = { X, Y, flag, go } }
assert(Y[{ 0 }] == 7)
