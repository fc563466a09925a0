-- WG-RACE-04: devices hand values over in the scope of the system, directly and by another CTA of the sender's.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local inbox, peer_inbox = k:param("inbox", "const u32*"), k:param("peer_inbox", "u32*")
  local flag, peer_flag, Y = k:param("flag", "u32*"), k:param("peer_flag", "u32*"), k:param("Y", "u32*")
  local count, sums = k:param("count", "u32*"), k:param("sums", "u32*")
  local cta, last = k:special "ctaid.x", k:special "nctaid.x" - 1
  k:red_global_add_u32(k:element(sums, k:special "tid.x"), 1, { sem = "relaxed.sys" })
  k:if_(k:special "tid.x":eq(0), function()
    k:st_global_u32(k:element(peer_inbox, cta), cta + 7)
    -- The last CTA of a device tells the other one what all have written.
    k:if_(k:atom_global_add_u32(count, 1, { sem = "acq_rel.gpu" }):eq(last), function()
      k:st_release_sys_global_u32(peer_flag, 1)
      k:while_(function() return k:ld_relaxed_sys_global_u32(flag):eq(0) end, function() end)
      k:fence_acq_rel_sys()
      k:st_global_u32(Y, k:ld_global_u32(inbox) + k:ld_global_u32(k:element(inbox, last)))
    end)
  end)
end)
local function some(n) return wg.zeros("u32", { n or 1 }) end
local a, b, f, g, y, z, sums = some(3), some(3), some(), some(), some(), some(), some(32)
kernel:run { grid = 3, devices = { { a, b, f, g, y, some(), sums }, { b, a, g, f, z, some(), sums } } }
assert(y[{ 0 }] == 16 and z[{ 0 }] == 16 and sums[{ 5 }] == 6)
