-- One session and a hundred kernels in random order, of which some thirty hang, fault or ask for too much: every good
-- one is right, every bad one has its message, and the memory of the device returns to where it was.
--   wgrun tests/gpu/survive.lua [seed]
-- Says what a hang costs beyond its time-out. Without a GPU there is nothing to survive.
local wg = require "wgrun"
if wg.backend == "sim" then
  print "skipped: no GPU"
  os.exit(0)
end
local unpack <const> = table.unpack
local rounds <const>, timeout_ms <const> = 100, 300
local seed <const> = tonumber(arg[1] or 1)
math.randomseed(seed, 0)

-- Seconds of the wall clock, which Lua does not have.
local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

local function word(name, body) -- a kernel of 128 threads with one tensor of u32
  return wg.kernel(name, { threads = 128 }, function(k)
    local data = k:param("data", "u32*")
    body(k, data, k:special "tid.x")
  end)
end

-- ---- What works

local A, B = wg.randn { shape = { 256, 128 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 256, 128 }, dtype = "bf16", seed = 2 }
local product = wg.zeros("f32", { 256, 256 })
local gemm = wg.gemm { dtype = "bf16", d = "f32", problem = { 256, 256, 128 } }
gemm:run(A, B, product)
local count = word("count", function(k, data, tid)
  local at = k:element(data, tid)
  k:st_global_u32(at, k:ld_global_u32(at) + tid)
end)
local kept = wg.zeros("u32", 128) -- counted up by launches that live as long as the session
local prepared, starts = count:prepare { args = { kept } }, 0
local large = wg.randint { shape = { 4 << 20 }, dtype = "u32", lo = 0, hi = 1000, seed = 3 }
local double = wg.kernel("double", { threads = 256 }, function(k)
  local from, to = k:param("from", "const u32*"), k:param("to", "u32*")
  local i = k:special "ctaid.x" * 256 + k:special "tid.x"
  k:st_global_u32(k:element(to, i), k:ld_global_u32(k:element(from, i)) * 2)
end)

local good = {
  function()
    local D = wg.zeros("f32", { 256, 256 })
    gemm:run(A, B, D)
    assert(wg.compare(D, product, 0))
  end,
  function()
    prepared:start()
    prepared:download()
    starts = starts + 1
    assert(kept[127] == 127 * starts and kept[1] == starts, "the counter")
  end,
  function()
    local D = wg.zeros("u32", { 4 << 20 })
    double:run { grid = #D // 256, args = { large, D } }
    for _ = 1, 100 do
      local i = math.random(0, #D - 1)
      assert(D[i] == 2 * large[i], "the large copy")
    end
  end,
  function()
    local t <close> = wg.zeros("u32", 128):to "gpu"
    for _ = 1, 3 do count:run { args = { t } } end
    assert(t:to "cpu"[100] == 300, "the device tensor")
  end,
}

-- ---- What does not

local lines = {} -- where each kernel that hangs waits
local function waits_here(name) lines[name] = debug.getinfo(2, "l").currentline end

local polls = word("polls", function(k, data)
  k:while_(function() waits_here "polls" return k:ld_relaxed_gpu_global_u32(data):eq(0) end, function() end)
end)
local waits = word("waits", function(k, data, tid)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 2)
    k:fence_mbarrier_init()
    k:mbarrier_arrive(k:address(full))
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0) waits_here "waits"
  k:st_global_u32(data, tid)
end)
local misses = word("misses", function(k, data, tid)
  k:if_(tid:lt(64), function() k:bar_sync(1, { threads = 128 }) waits_here "misses" end)
  k:st_global_u32(data, tid)
end)
local beyond = word("beyond", function(k, data, tid)
  k:st_global_u32(k:element(data, tid) + (1 << 44), tid)
end)
local reads = word("reads", function(k, data, tid)
  k:st_global_u32(data, k:ld_global_u32(k:element(data, tid) + (1 << 45)))
end)
local uneven = word("uneven", function(k, data, tid)
  k:st_global_v4_b32(k:element(data, tid) + 4, k:ld_global_v4_b32(data))
end)
local shared_end = word("shared_end", function(k, data, tid)
  local buffer = k:shared { bytes = 1024, align = 16, name = "buffer" }
  k:st_global_u32(data, k:ld_shared_u32(k:address(buffer) + (1 << 20)))
end)
local barrier_bytes = word("barrier_bytes", function(k, data, tid)
  local bytes = k:shared { bytes = 64, align = 16, name = "bytes" }
  k:mbarrier_init(k:address(bytes) + 4, 1)
  k:st_global_u32(data, tid)
end)

local function runs(kernel, code, ...)
  local texts = { ... }
  return { kernel.name, code, texts, function()
    return kernel:run { args = { wg.zeros("u32", 1024) }, unchecked = true, timeout_ms = timeout_ms }
  end }
end
local bad = {
  runs(polls, "ETIMEDOUT", "the kernel hangs: warps 0-3 wait for `data` + 0 bytes to change"),
  runs(waits, "ETIMEDOUT", "the kernel hangs: warps 0-3 wait for the phase of parity 0 of the mbarrier `full`"),
  runs(misses, "ETIMEDOUT", "the kernel hangs: warps 0, 1 wait at barrier 1"),
  runs(beyond, "EFAULT", "kernel `beyond` failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
  runs(reads, "EFAULT", "kernel `reads` failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
  runs(uneven, "EFAULT", "kernel `uneven` failed: CUDA_ERROR_MISALIGNED_ADDRESS"),
  runs(shared_end, "EFAULT", "kernel `shared_end` failed: CUDA_ERROR_"),
  runs(barrier_bytes, "EFAULT", "kernel `barrier_bytes` failed: CUDA_ERROR_"),
  { "a tensor larger than the device", "ENOMEM", { "out of device memory: " }, function()
    return wg.zeros("u8", { wg.device().memory_bytes + (1 << 30) }):to "gpu"
  end },
  { "too much shared memory", "EINVAL", { "shared memory" }, function()
    local greedy = wg.kernel("greedy", { threads = 128 }, function(k)
      local data = k:param("data", "u32*")
      k:shared { bytes = 240000, name = "much" }
      k:st_global_u32(data, 1)
    end)
    return greedy:run { args = { wg.zeros("u32", 1) }, unchecked = true }
  end },
  { "a grid that cannot be", "EINVAL", { "extents must be 1 to 2147483647, 65535 and 65535" }, function()
    return count:run { grid = { 1, 70000, 1 }, args = { kept } }
  end },
}

-- ---- The session

local order = {}
for i = 1, rounds do order[i] = i <= 30 and bad[1 + i % #bad] or good[1 + i % #good] end
for i = rounds, 2, -1 do
  local j = math.random(i)
  order[i], order[j] = order[j], order[i]
end
collectgarbage() collectgarbage()
local before, wrong, hangs, worst, total = wg.device().held_bytes, 0, 0, 0.0, 0.0
for round, step in ipairs(order) do
  local start = now()
  if type(step) == "function" then
    local fine, problem = pcall(step)
    if not fine then
      wrong = wrong + 1
      print(("%d: a good kernel: %s"):format(round, tostring(problem)))
    end
  else
    local name, code, texts, f = unpack(step)
    local fine, problem = pcall(f)
    local message = type(problem) == "table" and problem.message or tostring(problem)
    local as_expected = not fine and type(problem) == "table" and problem.code == code
    if lines[name] then as_expected = as_expected and problem.line == lines[name] end
    for _, text in ipairs(texts) do as_expected = as_expected and message:find(text, 1, true) ~= nil end
    if not as_expected then
      wrong = wrong + 1
      print(("%d: %s: %s"):format(round, name, fine and "it worked" or message))
    elseif code == "ETIMEDOUT" then
      -- The worker starts again with the next kernel: a good one, timed with it.
      local extra = now() - start - timeout_ms / 1000
      local again = now()
      pcall(good[2])
      extra = extra + now() - again
      hangs, total, worst = hangs + 1, total + extra, math.max(worst, extra)
    end
  end
end
prepared = nil
collectgarbage() collectgarbage()
local held = wg.device().held_bytes
print(("%d rounds, %d wrong; %d hangs cost %.2f s each beyond the time-out, %.2f s at most; device memory held: %d bytes before, %d after")
  :format(rounds, wrong, hangs, total / math.max(hangs, 1), worst, before, held))
assert(wrong == 0 and worst < 2 and held <= before)
