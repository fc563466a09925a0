-- What is right for every launch, although synthetic arguments (as `wgrun check` runs a kernel with) would break it: sizes,
-- contents of memory, other CTAs decide where and whether something is done.
-- good: guarded_tail gather scatter_shared scatter_global histogram flag_of_another_cta grid_stride assertion trap loop chosen_place
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local u32 = { type = "u32" }

local function backwards(n)
  local T = wg.zeros("u32", n)
  for i = 0, n - 1 do T[i] = n - 1 - i end
  return T
end

local args
local kernel = wg.kernel("synthetic", { threads = 64 }, function(k)
  local S = k:shared { bytes = 512, align = 16, name = "S" }
  local thread, base = k:special "tid.x", k:mov(S, u32)
  local own, mirrored = k:mad_lo_u32(thread, 4, base), k:mad_lo_u32(thread ~ 63, 4, base)
  if kit.is "guarded_tail" then
    local X, n = k:param("X", "f32*"), k:param("n", "u32")
    local x, inside = k:mov(0, { type = "f32" }), thread:lt(n)
    k:mov(x, k:ld_global_f32(k:element(X, thread), { guard = inside }), { guard = inside })
    k:st_shared_f32(own, x)
    k:bar_sync(0)
    k:st_global_f32(k:element(X, thread), k:ld_shared_f32(mirrored), { guard = inside })
    args = { wg.zeros("f32", 64), 50 }
  elseif kit.is "gather" then
    local I, X, Y = k:param("I", "const u32*"), k:param("X", "const f32*"), k:param("Y", "f32*")
    k:st_global_f32(k:element(Y, thread), k:ld_global_f32(k:element(X, k:ld_global_u32(k:element(I, thread)))))
    args = { backwards(64), wg.zeros("f32", 64), wg.zeros("f32", 64) }
  elseif kit.is("scatter_shared", "scatter_global") then
    local I, X = k:param("I", "const u32*"), k:param("X", "u32*")
    local i = k:ld_global_u32(k:element(I, thread))
    if kit.is "scatter_global" then
      k:st_global_u32(k:element(X, i), thread)
    else
      k:st_shared_u32(k:mad_lo_u32(i, 4, base), thread)
      k:bar_sync(0)
      k:st_global_u32(k:element(X, thread), k:ld_shared_u32(mirrored))
    end
    args = { backwards(64), wg.zeros("u32", 64) }
  elseif kit.is "histogram" then
    local X = k:param("X", "const u32*")
    k:st_shared_u32(own, k:mov(0, u32))
    k:bar_sync(0)
    k:red_shared_add_u32(k:mad_lo_u32(k:ld_global_u32(k:element(X, thread)) & 15, 4, base), k:mov(1, u32))
    args = { backwards(64) }
  elseif kit.is "flag_of_another_cta" then
    local F, X = k:param("F", "u32*"), k:param("X", "u32*")
    k:if_(thread:eq(0), function()
      k:if_(k:special("ctaid.x"):eq(0), function()
        k:while_(function() return k:ld_acquire_gpu_global_u32(F):eq(0) end, function() end)
        k:st_global_u32(X, 1)
      end, function() k:st_release_gpu_global_u32(F, 1) end)
    end)
    args = { wg.zeros("u32", 1), wg.zeros("u32", 1) }
  elseif kit.is "grid_stride" then
    local X, n = k:param("X", "f32*"), k:param("n", "u32")
    local i = k:mov(k:mad_lo_u32(k:special "ctaid.x", 64, thread))
    local stride = k:special "nctaid.x" << 6
    k:while_(function() return i:lt(n) end, function()
      k:st_global_f32(k:element(X, i), 1.0)
      k:add(i, i, stride)
    end)
    args = { wg.zeros("f32", 200), 200 }
  elseif kit.is "assertion" then
    k:assert(k:param("n", "u32"):gt(5), "n is too small")
    args = { 7 }
  elseif kit.is "trap" then
    k:if_(k:ld_global_u32(k:param("X", "const u32*")):eq(0), function() k:trap() end)
    args = { backwards(64) }
  elseif kit.is "loop" then
    local n, i = k:param("n", "u32"), k:mov(0, u32)
    k:while_(function() return i:lt(n) end, function()
      k:st_shared_u32(own, i)
      k:add(i, i, 1)
    end)
    k:bar_sync(0)
    k:st_shared_u32(own, k:ld_shared_u32(own))
    args = { 3 }
  else
    local at = k:mad_lo_u32(thread, 4, k:selp(base, base + 256, k:param("n", "u32"):gt(3)))
    k:st_shared_u32(at, thread)
    k:st_shared_u32(at, k:ld_shared_u32(at))
    args = { 5 }
  end
end)
kernel:run { grid = { kit.is("flag_of_another_cta", "grid_stride") and 2 or 1 }, args = args }
