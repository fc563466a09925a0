-- https://github.com/triton-lang/triton/issues/3106 and https://github.com/deepseek-ai/DeepEP/issues/657: two stages and
-- wait_group 1, for wgmma and for TMA stores: the stage that is filled next is still being read.
-- bad: wgmma store
-- good: wgmma_fixed store_fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

-- Two stages, each filled for the round after next as soon as its wgmma is issued.
local function wgmma_kernel(k)
  local stages = { k:shared(kit.tile, "a0"), k:shared(kit.tile, "a1") }
  local b, acc = k:shared(kit.tile, "b"), k:regs("f32", 32)
  kit.fill(k, { b, stages[1], stages[2] })
  for round = 0, 3 do
    local stage = stages[round % 2 + 1]
    kit.multiply(k, acc, stage, b, round > 0 and 1 or 0)
    k:wgmma_wait_group(kit.is "wgmma" and 1 or 0)
    k:bar_sync(0)
    local at, words = kit.mine(k, stage), kit.words(k)
    for i = 0, 3 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end -- EXPECT(wgmma): WG-RACE-02
    k:fence_proxy_async()
    k:bar_sync(0)
  end
  k:wgmma_wait_group(0)
end

local function store_kernel(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local buffer = k:shared { bytes = 4096, align = 128, name = "buffer" }
  local first, zero, words = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" }), kit.words(k)
  k:loop(4, function(i)
    local stage = (i & 1) << 11
    k:st_shared_v4_b32(kit.mine(k, buffer) + stage, words) -- EXPECT(store): WG-RACE-03
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    k:cp_async_bulk_tensor_store_2d(map, { zero, k:mul_lo_s32(i, 16) }, k:address(buffer, stage), { guard = first })
    k:cp_async_bulk_commit_group { guard = first }
    k:cp_async_bulk_wait_group(kit.is "store" and 2 or 1, { read = true, guard = first })
    k:bar_sync(0)
  end)
  k:cp_async_bulk_wait_group(0, { guard = first })
end

if kit.is("wgmma", "wgmma_fixed") then
  wg.kernel("wgmma", { threads = 128 }, wgmma_kernel):run { grid = { 1 }, args = {} }
else
  wg.kernel("store", { threads = 128 }, store_kernel):run { grid = { 1 }, args = { wg.zeros("f32", { 64, 32 }) } }
end
