-- From a time-out or a fault to a line of the script: a kernel that has cost a worker is run again, guarded, in the
-- next one, and what its guards leave in host memory comes back as the error's place and notes.
local wg = require "wgrun"
local kernels = require "kernels"
local function here() return debug.getinfo(2, "l").currentline end
local line, other

-- What `kernel` fails with, when it is run or waited for; the notes in one text with the message.
local function failure(kernel, opts)
  opts.unchecked, opts.timeout_ms = true, 100
  local problem = kernels.raised(kernel.run, kernel, opts)
  local text = problem.message
  for _, note in ipairs(problem.notes) do text = text .. ("\n%s:%d: %s"):format(note.file:match "[^/]*$", note.line, note.message) end
  return problem, text
end
local function holds(text, part) assert(text:find(part, 1, true), text .. "\nlacks: " .. part) end

-- ---- A hang: barrier, line, warps, what has come
local hang = wg.kernel("hang", { threads = 256 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  other = here() + 1
  k:bar_sync(0)
  k:if_(k:special "tid.x":ge(128), function()
    line = here() + 1
    k:mbarrier_wait(k:address(full), 0)
  end)
end)
for _ = 1, 2 do -- the first failure's worker, its guarded build's, and all that again
  local problem, text = failure(hang, {})
  assert(problem.code == "ETIMEDOUT" and problem.rule == "WG-MBAR-05" and problem.line == line, text)
  holds(text, "the kernel hangs: warps 4-7 wait for the phase of parity 0 of the mbarrier `full`: 3 of 5 arrivals have come, 16384 bytes are outstanding")
  holds(text, ("guarded.lua:%d: warp 0 waits at barrier 0: 32 of 256 threads wait there"):format(other))
  holds(text, "kernel `hang` did not end within 0.1 s: reported by its guarded build, run afterwards")
  assert(problem.fix and #problem.fix > 0)
end
-- Of a prepared launch, too; and a run that asks for the guarded build has it at once, and says nothing of another.
local launch = hang:prepare { unchecked = true, timeout_ms = 100 }
launch:start()
assert(kernels.raised(launch.wait, launch).line == line)
local problem, text = failure(hang, { guarded = true })
assert(problem.line == line and not text:find("run after it", 1, true), text)

-- A guarded build that finds nobody who waits says that.
_, text = failure(kernels.named "hang", {})
holds(text, "its guarded build, run afterwards, did not end within 0.8 s either, and no warp of it waits")
-- One that ends: the fake driver's `slow` is over when it is not waited for with a limit of 20 ms.
local slow = kernels.named "slow"
local ended = kernels.raised(slow.run, slow, { timeout_ms = 20 })
assert(ended.code == "ETIMEDOUT" and ended.notes[1].message:find("its guarded build, run afterwards, ends: the kernel is slow", 1, true))

-- ---- Faults: the line of what faults, also where it does so after the thread has gone on
local bf16 = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local faulty = {
  st = function(k, out) line = here() + 1
    k:st_global_u32(out, 1)
  end,
  ["cp.async.bulk"] = function(k, out)
    local to, bar = k:shared { bytes = 64, align = 128, name = "to" }, k:shared { bytes = 8, align = 8, name = "bar" }
    line = here() + 1
    k:cp_async_bulk(k:address(to), out, 64, k:address(bar))
  end,
  ["cp.async.bulk.store"] = function(k, out)
    local from = k:shared { bytes = 64, align = 128, name = "from" }
    line = here() + 1
    k:cp_async_bulk_store(out, k:address(from), 64)
  end,
  ["cp.async"] = function(k, out)
    local to = k:shared { bytes = 64, align = 128, name = "to" }
    line = here() + 1
    k:cp_async(k:address(to), out, { cop = "ca", bytes = 16 })
  end,
  ["wgmma.mma_async"] = function(k)
    local a, b = k:shared(bf16, "a"), k:shared(bf16, "b")
    local acc = k:regs("f32", 32)
    k:wgmma_fence()
    line = here() + 1
    k:mma(acc, { a = a, b = b, scale_d = 0 })
  end,
}
local out = wg.zeros("u32", { 64 })
for name, body in pairs(faulty) do
  local kernel = wg.kernel("illegal", { threads = 128 }, function(k) body(k, k:param("out", "u32*")) end)
  local p, all = failure(kernel, { args = { out } })
  assert(p.code == "EFAULT", all)
  holds(all, "kernel `illegal` failed: CUDA_ERROR_ILLEGAL_ADDRESS")
  holds(all, "these accesses had not ended when its guarded build, run afterwards, failed")
  holds(all, ("guarded.lua:%d: warps 0-3 at %s"):format(line, name))
  assert(p.line == line, ("%s: line %s, not %d"):format(name, p.line, line))
end
print "ok"
