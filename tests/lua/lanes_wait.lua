-- Lanes of one warp that have parted and wait for each other make progress, whichever side has its turn first.
local check = require "check"
local wg = require "wgrun"

--- A kernel of one warp, in which lane 0 runs `alone` and the others `together`; `swapped`: as the other arm.
local function parted(swapped, prepare, alone, together)
  local kernel = wg.kernel("k", { threads = 32 }, function(k)
    local out = k:param("out", "u32*")
    local flag = k:shared({ bytes = 16, align = 16 }, "flag")
    local tid = k:special "tid.x"
    k:if_(tid:eq(0), function() prepare(k, flag) end)
    k:bar_sync(0)
    local result = k:mov_u32(0)
    local function run(body) return function() body(k, flag, result) end end
    if swapped then k:if_(tid:ne(0), run(together), run(alone)) else k:if_(tid:eq(0), run(alone), run(together)) end
    k:st_global_u32(k:element(out, tid), result)
  end)
  for _, finding in ipairs(kernel:check()) do assert(finding.severity ~= "error", finding.message) end
  local out = wg.zeros("u32", { 32 })
  for seed = 1, 4 do kernel:run { grid = 1, args = { out }, seed = seed } end
  return out:totable()
end

local function zero(k, flag) k:st_shared_u32(k:address(flag), 0) end
local function await(k, flag, result, value)
  k:mov(result, 0)
  k:while_(function() return result:lt(value) end, function()
    k:mov(result, k:ld_acquire_cta_shared_u32(k:address(flag)))
  end)
end
local function tell(k, flag, value) k:st_release_cta_shared_u32(k:address(flag), value) end
local function all(value)
  local out = {}
  for i = 1, 32 do out[i] = value end
  return out
end

for _, swapped in ipairs { false, true } do
  -- One side polls memory that the other writes.
  check.equal(parted(swapped, zero, function(k, flag, result)
    await(k, flag, result, 7)
  end, function(k, flag, result)
    tell(k, flag, 7)
    k:mov(result, 7)
  end), all(7))

  -- They take turns, several times, and part once more inside.
  check.equal(parted(swapped, zero, function(k, flag, result)
    for round = 1, 5, 2 do
      tell(k, flag, round)
      await(k, flag, result, round + 1)
    end
  end, function(k, flag, result)
    for round = 1, 5, 2 do
      await(k, flag, result, round)
      k:if_(k:special "tid.x":eq(5), function() tell(k, flag, round + 1) end)
      await(k, flag, result, round + 1)
    end
  end), all(6))

  -- One side waits for an mbarrier that the other arrives at.
  check.equal(parted(swapped, function(k, flag)
    k:mbarrier_init(k:address(flag), 1)
  end, function(k, flag, result)
    k:mbarrier_arrive(k:address(flag))
    k:mov(result, 1)
  end, function(k, flag, result)
    local done = k:reg "pred"
    k:while_(function()
      k:mov(done, k:mbarrier_try_wait_parity(k:address(flag), 0))
      return k["not"](k, done)
    end, function() end)
    k:mov(result, 1)
  end), all(1))
end

-- A lock of memory: the lane that has it waits for the others behind the loop, and they for it.
local locked = wg.kernel("k", { threads = 64 }, function(k)
  local count, lock = k:param("count", "u32*"), k:param("lock", "u32*")
  local taken = k:mov_u32(1)
  k:while_(function() return taken:ne(0) end, function()
    k:mov(taken, k:atom_acquire_gpu_global_cas_b32(k:element(lock, 0), 0, 1))
  end)
  local n = k:ld_relaxed_gpu_global_u32(k:element(count, 0))
  k:st_relaxed_gpu_global_u32(k:element(count, 0), k:add(n, 1))
  k:atom_release_gpu_global_exch_b32(k:element(lock, 0), 0)
end)
local count, lock = wg.zeros("u32", { 1 }), wg.zeros("u32", { 1 })
locked:run { grid = 1, args = { count, lock } }
check.equal(count[0], 64)

-- What nobody tells is still waited for in vain, and said.
local hangs = wg.kernel("k", { threads = 32 }, function(k)
  local flag = k:shared({ bytes = 16, align = 16 }, "flag")
  local result, tid = k:mov_u32(0), k:special "tid.x"
  k:if_(tid:eq(0), function() zero(k, flag) end)
  k:bar_sync(0)
  k:if_(tid:eq(0), function() await(k, flag, result, 1) end, function() await(k, flag, result, 2) end)
end)
local good, message = pcall(hangs.run, hangs, { grid = 1, args = {} })
assert(not good and tostring(message):find("WG-SYNC-06", 1, true), message)
