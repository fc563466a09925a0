-- https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait:
-- a wait that says .acquire.cta acquires nothing from the threads of another CTA that arrive: the counterpart of arrival_scope.
-- bad: try test
-- good: plain cluster own copy
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("wait", { threads = 32, cluster = { 2 } }, function(k)
  local Y = k:param("Y", "u32*")
  local map = k:tensor_map("map", { dtype = "u32", box = { 32 } })
  local data = k:shared { bytes = 128, align = 128, name = "data" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  meet()
  local sender = kit.is "own" and 1 or 0
  k:if_((rank:eq(sender)) & thread:eq(0), function()
    if kit.is "copy" then
      -- Of copies that another CTA issues an acquire.cta may know: the bytes come with the phase.
      local there = k:mapa(k:address(full), 1)
      k:mbarrier_arrive_expect_tx(there, 128, { space = "shared::cluster" })
      k:cp_async_bulk_tensor_1d(data, map, { k:mov(0, { type = "s32" }) }, full, { mask = 2 })
    else
      k:st_u32(k:mapa(k:address(data), 1), 7, { space = "shared::cluster" })
      k:mbarrier_arrive(k:mapa(k:address(full), 1), { space = "shared::cluster", sem = "release.cluster" })
    end
  end)
  k:if_(rank:eq(1), function()
    local sem = not kit.is "plain" and (kit.is "cluster" and "acquire.cluster" or "acquire.cta") or nil
    local attempt = kit.is "test" and k.mbarrier_test_wait_parity or k.mbarrier_try_wait_parity
    local function complete() return k:selp(1, 0, attempt(k, full, 0, { sem = sem }), { type = "u32" }) end
    local there = complete()
    k:while_(function() return there:eq(0) end, function() there:set(complete()) end)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(data))) -- EXPECT: WG-RACE-01
  end)
  meet()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 32 }), wg.zeros("u32", { 32 }) } }
