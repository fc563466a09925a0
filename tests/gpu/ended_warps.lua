-- A barrier without a number of threads waits for those that have not ended; one with a number for as many (PTX ISA
-- 9.7.12.7, exit).
--   wgrun tests/gpu/ended_warps.lua [gpu|gpu-cuda]
-- Without a GPU the kernels that end run on the simulator.
local wg = require "wgrun"
local backend = arg and arg[1] or (wg.backend == "sim" and "sim" or "gpu")
local on_chip = wg.backend ~= "sim"

-- Of four warps some end at once. The others hand words to each other over the barrier, twice.
local function kernel(name, first, last, number)
  return wg.kernel(name, { threads = 128 }, function(k)
    local out = k:param("out", "u32*")
    local words = k:shared { bytes = 512, align = 16, name = "words" }
    local tid = k:special "tid.x"
    k:if_((tid >> 5):ge(first), function()
      k:if_((tid >> 5):le(last), function()
        local base = k:address(words)
        for round = 1, 2 do
          k:st_shared_u32(base + tid * 4, tid + round)
          k:bar_sync(0, number and { threads = number } or {})
          local mirrored = 32 * (first + last + 1) - 1 - tid
          local got = k:ld_shared_u32(base + mirrored * 4)
          k:st_global_u32(k:element(out, tid), got)
          k:bar_sync(0, number and { threads = number } or {})
        end
      end)
    end)
  end)
end

for _, warps in ipairs { { 0, 1 }, { 2, 3 }, { 1, 2 }, { 1, 1 }, { 0, 3 } } do
  local first, last = warps[1], warps[2]
  for _, number in ipairs { false, 32 * (last - first + 1) } do
    local out = wg.zeros("u32", { 128 })
    kernel("ends", first, last, number):run { args = { out }, backend = backend, timeout_ms = on_chip and 2000 or nil }
    for thread = 0, 127 do
      local runs = thread >> 5 >= first and thread >> 5 <= last
      local want = runs and 32 * (first + last + 1) - 1 - thread + 2 or 0
      assert(out[thread] == want, ("warps %d to %d: thread %d got %s, not %d"):format(first, last, thread,
        out[thread], want))
    end
  end
end

local counts_all = kernel("counts_all", 0, 1, 128)
local ok, err = pcall(counts_all.run, counts_all, { args = { wg.zeros("u32", { 128 }) }, backend = backend,
  unchecked = on_chip or nil, timeout_ms = on_chip and 1000 or nil })
assert(not ok and tostring(err):find("barrier 0", 1, true), "a barrier of 128 threads opened for 64: " .. tostring(err))
print(("barriers and warps that have ended: as the simulator has it (%s)"):format(backend))
