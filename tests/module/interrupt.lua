-- A kernel that takes the simulator, or a proof, a long time, for run.sh to interrupt.
local wg = require "wgrun"
local spin = wg.kernel("spin", { threads = 128 }, function(k)
  local n, D = k:param("n", "u32"), k:param("D", "u32*")
  local x = k:mov(0, { type = "u32" })
  k:loop({ from = 0, to = n }, function(i) k:add(x, x, i) end)
  k:st_global_u32(k:element(D, k:special "tid.x"), x)
end)
local function run() spin:run { args = { 2000000000, wg.zeros("u32", { 128 }) }, backend = "sim" } end
print "running"
io.stdout:flush()
if arg[1] == "coroutine" then
  assert(coroutine.resume(coroutine.create(run)))
elseif arg[1] == "proof" then
  wg.gemm { dtype = "bf16", problem = { 4096, 4096, 4096 } }.kernel:verdicts { budget = 10000 }
else
  run()
end
