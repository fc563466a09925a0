-- https://github.com/triton-lang/triton/pull/7262, and FlashAttention-3 ("Without this fence I'm getting race condition
-- when seqlen_k is large"): a tile is read by ld.shared, released, and refilled by TMA.
-- bad: bug
-- good: fixed fixed_by_producer
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("refill", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local full = kit.mbarriers(k, { 1 })
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local mine, sum = kit.mine(k, tile), k:mov(0, { type = "f32" })
  for round = 0, 1 do
    k:mbarrier_arrive_expect_tx(full, 2048, { guard = first })
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full, { guard = first }) -- EXPECT: WG-PROXY-02
    k:mbarrier_wait(full, round)
    local words = k:regs("f32", 4)
    k:ld_shared_v4_f32(words, mine)
    k:add(sum, sum, words[0])
    if kit.is "fixed" then k:fence_proxy_async { space = "shared::cta" } end
    k:bar_sync(0)
    if kit.is "fixed_by_producer" then k:fence_proxy_async { space = "shared::cta" } end
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
