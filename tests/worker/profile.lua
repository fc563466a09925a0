-- kernel:profile through what a launch leaves in its buffer.
local wg = require "wgrun"
local kernels = require "kernels"
local kernel = wg.kernel("waits", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  k:bar_sync(1)
  k:bar_sync(1)
  k:print "here"
  k:st_global_f32(X, 1.0)
end)
local X = wg.zeros("f32", 1)
local profile = kernel:profile { args = { X } }
assert(profile.source == "gpu" and profile.dropped == 0 and profile.dropped_warps == 0)
assert(profile.cycles == 300, profile.cycles)
assert(#profile.rows == 3 and profile.rows[1].name == "warps 0 to 1", profile.rows[1].name)
local waits = {}
for _, span in ipairs(profile.spans) do
  if span.kind == "wait at a barrier" then waits[#waits + 1] = ("%s %d %g"):format(span.what, span.line, span.last - span.first) end
end
assert(table.concat(waits, "; ") == "barrier 1 6 60; barrier 1 7 60", table.concat(waits, "; "))
local verdict = table.concat(profile.verdict, "\n")
assert(verdict:find("wait at barrier 1 40 % of the time", 1, true), verdict)
assert(profile.text:find("waits, recorded on the GPU: 300 cycles for 1 CTA of an SM", 1, true), profile.text)
-- Room for one event of each warp: the others are counted.
local short = kernel:profile { args = { X }, events = 1 }
assert(short.dropped == 2 and short.text:find("2 more events, for which there was no room", 1, true), short.text)
-- The kernel itself is as it was, and its tensors are where they were.
assert(not kernel:ptx():find("param_profile", 1, true))
kernel:run { args = { X } }

-- CUDA C++ is another text of the same build; a kernel that fails says so, as when it runs.
local trap = kernels.named "trap"
kernels.expect(kernels.raised(trap.profile, trap, {}), "EFAULT", "kernel `trap` failed")
kernels.expect(kernels.raised(kernel.profile, kernel, {}), "EINVAL", "takes 1 argument")
local big = kernels.raised(kernel.profile, kernel, { args = { X }, events = 100000000 })
kernels.expect(big, "EINVAL", "takes more than 2 GiB")
