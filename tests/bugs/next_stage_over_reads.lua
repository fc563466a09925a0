-- https://github.com/NVIDIA/TransformerEngine/pull/2695: the threads of a CTA read a stage by ld.shared; after the barrier one of them copies the
-- stage after the next one over it by TMA: no proxy fence stands between the loads and that copy.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")
local stages, rounds <const> = 2, 4

local kernel = wg.kernel("amax", { threads = 128 }, function(k)
  local map, out = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } }), k:param("out", "f32*")
  local tiles = k:shared { bytes = stages * 512, align = 128, name = "tiles" }
  local full = kit.mbarriers(k, { 1, 1 })
  local thread = k:special "tid.x"
  local first, zero, most = thread:eq(0), k:mov(0, { type = "s32" }), k:mov(0, { type = "f32" })
  local start = k:mov(tiles, { type = "u32" })
  local function copy(round)
    local bar = k:address(full, 8 * (round % stages))
    k:if_(first, function()
      k:mbarrier_arrive_expect_tx(bar, 512)
      k:cp_async_bulk_tensor_2d(start + 512 * (round % stages), map, { zero, k:mov(4 * round, { type = "s32" }) }, bar) -- EXPECT: WG-PROXY-02
    end)
  end
  for round = 0, stages - 1 do copy(round) end
  for round = 0, rounds - 1 do
    local s = round % stages
    k:mbarrier_wait(k:address(full, 8 * s), round // stages & 1)
    local x = k:ld_shared_f32(k:mad_lo_u32(thread, 4, start + 512 * s))
    k:max(most, most, k:abs(x))
    if kit.is "fixed" then k:fence_proxy_async { space = "shared::cta" } end
    k:bar_sync(0)
    if round + stages < rounds then copy(round + stages) end
  end
  k:st_global_f32(k:element(out, thread), most)
end)
kernel:run { grid = { 1 }, args = { wg.ones("f32", { 4 * rounds, 32 }), wg.zeros("f32", { 128 }) } }
