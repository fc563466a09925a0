-- Lanes of one warp that hand things to each other: halves that meet by themselves, an mbarrier at which lanes arrive one
-- by one, one lane that copies and waits for all, and a lane that goes on alone with what it was told.
-- good: halves one_by_one copies alone
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("lanes", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local map = k:tensor_map("map", { dtype = "f32", box = { 32 } })
  local S, bar = k:shared { bytes = 128, align = 128, name = "S" }, k:shared { bytes = 16, align = 8, name = "bar" }
  local lane = k:special "laneid"
  local base = k:mov(S, { type = "u32" })
  local own = k:mad_lo_u32(lane, 4, base)
  local first = lane:eq(0)
  k:mbarrier_init(bar, kit.is "one_by_one" and 4 or 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_warp_sync()

  if kit.is "halves" then
    -- Each half has words of its own, and lanes of it that read their neighbours' and overwrite them.
    local function half(mask)
      for turn = 1, 2 do
        k:st_shared_f32(own, turn)
        k:bar_warp_sync(mask)
        local x = k:ld_shared_f32(k:mad_lo_u32(lane ~ 1, 4, base))
        k:bar_warp_sync(mask)
        k:st_shared_f32(k:mad_lo_u32(lane ~ 2, 4, base), x)
        k:bar_warp_sync(mask)
      end
    end
    k:if_(lane:lt(16), function() half(0x0000FFFF) end, function() half(0xFFFF0000) end)
  elseif kit.is "one_by_one" then
    -- Four lanes write and arrive, one after the other; whoever has waited reads what they wrote.
    for i = 0, 3 do
      k:if_(lane:eq(i), function()
        k:st_shared_f32(own, i)
        k:mbarrier_arrive(bar)
      end)
    end
    k:mbarrier_wait(bar, 0)
    k:st_global_f32(k:element(X, lane), k:ld_shared_f32(k:mad_lo_u32(lane & 3, 4, base)))
    k:bar_warp_sync()
    k:st_shared_f32(own, 5, { guard = lane:eq(3) })
  elseif kit.is "copies" then
    for phase = 0, 1 do
      k:if_(first, function()
        k:mbarrier_arrive_expect_tx(bar, 128)
        k:cp_async_bulk_tensor_1d(S, map, { k:mov(0, { type = "s32" }) }, bar)
        k:mbarrier_wait(bar, phase)
      end)
      k:bar_warp_sync()
      local x = k:ld_shared_f32(k:mad_lo_u32(lane ~ 1, 4, base))
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_warp_sync()
      k:st_global_f32(k:element(X, lane), x)
    end
  else
    -- One lane takes all the words, and is alone with them until the others come.
    k:st_shared_f32(own, 1)
    k:bar_warp_sync()
    k:if_(first, function()
      for i = 1, 31 do k:st_shared_f32(base, k:add(k:ld_shared_f32(base), k:ld_shared_f32(k:address(S, 4 * i)))) end
    end)
    k:bar_warp_sync()
    k:st_global_f32(k:element(X, lane), k:ld_shared_f32(base))
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }), wg.zeros("f32", { 32 }) } }
