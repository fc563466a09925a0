-- Atomics from scripts: a histogram over several CTAs, a counter in shared memory, a lock-free maximum.
local check = require "check"
local wg = require "wgrun"

local ctas, threads = 32, 128
local counts, tickets, top = wg.zeros("u32", { 8 }), wg.zeros("u32", { ctas * threads }), wg.zeros("f32", { 1 })
local kernel = wg.kernel("histogram", { threads = threads }, function(k)
  local C, T, M = k:param("C", "u32*"), k:param("T", "u32*"), k:param("M", "f32*")
  local counter = k:shared { bytes = 16, name = "counter" }
  local tid = k:special "tid.x"
  k:if_(tid:eq(0), function() k:st_shared_b32(counter, k:mov(0, { type = "b32" })) end)
  k:bar_sync(0)
  local index = k:mad_lo_u32(k:special "ctaid.x", threads, tid)
  k:red_global_add_u32(k:mad_wide_u32(index & 7, 4, C), 1)
  -- All warps count in one word of shared memory, with no barrier between them.
  local ticket = k:atom_shared_add_u32(counter, 1)
  k:st_global_u32(k:mad_wide_u32(k:mad_lo_u32(k:special "ctaid.x", threads, ticket), 4, T), k:mov(1, { type = "u32" }))
  -- The greatest of positive floats: their bits compare as integers.
  k:red_global_max_u32(M, k:mov(k:cvt_rn_f32_u32(index), { type = "b32" }))
end)
check.equal(#kernel:check(), 0)
kernel:run { grid = { ctas, 1, 1 }, args = { counts, tickets, top } }
for i = 0, 7 do check.equal(counts[{ i }], ctas * threads // 8) end
for i = 0, ctas * threads - 1 do check.equal(tickets[{ i }], 1) end
check.equal(top[{ 0 }], ctas * threads - 1)

-- Vectors, and compare-and-swap as a lock's test.
local sums, winner = wg.zeros("f32", { 4 }), wg.zeros("u32", { 2 })
local vectors = wg.kernel("vectors", { threads = 64 }, function(k)
  local S, W = k:param("S", "f32*"), k:param("W", "u32*")
  local tid = k:special "tid.x"
  local x = k:cvt_rn_f32_u32(tid)
  k:red_global_add_v4_f32(S, { x, x + 1.0, x + 2.0, x + 3.0 })
  local before = k:atom_global_cas_b32(W, 0, tid + 7)
  k:if_(k:setp_eq_u32(before, 0), function() k:red_global_add_u32(W, 1, { offset = 4, sem = "release.gpu" }) end)
end)
check.equal(#vectors:check(), 0)
vectors:run { grid = { 4, 1, 1 }, args = { sums, winner } }
for i = 0, 3 do check.equal(sums[{ i }], 4 * (2016 + 64 * i)) end
check.equal(winner[{ 1 }], 1)

-- A plain access that meets an atomic one without a barrier is a race.
local race = wg.kernel("race", { threads = 64 }, function(k)
  local counter = k:shared { bytes = 16 }
  k:st_shared_b32(counter, k:mov(0, { type = "b32" }))
  k:bar_sync(0)
  k:red_shared_add_u32(counter, 1)
  k:ld_shared_b32(counter)
end)
check.raises("WG-RACE-01", race.run, race, { grid = { 1, 1, 1 }, args = {}, backend = "sim" })
