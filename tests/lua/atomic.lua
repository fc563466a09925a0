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

-- 128 bits: halves, quarters, copies through shared memory, and a compare-and-swap of both halves at once.
local words, old = wg.arange("u64", 1, 5), wg.zeros("u64", { 8 })
local wide = wg.kernel("wide", { threads = 32 }, function(k)
  local W, O = k:param("W", "u64*"), k:param("O", "u64*")
  local buffer = k:shared { bytes = 16, align = 16, name = "buffer" }
  k:if_(k:special "tid.x":eq(0), function()
    local both = k:ld_global_b128(W)
    local halves = k:unpack_b128(both)
    local swapped = k:pack_b128 { halves[1], halves[0] }
    k:st_shared_b128(buffer, swapped)
    k:st_global_b128(O, k:ld_shared_b128(buffer))
    local quarters = k:unpack_v4_b128(k:mov_b128(both))
    k:st_global_b128(O, k:pack_v4_b128 { quarters[2], quarters[3], quarters[0], quarters[1] }, { offset = 16 })
    k:st_global_b128(O, k:atom_global_exch_b128(W, swapped), { offset = 32 })
    k:atom_cas_b128_global(W, both, both)                     -- it holds `swapped`: nothing changes
    k:st_global_b128(O, k:atom_cas_b128_acq_rel_gpu_global(W, swapped, k:ld_global_b128(W, { offset = 16 })), { offset = 48 })
  end)
end)
check.equal(#wide:check(), 0)
wide:run { args = { words, old } }
check.equal(words:totable(), { 3, 4, 3, 4 })
check.equal(old:totable(), { 2, 1, 2, 1, 1, 2, 2, 1 })
check.equal(wide:ptx():find(".reg .b128", 1, true) ~= nil, true)
check.raises("a message has values of 64 bits at most", wg.kernel, "said", { threads = 32 }, function(k)
  k:print("%x", k:ld_global_b128(k:param("W", "u64*")))
end)
