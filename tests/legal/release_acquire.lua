-- What a thread has written it hands on with a flag: a write that releases and a read that acquires, or fences beside
-- strong accesses, in a scope that holds both. From warp to warp, to another CTA of the cluster, to a later CTA and to
-- an earlier one; under a lock; round in circles.
-- good: warp cluster later earlier fences volatile atomics lock turns
-- bad: no_release no_acquire narrow weak no_fence relaxed_lock
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local within_cluster = kit.is "cluster"

local kernel = wg.kernel("handoffs", { threads = 64, cluster = within_cluster and { 2 } or nil }, function(k)
  local X, flags = k:param("X", "u32*"), k:param("flags", "u32*")
  local thread, cta = k:special "tid.x", k:special "ctaid.x"
  local first = thread:eq(0)
  local scope = within_cluster and "cluster" or kit.is "narrow" and "cta" or "gpu"
  local fences = kit.is("fences", "volatile", "no_fence")
  local function set(place)
    if fences then k:fence_acq_rel_gpu() end
    if kit.is("atomics") then k:red_release_gpu_global_add_u32(place, 1)
    elseif kit.is "volatile" then k:st_volatile_global_u32(place, 1)
    elseif kit.is "weak" then k:st_global_u32(place, 1) -- MAYBE(weak): WG-RACE-04
    elseif kit.is "no_release" or fences then k:st_relaxed_gpu_global_u32(place, 1)
    else k["st_release_" .. scope .. "_global_u32"](k, place, 1) end -- MAYBE(narrow): WG-RACE-04
  end
  local function await(place)
    k:while_(function()
      if kit.is "atomics" then return k:atom_acquire_gpu_global_or_b32(place, 0):eq(0) end
      if kit.is "volatile" then return k:ld_volatile_global_u32(place):eq(0) end
      if kit.is "no_acquire" or fences then return k:ld_relaxed_gpu_global_u32(place):eq(0) end
      return k["ld_acquire_" .. scope .. "_global_u32"](k, place):eq(0) -- MAYBE(narrow weak): WG-RACE-04
    end, function() end)
    if fences and not kit.is "no_fence" then k:fence_acq_rel_gpu() end
  end
  if kit.is "warp" then
    local tile, flag = k:shared { bytes = 128, align = 16, name = "tile" }, k:shared { bytes = 4, align = 4, name = "flag" }
    local place, mine = k:mov(flag, { type = "u32" }), k:mad_lo_u32(thread & 31, 4, k:mov(tile, { type = "u32" }))
    k:st_shared_u32(place, 0, { guard = first })
    k:bar_sync(0)
    k:if_(thread:lt(32), function()
      k:st_shared_u32(mine, thread)
      k:bar_warp_sync()
      k:st_release_cta_shared_u32(place, 1, { guard = first })
    end, function()
      k:while_(function() return k:ld_acquire_cta_shared_u32(place):eq(0) end, function() end)
      k:st_global_u32(k:element(X, cta * 64 + thread), k:ld_shared_u32(mine))
    end)
  elseif kit.is("lock", "relaxed_lock") then
    local order = kit.is "lock" and { "acquire", "release" } or { "relaxed", "relaxed" }
    k:if_(first, function()
      k:while_(function() return k["atom_cas_" .. order[1] .. "_gpu_global_b32"](k, k:element(flags, 0), 0, 1):ne(0) end, function() end)
      local sum = k:element(X, 0)
      k:st_global_u32(sum, k:ld_global_u32(sum) + 1) -- MAYBE(relaxed_lock): WG-RACE-04
      k["st_" .. order[2] .. "_gpu_global_u32"](k, k:element(flags, 0), 0)
    end)
  elseif kit.is "turns" then
    -- Two CTAs write the same place in turn, each when the counter is its own.
    local counter, place = k:element(flags, 0), k:element(X, thread)
    k:loop(3, function(round)
      k:if_(first, function()
        k:while_(function() return k:ld_acquire_gpu_global_u32(counter):ne(round * 2 + (cta & 1)) end, function() end)
      end)
      k:bar_sync(0)
      k:if_(cta:lt(2), function() k:st_global_u32(place, k:ld_global_u32(place) + cta) end)
      k:bar_sync(0)
      k:if_(first, function() k:if_(cta:lt(2), function() k:red_release_gpu_global_add_u32(counter, 1) end) end)
    end)
  else
    -- The one of each two CTAs that comes first writes, the other one reads; `earlier`: the other way round.
    local writes = kit.is "earlier" and 1 or 0
    local flag, pair = k:element(flags, cta >> 1), (cta >> 1) * 64
    k:if_((cta & 1):eq(writes), function()
      k:st_global_u32(k:element(X, pair + thread), thread) -- MAYBE(no_release no_acquire narrow weak no_fence): WG-RACE-04
      k:bar_sync(0)
      k:if_(first, function() set(flag) end)
    end, function()
      k:if_(first, function() await(flag) end)
      k:bar_sync(0)
      k:ld_global_u32(k:element(X, pair + (thread ~ 33))) -- MAYBE(no_release no_acquire narrow weak no_fence): WG-RACE-04
    end)
  end
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 256 }), wg.zeros("u32", { 4 }) } }
