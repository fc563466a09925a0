-- Kernels on the chip beside the simulator: what the scripts of this folder that compare the two begin and end with.
-- Without a device the simulator stands in the chip's place.
local wg = require "wgrun"
local device, problem = wg.device()
if not device then print(("skipped: no device (%s); the simulator alone"):format(problem)) end
io.stdout:setvbuf "line"

local beside = { on_chip = device ~= nil, backend = device and "gpu" or "sim", cases = 0, wrong = 0 }

--- A case went wrong.
function beside.wrongly(kind, text, ...)
  beside.wrong = beside.wrong + 1
  print(("%-8s %s"):format(kind, text:format(...)))
end

--- Calls run(where) for the chip and the simulator, or for `places`. Returns a list of the results, or nil when a call failed,
--- which is a wrong case then.
function beside.each(name, run, places)
  beside.cases = beside.cases + 1
  local results = {}
  for i, where in ipairs(places or beside.on_chip and { "gpu", "sim" } or { "sim" }) do
    local good, result = pcall(run, where)
    if not good then return beside.wrongly("FAILED", "%s on %s: %s", name, where, tostring(result)) end
    results[i] = result
  end
  return results
end

--- The same for a kernel; `make` gives fresh arguments, of which the last is the result.
function beside.run(name, kernel, grid, make, places)
  return beside.each(name, function(where)
    local args = make()
    kernel:run { grid = grid, args = args, backend = where, timeout_ms = 5000 }
    return args[#args]
  end, places)
end

--- Prints the count; exit code 5 when a case differs.
function beside.finish()
  print(("%d cases on %s, %d differ"):format(beside.cases, beside.backend, beside.wrong))
  os.exit(beside.wrong == 0 and beside.cases > 0 and 0 or 5)
end

return beside
