-- https://github.com/HazyResearch/ThunderKittens/issues/33: attention over blocks of keys whose results differ from run to run: a
-- product is committed and never waited for before its accumulators are used. The pull request beside it (#34) puts a
-- wgmma.fence and a barrier there instead, which do not wait either. A tile whose mbarrier nobody waits for is the same
-- mistake with a copy.
-- bad: scores rescaled stored fence barrier loaded
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")
local blocks <const> = 3

local kernel = wg.kernel("attend", { threads = 128 }, function(k)
  local K, V = k:tensor_map("K", { tile = kit.tile, constant = true }), k:tensor_map("V", { tile = kit.tile, constant = true })
  local O = k:param("O", "f32*")
  local q, stages = k:shared(kit.tile, "q"), k:shared { tile = kit.tile, count = 2 * blocks, name = "stages" }
  local arrived = k:shared { bytes = 16 * blocks, align = 8, name = "arrived" }
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  k:if_(first, function()
    for i = 0, 2 * blocks - 1 do k:mbarrier_init(k:address(arrived, 8 * i), 1) end
    k:fence_mbarrier_init()
  end)
  kit.fill(k, { q })
  k:if_(first, function()
    for i = 0, 2 * blocks - 1 do
      local x, y = k:mov(0, { type = "s32" }), k:mov(64 * (i // 2), { type = "s32" })
      k:mbarrier_arrive_expect_tx(k:address(arrived, 8 * i), kit.tile.bytes)
      k:cp_async_bulk_tensor_2d(k:address(stages, i * kit.tile.bytes), i % 2 == 0 and K or V, { x, y }, k:address(arrived, 8 * i))
    end
  end)
  local scores, out, p = k:regs("f32", 32), k:regs("f32", 32), k:regs("b32", 4)
  for i = 0, 31 do k:mov(out[i], 0) end
  local function product(acc, a, stage, scale)
    local b = k:descriptor(stages) + (stage * kit.tile.bytes >> 4)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, a, b, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = scale }) -- EXPECT(loaded): WG-TMA-02
    k:wgmma_commit_group()
  end
  for block = 0, blocks - 1 do
    k:mbarrier_wait(k:address(arrived, 16 * block), 0)
    product(scores, k:descriptor(q), 2 * block, 0)
    if kit.is "fence" then k:wgmma_fence() end
    if kit.is "barrier" then k:bar_sync(0) end
    if block > 0 then
      if not kit.is "rescaled" then k:wgmma_wait_group(1) end
      for i = 0, 31 do k:mul(out[i], out[i], 0.5) end -- EXPECT(rescaled): WG-GROUP-01
    end
    if not kit.is("scores", "fence", "barrier") then k:wgmma_wait_group(0) end
    for i = 0, 3 do k:cvt_rn_bf16x2_f32(p[i], scores[2 * i], scores[2 * i + 1]) end -- EXPECT(scores fence barrier): WG-GROUP-01
    if not kit.is "loaded" then k:mbarrier_wait(k:address(arrived, 16 * block + 8), 0) end
    product(out, p, 2 * block + 1)
  end
  if not kit.is "stored" then k:wgmma_wait_group(0) end
  for i = 0, 31 do k:st_global_f32(k:element(O, k:mad_lo_u32(thread, 32, i)), out[i]) end -- EXPECT(stored): WG-GROUP-01
end)
kernel:run { grid = { 1 }, args = { wg.ones("bf16", { 64 * blocks, 64 }), wg.ones("bf16", { 64 * blocks, 64 }), wg.zeros("f32", { 128 * 32 }) } }
