-- Barriers of the CTA that need not be aligned, by parts of a warp: the warp counts once all its lanes have come to the barrier, at any
-- place, or have ended (PTX ISA 9.7.13.1, docs/silicon.md).
-- good: others_end guarded two_places arrive_in_turn
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("parts", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  local low = (thread & 31):lt(16)
  k:st_shared_u32(k:mad_lo_u32(thread, 4, start), thread)
  local function sync() k:barrier_sync(1, { threads = 64 }) end
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
  else
    k:if_(thread:lt(32), function() k:if_(low, arrive, arrive) end, function()
      sync()
      look()
    end)
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 64 }) } }
