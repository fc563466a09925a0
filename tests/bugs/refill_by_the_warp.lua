-- https://github.com/deepseek-ai/DeepEP/pull/642: each warp has stages of its own, which its lanes read by ld.shared, and one lane
-- refills by TMA once the warp has met: no proxy fence stands between the loads and the copy.
-- bad: bug
-- good: fixed fixed_by_readers
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")
local stages, rounds <const> = 2, 5

local kernel = wg.kernel("combine", { threads = 64 }, function(k)
  local map, out = k:tensor_map("X", { dtype = "u32", box = { 32 } }), k:param("out", "u32*")
  local lines = k:shared { bytes = 2 * stages * 128, align = 128, name = "lines" }
  local full = k:shared { bytes = 2 * stages * 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, thread >> 5
  local elected, sum = lane:eq(0), k:mov(0, { type = "u32" })
  local start, bars = k:mov(lines, { type = "u32" }) + warp * (stages * 128), k:mov(full, { type = "u32" }) + warp * (stages * 8)
  k:if_(elected, function()
    for s = 0, stages - 1 do k:mbarrier_init(bars + 8 * s, 1) end
    k:fence_mbarrier_init()
  end)
  k:bar_warp_sync()
  local function copy(round)
    local s = round % stages
    k:if_(elected, function()
      k:mbarrier_arrive_expect_tx(bars + 8 * s, 128)
      k:cp_async_bulk_tensor_1d(start + 128 * s, map, { k:mov(32 * round, { type = "s32" }) }, bars + 8 * s) -- EXPECT: WG-PROXY-02
    end)
  end
  for round = 0, stages - 1 do copy(round) end
  for round = 0, rounds - 1 do
    local s = round % stages
    k:mbarrier_wait(bars + 8 * s, round // stages & 1)
    k:add(sum, sum, k:ld_shared_u32(k:mad_lo_u32(lane, 4, start + 128 * s)))
    if kit.is "fixed_by_readers" then k:fence_proxy_async { space = "shared::cta" } end
    k:bar_warp_sync()
    if kit.is "fixed" then k:fence_proxy_async { space = "shared::cta" } end
    if round + stages < rounds then copy(round + stages) end
  end
  k:st_global_u32(k:element(out, thread), sum)
end)
kernel:run { grid = { 1 }, args = { wg.ones("u32", { 32 * rounds }), wg.zeros("u32", { 64 }) } }
