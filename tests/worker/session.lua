-- One session, a hundred launches in random order: good ones and such that hang, fault, exhaust memory or take the
-- worker with them. Every good one is right, every bad one has its message, and nothing stays behind.
local wg = require "wgrun"
local kernels = require "kernels"

local rounds <const> = 100
math.randomseed(tonumber(arg[1] or 1), 0)
local before = wg.device().held_bytes

local kept = wg.tensor("f32", { 4 }, { 1, 2, 3, 4 }) -- of the session: survives everything
local prepared = kernels.add_one:prepare { args = { kept, 4 } }

local bad = {
  { "hang", "ETIMEDOUT", "kernel `hang` did not end within 0.1 s" },
  { "illegal", "EFAULT", "kernel `illegal` failed: CUDA_ERROR_ILLEGAL_ADDRESS" },
  { "misaligned", "EFAULT", "kernel `misaligned` failed: CUDA_ERROR_MISALIGNED_ADDRESS" },
  { "trap", "EFAULT", "kernel `trap` failed: CUDA_ERROR_LAUNCH_FAILED" },
  { "too_large", "EFAULT", "kernel `too_large` does not fit on the device" },
  { "suicide", "EFAULT", "the worker process was killed by signal 9" },
}
for _, b in ipairs(bad) do b.kernel = kernels.named(b[1]) end

local good_ones, bad_ones, lost = 0, 0, 0.0
for round = 1, rounds do
  local kind = math.random(1, 10)
  if kind <= 7 then
    local n = math.random(1, 32)
    local t = wg.zeros("f32", { n })
    assert(kernels.add_one:run { args = { t, n } } == "gpu")
    for _, x in ipairs(t:totable()) do assert(x == 1) end
    prepared:start()
    prepared:download()
    good_ones = good_ones + 1
    assert(kept[3] == 4 + good_ones, ("round %d: %s"):format(round, kept[3]))
  elseif kind == 8 then
    kernels.expect(kernels.raised(function() wg.zeros("u8", { 1 << 30 }):to "gpu" end), "ENOMEM", "1024 MiB were requested")
    bad_ones = bad_ones + 1
  else
    local b = bad[math.random(#bad)]
    local start = os.clock()
    kernels.expect(kernels.raised(b.kernel.run, b.kernel, { timeout_ms = 100 }), b[2], b[3])
    lost = math.max(lost, os.clock() - start)
    bad_ones = bad_ones + 1
  end
end
assert(bad_ones >= 15, "too few bad ones")
prepared = nil
collectgarbage() collectgarbage()
assert(wg.device().held_bytes == before, "device memory is still held")
print(("%d good, %d bad"):format(good_ones, bad_ones))
