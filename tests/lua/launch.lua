-- kernel:run and kernel:time: launches that work, arguments that do not, and what the simulator catches in between.
local check = require "check"
local wg = require "wgrun"
local refuses = check.refuses

-- A[i] = A[i] * f for the n first elements.
local scale = wg.kernel("scale", { threads = 128 }, function(k)
  local A, n, f = k:param("A", "f32*"), k:param("n", "u32"), k:param("f", "f32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(n), function()
    local address = k:element(A, i)
    local value = k:ld_global_f32(address)
    k:st_global_f32(address, value * f)
  end)
end)
local loads = check.line() - 4
local A = wg.tensor("f32", { 3 }, { 1, 2, 3 })
check.equal(scale:run { args = { A, 3, 2.0 } }, "sim")
check.equal(A:totable(), { 2, 4, 6 })
check.equal(scale:run { grid = 2, args = { A, 2, 2 } }, "sim")
check.equal(A:totable(), { 4, 8, 6 })
check.equal(scale:run { grid = { 1, 1, 1 }, args = { wg.zeros("f32", { 0 }), 0, 1 } }, "sim") -- nothing to do

-- What a product's `launch` gives goes to every kind of launch: only kernel:time makes use of `flops`.
for _, how in ipairs { "run", "time", "prepare", "timeline", "profile" } do
  check.equal(pcall(scale[how], scale, { args = { A, 3, 1 }, flops = 6.0 }), true, how)
end

-- Arguments: count, kind, dtype, range.
refuses("kernel:run: expected a table of options, got nothing", function() scale:run() end)
refuses("bad argument #1 to `run`: expected a kernel, got table (a method is called with a colon: object:method(...))", function() scale.run {} end)
refuses("unknown option `grids` of kernel:run: did you mean `grid`? (legal: grid, args, devices, backend, seed, timeout_ms...", function() scale:run { grids = 1 } end)
refuses("kernel scale takes 3 arguments (A, n, f), not 0", function() scale:run {} end)
refuses("kernel scale takes 3 arguments (A, n, f), not 2", function() scale:run { args = { A, 3 } } end)
refuses("kernel scale takes 3 arguments (A, n, f), not 4", function() scale:run { args = { A, 3, 1, 1 } } end)
refuses("kernel:run: option `args`: expected a list of tensors and numbers, got string \"x\"", function() scale:run { args = "x" } end)
refuses("kernel scale, argument 2 (n): expected a tensor or a number, got string \"3\"", function() scale:run { args = { A, "3", 1 } } end)
check.equal(refuses("kernel scale, argument 2 (n): expected a tensor or a number, got nil", function() scale:run { args = { A, nil, 1 } } end).fix, "a name that is misspelt, or not defined yet, is nil")
check.equal(refuses("kernel scale takes 3 arguments (A, n, f), not 2", function() scale:time { args = { A, 3, nil } } end).fix, "args = { A, n, f }; argument 3 (f) is missing, or nil")
refuses("kernel scale, argument 1 (A): a tensor of f32 is expected, not of f16", function() scale:run { args = { wg.zeros("f16", 3), 3, 1 } } end)
refuses("kernel scale, argument 1 (A): a tensor of f32 is expected, not a number", function() scale:run { args = { 3, A, 1 } } end)
refuses("kernel scale, argument 2 (n): a number of type u32 is expected, not a tensor", function() scale:run { args = { A, A, 1 } } end)
refuses("kernel scale, argument 2 (n): -1 does not fit u32", function() scale:run { args = { A, -1, 1 } } end)
refuses("kernel scale, argument 2 (n): 4294967296 does not fit u32", function() scale:run { args = { A, 1 << 32, 1 } } end)
refuses("kernel scale, argument 2 (n): an integer of type u32 is expected, not 1.5", function() scale:run { args = { A, 1.5, 1 } } end)
refuses("the tensor is closed", function() local c = wg.zeros("f32", 3) c:close() scale:run { args = { c, 3, 1 } } end)

-- Launches that cannot be.
refuses("option `grid`: entry 1 is 0, must be 1..2147483647", function() scale:run { grid = { 0, 1, 1 }, args = { A, 3, 1 } } end)
refuses("option `grid`: entry 3 is -1, must be 1..2147483647", function() scale:run { grid = { 1, 1, -1 }, args = { A, 3, 1 } } end)
refuses("grid has 4 entries, at most 3 are possible", function() scale:run { grid = { 1, 1, 1, 1 }, args = { A, 3, 1 } } end)
refuses("grid[1]: expected an integer, got number 1.5", function() scale:run { grid = { 1.5 }, args = { A, 3, 1 } } end)
refuses("grid: expected a list of integers, got string \"x\"", function() scale:run { grid = "x", args = { A, 3, 1 } } end)
refuses("kernel scale: grid {1, 65536, 1}: extents must be 1 to 2147483647, 65535 and 65535", function() scale:run { grid = { 1, 65536 }, args = { A, 3, 1 } } end)
local pair = wg.kernel("pair", { threads = 32, cluster = { 2, 1, 1 } }, function() end)
refuses("kernel pair: grid {3, 1, 1} is not a whole number of clusters {2, 1, 1}", function() pair:run { grid = 3 } end)
refuses("unknown backend `cpu`: did you mean `gpu`?", function() scale:run { backend = "cpu", args = { A, 3, 1 } } end)
refuses("kernel:run: option `backend`: expected a string, got number 3", function() scale:run { backend = 3, args = { A, 3, 1 } } end)
refuses("kernel:run: option `timeout_ms` is -1, must be 0..86400000", function() scale:run { timeout_ms = -1, args = { A, 3, 1 } } end)
refuses("kernel:run: option `seed`: expected an integer, got string \"x\"", function() scale:run { seed = "x", args = { A, 3, 1 } } end)

-- time.
local timing = scale:time { args = { A, 3, 1 }, rounds = 3, flops = 1e6 }
check.equal({ timing.rounds, timing.backend }, { 3, "sim" })
assert(timing.min_us > 0 and timing.min_us <= timing.median_us and timing.median_us <= timing.max_us)
check.near(timing.tflops, 1e6 / timing.median_us / 1e6, 1e-6)
refuses("kernel:time: option `rounds` is 0, must be 1..100000", function() scale:time { args = { A, 3, 1 }, rounds = 0 } end)
refuses("kernel:time: option `flops`: expected a number, got string \"x\"", function() scale:time { args = { A, 3, 1 }, flops = "x" } end)
refuses("kernel:time: option `against`: expected a product made by wg.cublas, got a tensor", function() scale:time { args = { A, 3, 1 }, against = A } end)
refuses("kernel scale takes 3 arguments (A, n, f), not 1", function() scale:time { args = { A } } end)

-- Accesses outside a tensor are found at their own line, also where the tensor is empty.
local function finding(...)
  local good, problem = pcall(scale.run, scale, { args = { ... } })
  assert(not good)
  return { problem.rule, problem.line, problem.message }
end
check.equal(finding(A, 4, 1), { "WG-MEM-01", loads, "thread 3 loads 4 bytes at 0x1000000000c, 0 bytes past the end of `A` (12 bytes)" })
check.equal(finding(wg.zeros("f32", { 0, 7 }), 1, 1), { "WG-MEM-01", loads, "thread 0 loads 4 bytes at 0x10000000000, 0 bytes past the end of `A` (0 bytes)" })
check.equal(A:totable(), { 4, 8, 6 })

-- Findings of the checker stop every use of a kernel, at the script's line.
local bad = wg.kernel("bad", {}, function(k)
  k:wgmma_mma_async(k:regs("f32", 32), 0, 0, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
end)
local line = check.line() - 2
for _, use in ipairs { "run", "time", "ptx", "cuda" } do
  local good, problem = pcall(bad[use], bad, use:match "[rt][ui][nm]" and {} or nil)
  check.equal({ good, problem.line, problem.rule:match "^WG%-%u+", problem.code }, { false, line, "WG-FENCE", "EINVAL" })
  assert(#problem.findings >= 2, "all findings are there")
end
for _, f in ipairs(bad:check()) do check.equal({ f.line, f.severity }, { line, "error" }) end

-- A launch made ready, and started twice: the tensors are where the simulator works.
local N = wg.tensor("f32", { 3 }, { 1, 2, 3 })
local ready = scale:prepare { args = { N, 3, 3.0 } }
check.equal(N:totable(), { 1, 2, 3 })
ready:start()
ready:start()
ready:wait()
ready:download()
check.equal(N:totable(), { 9, 18, 27 })
ready:upload()
check.equal(N:totable(), { 9, 18, 27 })
-- What one launch writes, another that was made ready before reads: they share the tensor.
local shared = wg.tensor("f32", { 3 }, { 1, 2, 3 })
local twice, thrice = scale:prepare { args = { shared, 3, 2.0 } }, scale:prepare { args = { shared, 3, 3.0 } }
twice:start()
thrice:start()
thrice:download()
check.equal(shared:totable(), { 6, 12, 18 })
refuses("kernel scale takes 3 arguments (A, n, f), not 0", function() scale:prepare {} end)
refuses("unknown option `rounds` of kernel:prepare (legal: grid, args, devices, backend...", function() scale:prepare { rounds = 1 } end)
refuses("bad argument #1 to `start`: expected a prepared launch, got a kernel (a method is called with a colon: object:method(...))", function() ready.start(scale) end)
local list = { wg.tensor("f32", { 1 }, { 1 }), 1, 2 }
local kept = scale:prepare { args = list }
local tensor = table.remove(list, 1)
collectgarbage()
kept:start()
check.equal(tensor:totable(), { 2 })
tensor:close()
refuses("the tensor is closed", function() kept:start() end)
refuses("the tensor is closed", function() kept:download() end)

check.equal(table.pack(scale:resident_clusters()), { n = 1 }) -- nil: the simulator has no SMs

-- `unchecked` lets a kernel run that the static checker refuses; the simulator still watches.
local early = wg.kernel("early", { threads = 128 }, function(k)
  local to = k:param("to", "f32*")
  local tile = wg.tile { dtype = "f16", mn = 64, k = 16, major = "K" }
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "f16", b = "f16", scale_d = 0 })
  k:wgmma_commit_group()
  k:st_global_f32(to, acc[0])
end)
local to = wg.zeros("f32", 1)
local _, static = pcall(early.run, early, { args = { to } })
local _, dynamic = pcall(early.run, early, { args = { to }, unchecked = true })
check.equal(static.rule, "WG-GROUP-01")
check.equal(dynamic.rule, "WG-MEM-04") -- what the static checker does not know: the tiles were never written
refuses("kernel:run: option `unchecked`: expected true or false, got number 1", function() early:run { args = { to }, unchecked = 1 } end)
