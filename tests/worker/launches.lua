-- Prepared launches and device tensors when the worker is lost.
local wg = require "wgrun"
local kernels = require "kernels"
local add_one, expect, raised = kernels.add_one, kernels.expect, kernels.raised
local trap = kernels.named "trap"
local function lose() expect(raised(trap.run, trap, {}), "EFAULT", "kernel `trap` failed") end

-- Results that were not downloaded are named, once; then the launch works again, from what the host has.
local t = wg.zeros("f32", { 3 })
local launch = add_one:prepare { args = { t, 3 } }
launch:start()
launch:start()
lose()
expect(raised(launch.download, launch), "EFAULT", "kernel `add_one`: what launches had written to `data` was lost")
launch:download() -- nothing is there that the host has not
assert(t[0] == 0)
launch:start()
launch:download()
assert(t[0] == 1)
lose()
launch:start() -- everything had been downloaded: nothing to tell
launch:download()
assert(t[0] == 2)
launch:start()
lose()
expect(raised(launch.start, launch), "EFAULT", "was lost with the worker process")
launch:start()
launch:download()
assert(t[0] == 3)
launch:start()
lose()
launch:upload() -- the host says what is in it
launch:start()
launch:download()
assert(t[0] == 4)

-- What one launch wrote and another was to read.
local first, second = add_one:prepare { args = { t, 3 } }, add_one:prepare { args = { t, 3 } }
first:start()
lose()
expect(raised(second.start, second), "EFAULT", "what launches had written to `data` was lost")
first:start() second:start() second:download()
assert(t[0] == 6)

-- A launch that fails itself: one error, then it works again.
local hang = kernels.named "hang"
local stuck = hang:prepare { timeout_ms = 50 }
for _ = 1, 2 do
  stuck:start()
  expect(raised(stuck.wait, stuck), "ETIMEDOUT", "kernel `hang` did not end within 0.05 s")
end

-- Device tensors: shared by launches, back on demand, lost with the worker and said to be.
assert(t.device == "cpu" and t:to "cpu" == t)
local d = t:to "gpu"
assert(d.device == "gpu" and d:to "gpu" == d and d.dtype == "f32" and d.bytes == 12 and #d == 3)
assert(tostring(d) == "f32 {3} on the gpu", tostring(d))
assert(wg.device().held_bytes >= 12)
add_one:run { args = { d, 3 } }
local on_device = add_one:prepare { args = { d, 3 } }
on_device:start()
on_device:download()
assert(d:to "cpu"[0] == 8 and t[0] == 6)
lose()
for _ = 1, 2 do
  expect(raised(d.to, d, "cpu"), "EFAULT", "f32 {3} on the gpu was lost with the worker process")
  expect(raised(add_one.run, add_one, { args = { d, 3 } }), "EFAULT", "f32 {3} on the gpu was lost")
  expect(raised(on_device.start, on_device), "EFAULT", "f32 {3} on the gpu was lost")
end
d = t:to "gpu"
add_one:run { args = { d, 3 } }
assert(d:to "cpu"[2] == 7)
local prepared = add_one:prepare { args = { d, 3 } }
d:close()
d:close()
expect(raised(prepared.start, prepared), "EINVAL", "the tensor is closed")
expect(raised(d.to, d, "cpu"), "EINVAL", "the tensor is closed")
expect(raised(add_one.run, add_one, { args = { d, 3 } }), "EINVAL", "argument 1 (data): the tensor is closed")
expect(raised(t.to, t, "moon"), "EINVAL", "`moon` is not a place for a tensor")
prepared, on_device, launch, first, second = nil, nil, nil, nil, nil
collectgarbage() collectgarbage()
do
  local held <const> = wg.device().held_bytes
  local scoped <close> = t:to "gpu"
  assert(wg.device().held_bytes > held)
end
assert(wg.device().held_bytes == 0, wg.device().held_bytes)

-- A loop that makes device tensors and keeps none: 640 MiB in all, on a device of 256 MiB.
for _ = 1, 40 do
  local big = wg.zeros("f32", { 4 << 20 }):to "gpu"
  assert(big.bytes == 16 << 20)
end

-- Launches hold memory of the device, too, which Lua does not see: what only waits for the collector is no reason for
-- ENOMEM. Each of these tensors takes a sixteenth of the device.
collectgarbage() collectgarbage()
local hosts = {}
for i = 1, 17 do hosts[i] = wg.zeros("f32", { 4 << 20 }) end
collectgarbage "stop"
local function fill() -- with launches that nobody has any more
  for i = 1, 16 do add_one:prepare { args = { hosts[i], 1 } } end
  assert(wg.device().held_bytes == 256 << 20, wg.device().held_bytes)
end
fill()
add_one:run { args = { hosts[17], 1 } }
collectgarbage()
fill()
local again = add_one:prepare { args = { hosts[17], 1 } }
again:start()
again:download()
assert(hosts[17][0] == 2)
lose()
collectgarbage()
fill()
again:start() -- takes its memory anew
again:download()
assert(hosts[17][0] == 3)
lose()
fill()
again:upload()
again, hosts = nil, nil
collectgarbage "restart"
collectgarbage() collectgarbage()

-- Many launches in flight: bounded, in order, and none is lost.
local count = wg.zeros("f32", { 1 })
local many = add_one:prepare { args = { count, 1 } }
for _ = 1, 20000 do many:start() end
many:download()
assert(count[0] == 20000, count[0])

-- A queue that nothing leaves any more.
local full = hang:prepare { timeout_ms = 100 }
expect(raised(function() for _ = 1, 100000 do full:start() end end), "ETIMEDOUT", "kernel `hang` did not end within 0.1 s")

-- Large tensors go without a copy; whatever their size, the bytes are theirs.
for _, n in ipairs { 1, 1000, (1 << 18) - 1, 1 << 18, (1 << 20) + 3 } do
  local large = wg.randint { shape = { n }, dtype = "f32", lo = 0, hi = 1000, seed = n }
  local before = large:copy()
  for _ = 1, 3 do add_one:run { args = { large, n } } end
  for _, i in ipairs { 0, n // 2, n - 1 } do assert(large[i] == before[i] + 3) end
end
-- A launch on several devices runs on the simulator, whatever GPU there is; who asks for the GPU is refused.
local mark = wg.kernel("mark", { threads = 32 }, function(k)
  k:st_global_u32(k:param("x", "u32*"), k:param("n", "u32"))
end)
local one, two = wg.zeros("u32", { 1 }), wg.zeros("u32", { 1 })
assert(mark:run { devices = { { one, 1 }, { two, 2 } } } == "sim")
assert(one[{ 0 }] == 1 and two[{ 0 }] == 2)
local refused, why = pcall(mark.run, mark, { backend = "gpu", devices = { { one, 1 }, { two, 2 } } })
assert(not refused and why.message == "a launch on several devices runs on the simulator alone")
print "ok"
