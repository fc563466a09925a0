-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_async_copy, test_ws_async_copy_commits, test_ws_async_copy_wait_visibility. A stage that cp.async fills is
-- written or read again while its group may still be in flight: the wait leaves one too many, another role waits
-- (groups are each thread's own), or a role is told of two stages after a wait for one.
-- bad: one_too_many other_role newest
-- good: waited own_groups oldest
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("copies", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  local stages = {}
  for i = 0, 2 do stages[i] = k:shared { bytes = 512, align = 16, name = "stage" .. i } end
  local full = kit.mbarriers(k, { 32 })
  local warp, lane = k:special "tid.x" >> 5, k:special "laneid"
  local from = k:element(X, lane * 4)
  local function mine(stage) return k:mad_lo_u32(lane, 16, k:mov(stages[stage], { type = "u32" })) end
  local function copy(stage)
    k:cp_async_cg(mine(stage), from)
    k:cp_async_commit_group()
  end
  if kit.is("one_too_many", "waited") then
    k:if_(warp:eq(0), function()
      for stage = 0, 2 do copy(stage) end
      k:cp_async_wait_group(kit.is "one_too_many" and 3 or 2)
      k:cp_async_cg(mine(0), from) -- EXPECT(one_too_many): WG-GROUP-04
      k:cp_async_commit_group()
      k:cp_async_wait_group(0)
    end)
  elseif kit.is("other_role", "own_groups") then
    -- Both roles copy; each waits for one group.
    k:if_(warp:eq(0), function()
      copy(0)
      k:cp_async_wait_group(kit.is "own_groups" and 0 or 1)
      k:mbarrier_arrive(full)
      k:cp_async_wait_group(0)
    end, function()
      copy(1)
      k:cp_async_wait_group(0)
      k:mbarrier_wait(k:address(full), 0)
      k:ld_shared_b32(mine(0)) -- MAYBE(other_role): WG-GROUP-04 -- MAYBE(other_role): WG-RACE-01
    end)
  else
    k:if_(warp:eq(0), function()
      copy(0)
      copy(1)
      k:cp_async_wait_group(1)
      k:mbarrier_arrive(full)
      k:cp_async_wait_group(0)
    end, function()
      k:mbarrier_wait(k:address(full), 0)
      k:ld_shared_b32(mine(kit.is "newest" and 1 or 0)) -- MAYBE(newest): WG-GROUP-04 -- MAYBE(newest): WG-RACE-01
    end)
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
