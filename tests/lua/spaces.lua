-- Generic addresses, local memory, states of mbarriers and CTAs of several dimensions: what is refused, and what a run finds.
local check = require "check"
local wg = require "wgrun"

--- The message of the error that a run of a kernel of one warp ends with.
local function fault(build, threads)
  local kernel = wg.kernel("k", { threads = threads or 32 }, build)
  local fine, err = pcall(kernel.run, kernel, { grid = 1, args = {} })
  assert(not fine, "the run finds nothing")
  return tostring(err)
end
local function finds(text, build, threads)
  local message = fault(build, threads)
  assert(message:find(text, 1, true), message)
end

check.refuses("kernel k: threads = {64, 32, 1}: 1024, 1024 and 64 at most, and 1024 in all", function() wg.kernel("k", { threads = { 64, 32 } }, function() end) end)
check.refuses("kernel k: threads = {2, 2, 65}: 1024, 1024 and 64 at most, and 1024 in all", function() wg.kernel("k", { threads = { 2, 2, 65 } }, function() end) end)
check.refuses_in_kernel("local memory of 0 bytes", function(k) k:local_ { bytes = 0 } end)
check.refuses_in_kernel("alignment 3: a power of two up to 128 bytes", function(k) k:local_ { bytes = 8, align = 3 } end)
check.refuses_in_kernel("local memory: 524288 bytes on top of 16 exceed the 524288 bytes of a thread", function(k) k:local_ { bytes = 16 } k:local_ { bytes = 1 << 19 } end)
-- A shared buffer is no generic address.
check.refuses_in_kernel("k:shared: option `bytes`: expected none beside a tile, which has a size of its own, got number 8", function(k) k:shared { bytes = 8, tile = wg.tile { dtype = "bf16", mn = 64, k = 64 } } end)
check.refuses_in_kernel("ld, operand a: a shared buffer is no address in global memory; use the shared space", function(k) k:ld_u32(k:shared { bytes = 16 }) end)

finds("loads 4 bytes at byte 16 of its local memory, which has 16", function(k) k:ld_local_u32(k:local_ { bytes = 16 } + 16) end)
finds("stores 4 bytes at byte -256 of its local memory", function(k)
  k:local_ { bytes = 16 }
  k:st_local_u32(k:mov_u64(0), 1)
end)
finds("stores 4 bytes at byte 16 of the shared memory", function(k)
  local buffer = k:shared { bytes = 16, name = "buffer" }
  k:st_u32(k:cvta_shared_u64(k:mov_u64(buffer)) + 16, 1)
end)
finds("completes a phase of `bar` with an arrival that is declared .noComplete", function(k)
  local bar, first = k:shared { bytes = 8, align = 8, name = "bar" }, k:special "tid.x":eq(0)
  k:mbarrier_init(bar, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_noComplete(bar, 1, { guard = first })
end)
finds("lanes of warp 0 are at barrier 1 and at barrier 2", function(k)
  k:if_(k:special "tid.x":lt(16), function() k:barrier_sync(1) end, function() k:barrier_sync(2) end)
end)
finds("all threads of the warp execute bar.red together", function(k)
  local low = k:special "tid.x":lt(16)
  k:if_(low, function() k:bar_red_and_pred(1, low) end, function() k:bar_red_and_pred(1, low) end)
end)

-- The threads of a CTA of three dimensions, and each thread's own memory.
local kernel = wg.kernel("threads", { threads = { 4, 3, 5 } }, function(k)
  local out, bias = k:param("OUT", "u32*"), k:param("bias", "s8")
  local x, y, z = k:special "tid.x", k:special "tid.y", k:special "tid.z"
  local thread = (z * 3 + y) * 4 + x
  local own = k:local_ { bytes = 8 }
  k:st_local_v2_u32(own, { thread, thread * thread })
  local generic = k:cvta_local_u64(own)
  k:st_global_u32(out + k:mul_wide_u32(thread, 4), k:ld_u32(generic + 4) + k:ld_local_u32(own) + k:cvt_u32_s16(bias))
end)
check.equal(#kernel:check(), 0)
assert(kernel:ptx():find(".maxntid 4, 3, 5", 1, true))
local out = wg.zeros("u32", { 60 })
kernel:run { grid = 1, args = { out, -3 } }
for i = 0, 59 do check.equal(out[i], i * i + i - 3 & 0xFFFFFFFF) end
