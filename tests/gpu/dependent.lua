-- Programmatic dependent launch: starts that may overlap each other, ordered by griddepcontrol.wait alone.
-- On the simulator the starts follow each other, and only the way of the calls is shown.
local wg = require "wgrun"
local on_chip = wg.backend ~= "sim"

local ctas, threads, starts = on_chip and 264 or 4, 256, on_chip and 500 or 3

-- Every thread adds to its element what the start before has left there.
local function counter(name, dependent)
  return wg.kernel(name, { threads = threads }, function(k)
    local numbers, turn = k:param("numbers", "u32*"), k:param("turn", "u32")
    if dependent then
      k:griddepcontrol_launch_dependents()
      k:griddepcontrol_wait()
    end
    local cta = k:special "ctaid.x"
    local element = k:element(numbers, (ctas - 1 - cta) * threads + k:special "tid.x")
    k:st_global_u32(element, k:ld_global_u32(element) + turn)
  end)
end

local times = {}
for _, dependent in ipairs { false, true } do
  local numbers = wg.zeros("u32", { ctas * threads })
  local launch = counter(dependent and "dependent" or "serial", dependent):prepare { grid = { ctas }, args = { numbers, 1 } }
  launch:start()
  launch:wait()
  local start = os.clock()
  for _ = 2, starts do launch:start() end
  launch:wait()
  times[#times + 1] = (os.clock() - start) / (starts - 1) * 1e6
  launch:download()
  for i = 0, ctas * threads - 1 do
    if numbers[{ i }] ~= starts then
      io.stderr:write(("element %d is %d after %d starts\n"):format(i, numbers[{ i }], starts))
      os.exit(5)
    end
  end
end
print(("%d starts in a row, us each: %.2f one after the other, %.2f with griddepcontrol"):format(starts, times[1], times[2]))
