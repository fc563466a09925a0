-- WG-RACE-04, broken: a device reads a place in the scope of one device, and then in that of the system; the other device stores there.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y, flag, rank = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("flag", "u32*"), k:param("rank", "u32")
  k:if_(k:special "tid.x":eq(0), function()
    k:if_(rank:eq(0), function()
      local first = k:ld_relaxed_gpu_global_u32(X) -- EXPECT IN RUN: WG-RACE-04
      k:st_global_u32(Y, first + k:ld_relaxed_sys_global_u32(X))
      k:st_relaxed_sys_global_u32(flag, 1)
    end, function()
      k:while_(function() return k:ld_relaxed_sys_global_u32(flag):eq(0) end, function() end)
      k:st_relaxed_sys_global_u32(X, 1)
    end)
  end)
end)
local X, Y, flag = wg.zeros("u32", { 1 }), wg.zeros("u32", { 1 }), wg.zeros("u32", { 1 })
kernel:run { devices = { { X, Y, flag, 0 }, { X, Y, flag, 1 } } }
