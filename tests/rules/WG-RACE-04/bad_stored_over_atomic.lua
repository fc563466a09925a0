-- WG-RACE-04, broken: the flag's owner stores over what another CTA has released there by an atomic; who reads the store does not acquire that.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y, flag = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("flag", "u32*")
  local cta = k:special "ctaid.x"
  k:if_(k:special "tid.x":eq(0), function()
    local function wait(value) k:while_(function() return k:ld_relaxed_gpu_global_u32(flag):lt(value) end, function() end) end
    k:if_(cta:eq(0), function()
      k:st_release_gpu_global_u32(flag, 1)
      k:st_release_gpu_global_u32(flag, 2)
      wait(3)
      k:st_relaxed_gpu_global_u32(flag, 4)
    end)
    k:if_(cta:eq(1), function()
      k:st_global_u32(X, 7)
      wait(2)
      k:atom_global_add_u32(flag, 1, { sem = "release.gpu" })
    end)
    k:if_(cta:eq(2), function()
      k:while_(function() return k:ld_acquire_gpu_global_u32(flag):lt(4) end, function() end)
      k:st_global_u32(Y, k:ld_global_u32(X)) -- EXPECT IN RUN: WG-RACE-04
    end)
  end)
end)
local function one() return wg.zeros("u32", { 1 }) end
local X, Y, flag = one(), one(), one()
kernel:run { grid = { 3 }, args = { X, Y, flag } }
