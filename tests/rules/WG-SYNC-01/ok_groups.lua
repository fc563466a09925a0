-- WG-SYNC-01, kept: warpgroups part, each as a whole; memory says which.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local X = k:param("X", "const u32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local thread, zero = k:special "tid.x", k:regs("b32", 4)
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, buffer in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(buffer, { type = "u32" }))
    for i = 0, 1 do k:st_shared_v4_b32(at, zero, { offset = i * 4096 }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  k:if_(k:ld_global_u32(k:element(X, thread >> 7)):eq(0), function()
    k:setmaxnreg_dec(40)
  end, function()
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end)
end)
local X = wg.zeros("u32", 2)
X[0] = 1
kernel:run { grid = { 1 }, args = { X } }
