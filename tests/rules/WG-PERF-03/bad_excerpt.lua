-- WG-PERF-03, broken: The assembler honours setmaxnreg.
-- Here it does not because a wgmma needs more registers, which WG-REG-04 says before it is assembled.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local wide = wg.tile { dtype = "bf16", mn = 256, k = 64, major = "K" }
local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local X = k:param("X", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(wide, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, tile_of in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
    k:if_(thread:lt(128), function()
      for i = 0, tile_of.bytes - 1, 2048 do k:st_shared_v4_b32(at, zero, { offset = i }) end
    end)
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  -- threads = 384: each enters with 168 registers
  k:setmaxnreg_dec(136) -- EXPECT ASSEMBLED: WG-PERF-03
  local big = k:regs("f32", 128)
  k:wgmma_fence()
  k:wgmma_mma_async(big, da, db, {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT: WG-REG-04
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  for i = 0, 127 do k:st_global_f32(k:element(X, thread), big[i]) end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4096 }) } }
