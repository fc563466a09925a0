-- WG-RACE-04, kept: a thread releases by an atomic and stores there once more, and a thread of its CTA acquires that (PTX ISA 8.8).
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y, flag, go = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("flag", "u32*"), k:param("go", "u32*")
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:st_global_u32(X, 7)
    k:atom_global_add_u32(flag, 1, { sem = "release.gpu" })
    k:st_relaxed_gpu_global_u32(flag, 2)
    k:st_relaxed_gpu_global_u32(go, 1)
  end)
  k:if_(thread:eq(32), function()
    k:while_(function() return k:ld_relaxed_gpu_global_u32(go):eq(0) end, function() end)
    k:if_(k:ld_acquire_gpu_global_u32(flag):eq(2), function() k:st_global_u32(Y, k:ld_global_u32(X)) end)
  end)
end)
local function one() return wg.zeros("u32", { 1 }) end
local X, Y, flag, go = one(), one(), one(), one()
kernel:run { grid = { 1 }, args = { X, Y, flag, go } }
assert(Y[{ 0 }] == 7)
