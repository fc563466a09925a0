-- https://github.com/vllm-project/humming/issues/56: the leading CTA uses its shared memory again while the epilogue of its
-- peer still reads it: 5 to 18 % of the results are wrong.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("peer", { threads = 128, cluster = { 2 } }, function(k)
  local panel = k:shared { bytes = 2048, align = 16, name = "panel" }
  local rank, mine, words = k:special "cluster_ctarank", kit.mine(k, panel), kit.words(k)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  k:if_(rank:eq(0), function() k:st_shared_v4_b32(mine, words) end)
  meet()
  k:if_(rank:eq(1), function()
    local values = k:regs("b32", 4)
    k:ld_v4_b32(values, k:mapa(mine, 0), { space = "shared::cluster" }) -- MAYBE: WG-RACE-01
  end)
  if kit.is "fixed" then meet() else k:bar_sync(0) end
  k:if_(rank:eq(0), function() k:st_shared_v4_b32(mine, words) end) -- MAYBE: WG-RACE-01
  meet()
end)
kernel:run { grid = { 2 }, args = {} }
