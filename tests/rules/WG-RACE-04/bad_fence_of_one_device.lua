-- WG-RACE-04, broken: the flag's own scope holds both devices, that of the fence before it does not.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local inbox, peer_inbox = k:param("inbox", "const u32*"), k:param("peer_inbox", "u32*")
  local flag, peer_flag, Y = k:param("flag", "u32*"), k:param("peer_flag", "u32*"), k:param("Y", "u32*")
  k:if_(k:special "tid.x":eq(0), function()
    k:st_global_u32(peer_inbox, 7)
    k:fence_acq_rel_gpu()
    k:st_relaxed_sys_global_u32(peer_flag, 1)
    k:while_(function() return k:ld_acquire_sys_global_u32(flag):eq(0) end, function() end)
    k:st_global_u32(Y, k:ld_global_u32(inbox)) -- EXPECT IN RUN: WG-RACE-04
  end)
end)
local function one() return wg.zeros("u32", { 1 }) end
local a, b, f, g = one(), one(), one(), one()
kernel:run { devices = { { a, b, f, g, one() }, { b, a, g, f, one() } } }
