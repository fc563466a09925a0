-- What a start of a prepared launch costs the host: wgrun launch.lua. Medians over rounds of 200 starts.
local wg = require "wgrun"

local function bench(name, launch)
  local times = {}
  for _ = 1, 50 do
    launch:wait()
    local start = os.clock()
    for _ = 1, 200 do launch:start() end
    times[#times + 1] = (os.clock() - start) / 200
  end
  launch:wait()
  table.sort(times)
  local before = collectgarbage "count"
  collectgarbage "stop"
  for _ = 1, 200 do launch:start() end
  local grown = (collectgarbage "count" - before) * 1024
  collectgarbage "restart"
  launch:wait()
  print(("start of %-14s %.2f us of the host (%.2f to %.2f), %d bytes of Lua for 200"):format(
    name, times[25] * 1e6, times[1] * 1e6, times[#times] * 1e6, grown))
end

local empty = wg.kernel("empty", { threads = 32 }, function() end)
bench("an empty kernel", empty:prepare { grid = { 1 }, args = {} })
local A, B = wg.randn { shape = { 256, 256 }, dtype = "bf16" }, wg.randn { shape = { 256, 256 }, dtype = "bf16" }
local D = wg.zeros("bf16", { 256, 256 })
bench("wg.gemm", wg.gemm { problem = { 256, 256, 256 } }:prepare(A, B, D))
