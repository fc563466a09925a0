-- k:print, k:assert and k:trap through the records that a launch leaves in host memory (run.sh compares what is printed).
local wg = require "wgrun"
local kernels = require "kernels"
local function talk(name, what)
  return wg.kernel(name, { threads = 32 }, function(k)
    local tid = k:special "tid.x"
    k:print("first %u", tid)
    k:print("second {%d}", k:cvt_rni_s32_f32(k:cvt_rn_f32_u32(tid)))
    if what then what(k, tid) end
    k:print("last")
  end)
end
local good = talk "talks"
good:run {}
local launch = good:prepare {}
launch:start() -- such a launch waits, and says at once what its threads have said
print "started"
launch:wait()

local ends = talk("ends", function(k, tid) k:assert(tid:ne(3), "tid = %d", tid) end)
for _ = 1, 2 do
  local problem = kernels.raised(ends.run, ends, {})
  print(problem.line - debug.getinfo(1, "l").currentline, problem.message)
  if arg[1] == "once" then os.exit() end -- a kernel that ends itself breaks the context of this process
end
local traps = talk("traps", function(k) k:trap() end)
print(kernels.raised(traps.run, traps, { guarded = true }).message)
good:run {} -- after it in a new worker
-- kernel:time says nothing.
print(good:time { rounds = 3 }.rounds)
