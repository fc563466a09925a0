-- Barriers of the CTA that need not be aligned, by parts of a warp: the warp counts once all its lanes have come to the barrier, at any
-- place, or have ended (PTX ISA 9.7.13.1, docs/silicon.md). So do votes, and the barrier of the cluster. An aligned one needs no lanes that
-- have ended at the branch before it; those that do something else first are late for it.
-- good: others_end guarded two_places arrive_in_turn votes votes_of_half cluster cluster_of_half ended ended_cluster
-- bad: stored_first arrived_and_waits
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local clusters = kit.is("cluster", "cluster_of_half", "ended_cluster")

local kernel = wg.kernel("parts", { threads = 64, cluster = clusters and { 2 } or nil }, function(k)
  local X = k:param("X", "u32*")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  local low = (thread & 31):lt(16)
  k:st_shared_u32(k:mad_lo_u32(thread, 4, start), thread)
  local function sync() k:barrier_sync(1, { threads = 64 }) end -- EXPECT(arrived_and_waits): WG-SYNC-02
  local function arrive() k:barrier_arrive(1, { threads = 64 }) end
  local function look() k:st_global_u32(k:element(X, thread), k:ld_shared_u32(k:mad_lo_u32(63 - thread, 4, start))) end
  if kit.is "others_end" then
    k:if_(low, function()
      sync()
      look()
    end)
  elseif kit.is "guarded" then
    k:barrier_sync(1, { threads = 64, guard = low })
  elseif kit.is "two_places" then
    k:if_(low, sync, sync)
    look()
  elseif kit.is "votes" then
    local p, place = (thread & 31):lt(21), k:element(X, thread)
    local function vote() k:st_global_u32(place, k:barrier_red_popc_u32(1, p, { threads = 64 })) end
    k:if_(low, vote, vote)
  elseif kit.is "votes_of_half" then
    k:if_(low, function()
      k:st_global_u32(k:element(X, thread), k:selp(42, 0, k:barrier_red_and_pred(1, low, { threads = 64 }), { type = "u32" }))
    end)
  elseif kit.is "cluster" then
    local function meet()
      k:barrier_cluster_arrive_unaligned()
      k:barrier_cluster_wait_unaligned()
    end
    k:if_(low, meet, meet)
    look()
  elseif kit.is "cluster_of_half" then
    k:if_(low, function()
      k:barrier_cluster_arrive_unaligned()
      k:barrier_cluster_wait_unaligned()
      look()
    end)
  elseif kit.is("ended", "stored_first") then
    k:if_((thread & 31):ge(16), function()
      if kit.is "stored_first" then k:st_global_u32(k:element(X, thread), 1) end
      k:exit()
    end)
    k:bar_sync(0) -- MAYBE(stored_first): WG-SYNC-01
    look()
  elseif kit.is "ended_cluster" then
    k:if_(low, function()
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
      look()
    end)
  elseif kit.is "arrived_and_waits" then
    k:if_(low, arrive)
    sync()
  else
    k:if_(thread:lt(32), function() k:if_(low, arrive, arrive) end, function()
      sync()
      look()
    end)
  end
end)
local X = wg.zeros("u32", { 64 })
if kit.ran(kernel, { grid = { clusters and 2 or 1 }, args = { X } }) and kit.is("votes", "votes_of_half") then assert(X[0] == 42 and X[40] == 42) end
