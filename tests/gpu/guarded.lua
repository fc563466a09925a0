-- Kernels that hang and fault: the error names who waits where, and good kernels give the same results guarded.
--   wgrun tests/gpu/guarded.lua [gpu|gpu-cuda]
-- Each failure costs a worker process. Without a GPU only the good kernels run, on the simulator.
local wg = require "wgrun"
local backend = arg and arg[1] or (wg.backend == "sim" and "sim" or "gpu")
local on_chip = wg.backend ~= "sim"
local failures, checked = 0, 0

local function here() return debug.getinfo(2, "l").currentline end

-- Seconds of the wall clock.
local function now()
  local pipe <close> = assert(io.popen "date +%s.%N")
  return tonumber(pipe:read "a")
end

-- Runs a kernel that must fail; its error must hold all of `expected`, and be at `line` where one is given.
local function fails(name, kernel, opts, line, expected)
  if not on_chip then return end
  for _, how in ipairs { "again", "guarded" } do
    if how == "again" or not opts.faults then
      local options = { grid = opts.grid or { 1, 1, 1 }, args = opts.args, backend = backend, unchecked = true,
        timeout_ms = how == "guarded" and 2000 or 500, guarded = how == "guarded" }
      local start = now()
      local ok, err = pcall(kernel.run, kernel, options)
      local text = tostring(err)
      if not ok and err.notes then
        for _, note in ipairs(err.notes) do text = text .. ("\n  %s:%s: %s"):format(note.file, note.line, note.message) end
      end
      checked = checked + 1
      local bad = ok and "it ran" or nil
      for _, part in ipairs(expected) do
        if not bad and not text:find(part, 1, true) then bad = "no `" .. part .. "`" end
      end
      if not bad and line and err.line ~= line then bad = ("line %s, not %d"):format(err.line, line) end
      if bad then failures = failures + 1 end
      print(("%s %s (%s, %.2f s): %s%s"):format(bad and "FAILED" or "ok", name, how, now() - start,
        bad and bad .. "\n" or "", text))
    end
  end
end

local counts = wg.zeros("u32", { 1024 })
local line

-- An mbarrier that nobody arrives at: one of two stages, seen by four warps.
local never = wg.kernel("never_arrived", { threads = 256 }, function(k)
  local bars = k:shared { bytes = 16, align = 8, name = "full" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(k:address(bars, 8), 3)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_((thread >> 7):eq(1), function()
    k:if_(thread:eq(128), function() k:mbarrier_arrive(k:address(bars, 8)) end)
    line = here() + 1
    k:mbarrier_wait(k:address(bars, 8), 0)
  end)
  k:bar_sync(0)
end)
fails("an arrival that does not come", never, {}, line, { "warps 4-7 wait for the phase of parity 0 of the mbarrier `full` + 8",
  "1 of 3 arrivals has come, 0 bytes", "warps 0-3 wait at barrier 0: 128 of 256 threads wait there" })

-- More bytes announced than come.
local bytes = wg.kernel("wrong_bytes", { threads = 32 }, function(k)
  local from = k:param("from", "const u32*")
  local to, bar = k:shared { bytes = 64, align = 128, name = "to" }, k:shared { bytes = 8, align = 8, name = "arrived" }
  local thread, b = k:special "tid.x", k:address(bar)
  k:if_(thread:eq(0), function()
    k:mbarrier_init(b, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(b, 128)
    k:cp_async_bulk(k:address(to), from, 64, b)
  end)
  k:bar_warp_sync()
  line = here() + 1
  k:mbarrier_wait(b, 0)
end)
fails("bytes that do not come", bytes, { args = { counts } }, line,
  { "the mbarrier `arrived`: 1 of 1 arrivals has come, 64 bytes are outstanding" })

-- The parity of the phase after the one that completes.
local parity = wg.kernel("wrong_parity", { threads = 64 }, function(k)
  local b = k:address(k:shared { bytes = 8, align = 8, name = "turn" })
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() k:mbarrier_init(b, 64) k:fence_mbarrier_init() end)
  k:bar_sync(0)
  k:mbarrier_arrive(b)
  k:mbarrier_wait(b, 0)
  line = here() + 1
  k:mbarrier_wait(b, 1)
end)
fails("a parity too far", parity, { grid = { 3, 1, 1 } }, line,
  { "warps 0, 1 of 3 CTAs, the first {0, 0, 0} wait for the phase of parity 1 of the mbarrier `turn`: 0 of 64 arrivals" })

-- A barrier that counts more warps than come.
local few = wg.kernel("too_few", { threads = 128 }, function(k)
  k:if_((k:special "tid.x" >> 5):gt(0), function()
    line = here() + 1
    k:bar_sync(3, { threads = 128 })
  end)
end)
fails("a barrier that too few reach", few, { grid = { 2, 1, 1 } }, line,
  { "warps 1, 2, 3 of 2 CTAs, the first {0, 0, 0} wait at barrier 3: 96 of 128 threads wait there" })

-- A cluster whose second CTA does not arrive.
local alone = wg.kernel("alone", { threads = 64, cluster = { 2, 1, 1 } }, function(k)
  local rank = k:special "cluster_ctarank"
  k:if_(rank:eq(0), function()
    k:barrier_cluster_arrive()
    line = here() + 1
    k:barrier_cluster_wait()
  end, function()
    k:while_(function() return rank:eq(1) end, function() k:mov(rank, 1) end)
  end)
end)
fails("a cluster that does not meet", alone, { grid = { 2, 1, 1 } }, line,
  { "warps 0, 1 of CTA {0, 0, 0} wait at the barrier of the cluster: 2 of 4 warps wait there", "still run" })

-- A flag that nobody sets.
local flag = wg.kernel("flag", { threads = 32 }, function(k)
  local flags = k:param("flags", "u32*")
  line = here() + 2
  k:while_(function()
    return k:ld_acquire_gpu_global_u32(flags + 64):eq(0)
  end, function() end)
end)
fails("a flag that nobody sets", flag, { args = { counts } }, nil, { "warp 0 waits for `flags` + 64 bytes to change, which holds 0" })

-- A loop without an end.
local endless = wg.kernel("endless", { threads = 32 }, function(k)
  local out, i = k:param("out", "u32*"), k:reg "u32"
  k:mov(i, 1)
  line = here() + 1
  k:while_(function() return i:gt(0) end, function() k:mad_lo(i, i, 3, 2) k:xor(i, i, 0) end)
  k:st_global_u32(out, i)
end)
fails("a loop without end", endless, { args = { counts } }, nil, { "warp 0 still runs this loop" })

-- Faults.
local outside = wg.kernel("outside", { threads = 128 }, function(k)
  local out = k:param("out", "u32*")
  local thread = k:special "tid.x"
  k:st_global_u32(k:element(out, thread), thread)
  k:if_(thread:eq(96), function()
    line = here() + 1
    k:st_global_u32(k:add(out, 1 << 40), thread)
  end)
  k:st_global_u32(k:element(out, thread + 128), thread)
end)
fails("a store past all memory", outside, { args = { counts }, faults = true }, nil,
  { "CUDA_ERROR_ILLEGAL_ADDRESS", (":%d: warp 3 at st"):format(line or 0) })

local misaligned = wg.kernel("misaligned", { threads = 64 }, function(k)
  local out = k:param("out", "u32*")
  local thread = k:special "tid.x"
  line = here() + 1
  local read = k:ld_global_u32(k:element(out, thread) + 2)
  k:st_global_u32(k:element(out, thread), read)
end)
fails("a misaligned load", misaligned, { args = { counts }, faults = true }, line, { "CUDA_ERROR_MISALIGNED_ADDRESS", "at ld" })

-- Good kernels: the same bits, guarded and not. run(guarded) gives the result.
local function same(name, run)
  local a, b = run(false):totable(), run(true):totable()
  checked = checked + 1
  local differ = 0
  local function walk(x, y)
    if type(x) == "table" then for i = 1, #x do walk(x[i], y[i]) end elseif x ~= y then differ = differ + 1 end
  end
  walk(a, b)
  if differ > 0 then failures = failures + 1 end
  print(("%s %s: guarded and not, %d elements differ"):format(differ == 0 and "ok" or "FAILED", name, differ))
end
local size = on_chip and 1024 or 256
local A = wg.randn { shape = { size, size }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { size, size }, dtype = "bf16", seed = 2 }
for name, options in pairs { plain = {}, split = { splits = 2 }, stream = { stream_k = true } } do
  options.dtype, options.d, options.problem = "bf16", "f32", { size, size, size }
  local gemm, D = wg.gemm(options), wg.zeros("f32", { size, size })
  same("wg.gemm, " .. name, function(guarded)
    gemm:run(A, B, D, { guarded = guarded, backend = backend })
    return D
  end)
end
if on_chip then
  -- The example script, its launch guarded or not.
  local folder = arg[0]:match "^(.*)/" or "."
  local file <close> = assert(io.open(folder .. "/../../scripts/attention.lua"))
  local source, found = file:read("a"):gsub("attention:run%(launch%)", "attention:run(hook(launch))")
  assert(found == 1)
  same("attention", function(guarded)
    local result
    local function hook(launch)
      launch.guarded, launch.backend, result = guarded, backend, launch.args[4]
      return launch
    end
    local env = setmetatable({ hook = hook, arg = {}, print = function() end }, { __index = _G })
    pcall(assert(load(source, "=attention.lua", "t", env)))  -- what it does after the run is of no interest
    return result
  end)
end
print(("%d checked, %d failed"):format(checked, failures))
os.exit(failures == 0 and 0 or 1)
