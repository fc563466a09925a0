-- Shuffles, votes and bar.warp.sync from scripts: reductions of a warp.
local check = require "check"
local wg = require "wgrun"

local function run(threads, body, args)
  local kernel = wg.kernel("warp", { threads = threads }, body)
  check.equal(#kernel:check(), 0)
  kernel:run { grid = { 1, 1, 1 }, args = args }
end

-- Sum and maximum of each warp by butterflies.
local x, sums, tops = wg.randn { shape = { 64 }, dtype = "f32", seed = 3 }, wg.zeros("f32", { 64 }), wg.zeros("f32", { 64 })
run(64, function(k)
  local X, S, T = k:param("X", "const f32*"), k:param("S", "f32*"), k:param("T", "f32*")
  local tid = k:special "tid.x"
  local value = k:ld_global_f32(k:mad_wide_u32(tid, 4, X))
  local sum, top = k:mov(value), k:mov(value)
  for i = 0, 4 do
    local other, best = k:reg "f32", k:reg "f32"
    k:shfl_sync_bfly_b32(other, sum, 1 << i, 31)
    k:shfl_sync_bfly_b32(best, top, 1 << i, 31)
    sum:set(sum + other)
    top:set(k:max(top, best))
  end
  k:st_global_f32(k:mad_wide_u32(tid, 4, S), sum)
  k:st_global_f32(k:mad_wide_u32(tid, 4, T), top)
end, { x, sums, tops })
for warp = 0, 1 do
  local sum, top = 0, -math.huge
  for lane = 0, 31 do
    sum = sum + x[{ 32 * warp + lane }]
    top = math.max(top, x[{ 32 * warp + lane }])
  end
  for lane = 0, 31 do
    check.near(sums[{ 32 * warp + lane }], sum, 1e-5)
    check.equal(tops[{ 32 * warp + lane }], top)
  end
end

-- A running sum with the predicate of shfl.up, in a CTA whose last warp is not full, and votes.
local n = 40
local out, ballots = wg.zeros("s32", { n }), wg.zeros("u32", { n })
run(n, function(k)
  local O, B = k:param("O", "s32*"), k:param("B", "u32*")
  local tid = k:special "tid.x"
  local sum = k:reg "s32"
  sum:set(tid)
  for i = 0, 4 do
    local there, other = k:reg "pred", k:reg "s32"
    k:shfl_sync_up_b32(other, sum, 1 << i, 0, { p = there })
    k:add(sum, sum, other, { guard = there })
  end
  k:st_global_s32(k:mad_wide_u32(tid, 4, O), sum)
  local odd = (tid & 1):eq(1)
  local votes = k:vote_sync_ballot(odd)
  local any, all = k:vote_sync_any(odd), k:vote_sync_all(odd)
  k:if_(any & ~all, function()
    k:st_global_u32(k:mad_wide_u32(tid, 4, B), votes)
  end)
end, { out, ballots })
for i = 0, n - 1 do
  local first = i // 32 * 32
  check.equal(out[{ i }], (first + i) * (i - first + 1) // 2)
  check.equal(ballots[{ i }], i < 32 and 0xAAAAAAAA or 0xAA)
end

-- The first lane's value is the same in the whole warp: a wgmma may stand in a branch on it.
local role = wg.kernel("role", { threads = 256 }, function(k)
  local warpgroup = k:shfl_sync_idx_b32(k:special "tid.x" >> 7, 0, 31)
  k:if_(k:setp_eq_u32(warpgroup, 1), function() k:wgmma_fence() end)
end)
check.equal(#role:check(), 0)

-- Half of a warp: its membermask says so. With all lanes named the simulator refuses.
local function half(mask)
  return wg.kernel("half", { threads = 32 }, function(k)
    k:if_(k:special("tid.x"):lt(16), function() k:bar_warp_sync(mask) end)
  end)
end
half(0xFFFF):run { grid = { 1, 1, 1 }, args = {}, backend = "sim" }
check.raises("names lane 16, which does not execute it", function()
  half(-1):run { grid = { 1, 1, 1 }, args = {}, backend = "sim" }
end)
