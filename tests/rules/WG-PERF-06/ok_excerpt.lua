-- WG-PERF-06, kept: Between two batches of wgmma stands no wait_group 0 that nothing in between needs.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  local function fill()
    for _, tile_of in ipairs { a, b } do
      local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
      for i = 0, 3 do k:st_shared_v4_b32(at, zero, { offset = 2048 * i }) end
    end
    k:fence_proxy_async()
    k:bar_sync(0)
  end
  fill()
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  for i = 0, 3 do
    k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
    k:wgmma_commit_group()
    k:wgmma_wait_group(i < 3 and 1 or 0) -- PERF
  end
end)
kernel:run { grid = { 1 }, args = {} }
