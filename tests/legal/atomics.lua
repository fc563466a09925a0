-- What CTAs and warps make of atomics: histograms, places in a list, values that are atomics themselves, sums of the last CTA to
-- come; and what goes wrong beside them: memory that is not ready, results that are read too early, data beside relaxed ones.
-- good: histogram list values last
-- bad: not_ready read_early plain_read seqlock counted_early
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end
local case = {}

local function histogram()
  local kernel = wg.kernel("histogram", { threads = 128 }, function(k)
    local X, Y = k:param("X", "const u32*"), k:param("Y", "u32*")
    local bins, thread = k:shared { bytes = 64, align = 16, name = "bins" }, k:special "tid.x"
    k:if_(thread:lt(16), function() k:st_shared_u32(word(k, bins, thread), 0) end) -- MAYBE(not_ready): WG-RACE-01
    if not kit.is "not_ready" then k:bar_sync(0) end
    k:red_shared_add_u32(word(k, bins, k:ld_global_u32(k:element(X, thread)) & 15), 1) -- MAYBE(not_ready): WG-RACE-01 -- MAYBE(not_ready): WG-MEM-04
    if not kit.is "read_early" then k:bar_sync(0) end
    k:if_(thread:lt(16), function()
      k:red_global_add_u32(k:element(Y, thread), k:ld_shared_u32(word(k, bins, thread))) -- EXPECT(read_early): WG-RACE-01
    end)
  end)
  local X, Y = wg.ones("u32", 128), wg.zeros("u32", 16)
  if kit.ran(kernel, { grid = 3, args = { X, Y } }) then assert(Y[1] == 384) end
end
case.histogram, case.not_ready, case.read_early = histogram, histogram, histogram

-- Each warp takes places for those of its lanes that have something.
function case.list()
  local kernel = wg.kernel("list", { threads = 64 }, function(k)
    local X, C, Y = k:param("X", "const u32*"), k:param("C", "u32*"), k:param("Y", "u32*")
    local i, lane = k:special "ctaid.x" * 64 + k:special "tid.x", k:special "laneid"
    local keep = k:ld_global_u32(k:element(X, i)):gt(3)
    local mask = k:vote_sync_ballot(keep)
    local base = k:mov(0, { type = "u32" })
    k:if_(lane:eq(0), function()
      base:set(k:atom_global_add_u32(k:element(C, 0), k:mov(k:popc_b32(k:mov(mask, { type = "b32" })), { type = "u32" })))
    end)
    base:set(k:mov(k:shfl_sync_idx(k:mov(base, { type = "b32" }), 0, 31), { type = "u32" }))
    local below = k:mov(k:special "lanemask_lt", { type = "u32" }) & k:mov(mask, { type = "u32" })
    k:if_(keep, function()
      k:st_global_u32(k:element(Y, base + k:mov(k:popc_b32(k:mov(below, { type = "b32" })), { type = "u32" })), i)
    end)
  end)
  kernel:run { grid = 2, args = { wg.full("u32", { 128 }, 5), wg.zeros("u32", 1), wg.zeros("u32", 128) } }
end

function case.values()
  local kernel = wg.kernel("values", { threads = 32 }, function(k)
    local S, Y, thread = k:param("S", "u32*"), k:param("Y", "u32*"), k:special "tid.x"
    k:if_(k:special("ctaid.x"):eq(0), function() k:st_relaxed_gpu_global_u32(k:element(S, thread), thread + 1) end, function()
      local v = k:mov(0, { type = "u32" })
      k:while_(function()
        v:set(k:ld_relaxed_gpu_global_u32(k:element(S, thread)))
        return v:eq(0)
      end, function() end)
      k:st_global_u32(k:element(Y, thread), v)
    end)
  end)
  kernel:run { grid = 2, args = { wg.zeros("u32", 32), wg.zeros("u32", 32) } }
end

-- counted_early: thread 0 counts its CTA before the other threads have met with it.
local function last()
  local kernel = wg.kernel("last", { threads = 64 }, function(k)
    local P, C, Y = k:param("P", "u32*"), k:param("C", "u32*"), k:param("Y", "u32*")
    local flag = k:shared { bytes = 4, align = 4, name = "flag" }
    local thread, cta, ctas = k:special "tid.x", k:special "ctaid.x", k:special "nctaid.x"
    k:st_global_u32(k:element(P, cta * 64 + thread), thread) -- MAYBE(counted_early): WG-RACE-04
    if not kit.is "counted_early" then k:bar_sync(0) end
    k:if_(thread:eq(0), function()
      k:st_shared_u32(flag, k:atom_acq_rel_gpu_global_add_u32(k:element(C, 0), 1))
    end)
    k:bar_sync(0)
    k:if_(k:ld_shared_u32(flag):eq(ctas - 1), function()
      local sum = k:mov(0, { type = "u32" })
      k:loop(ctas, function(i) k:add(sum, sum, k:ld_global_u32(k:element(P, i * 64 + thread))) end) -- MAYBE(counted_early): WG-RACE-04
      k:st_global_u32(k:element(Y, thread), sum)
    end)
  end)
  kernel:run { grid = 3, args = { wg.zeros("u32", 192), wg.zeros("u32", 1), wg.zeros("u32", 64) } }
end
case.last, case.counted_early = last, last

-- A warp meets with itself, and reads what other warps add to.
function case.plain_read()
  local kernel = wg.kernel("plain_read", { threads = 96 }, function(k)
    local Y, sum, thread = k:param("Y", "f32*"), k:shared { bytes = 4, align = 4, name = "sum" }, k:special "tid.x"
    k:if_(thread:eq(0), function() k:st_shared_f32(sum, 0) end)
    k:bar_sync(0)
    k:red_shared_add_f32(sum, 1.0) -- MAYBE(plain_read): WG-RACE-01
    k:bar_warp_sync()
    k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(sum)) -- MAYBE(plain_read): WG-RACE-01
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 96) } }
end

-- The numbers around the value are relaxed: they order nothing.
function case.seqlock()
  local kernel = wg.kernel("seqlock", { threads = 32 }, function(k)
    local S, D, Y = k:param("S", "u32*"), k:param("D", "u32*"), k:param("Y", "u32*")
    local number, value = k:element(S, 0), k:element(D, 0)
    k:if_(k:special("tid.x"):eq(0), function()
      k:if_(k:special("ctaid.x"):eq(0), function()
        k:st_relaxed_gpu_global_u32(number, 1)
        k:st_global_u32(value, 7) -- MAYBE(seqlock): WG-RACE-04
        k:st_relaxed_gpu_global_u32(number, 2)
      end, function()
        k:while_(function() return k:ld_relaxed_gpu_global_u32(number):ne(2) end, function() end)
        k:st_global_u32(k:element(Y, 0), k:ld_global_u32(value)) -- MAYBE(seqlock): WG-RACE-04
      end)
    end)
  end)
  kernel:run { grid = 2, args = { wg.zeros("u32", 1), wg.zeros("u32", 1), wg.zeros("u32", 1) } }
end

-- Without a variant the good ones, for what looks at the kernels alone.
for name, run in pairs(case) do
  if kit.is(name) or kit.variant == "" and (name == "histogram" or name == "list" or name == "values" or name == "last") then run() end
end
