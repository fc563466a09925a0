-- Programmatic dependent launch: starts that may overlap each other, ordered by griddepcontrol.wait alone.
-- On the simulator the starts follow each other, and only the way of the calls is shown. Then wg.gemm with constant
-- weights, which are read before that wait: each launch reads what the one before has written.
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

-- W moves the columns of X by one, exactly: after so many launches each row stands as many columns further on.
local rows, n, turns = 64, on_chip and 2048 or 128, on_chip and 400 or 4
local X, other, W = wg.randn { shape = { rows, n }, dtype = "bf16", seed = 1 }, wg.zeros("bf16", { rows, n }), wg.zeros("bf16", { n, n })
for j = 0, n - 1 do W[{ j, (j - 1) % n }] = 1 end
local first = {}
for i = 0, rows - 1 do
  for j = 0, n - 1 do first[i * n + j] = X[{ i, j }] end
end
local gemm = wg.gemm { problem = { rows, n, n }, constant = "B" }
local there, back = gemm:prepare(X, W, other), gemm:prepare(other, W, X)
for _ = 1, turns // 2 do
  there:start()
  back:start()
end
back:wait()
back:download()
for i = 0, rows - 1 do
  for j = 0, n - 1 do
    if X[{ i, j }] ~= first[i * n + (j - turns) % n] then
      io.stderr:write(("X[%d, %d] is %g after %d launches, not %g\n"):format(i, j, X[{ i, j }], turns, first[i * n + (j - turns) % n]))
      os.exit(5)
    end
  end
end
print(("%d products in a row, weights read before the one before has ended: exact"):format(turns))
