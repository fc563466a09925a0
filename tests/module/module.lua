-- require "wgrun" in an interpreter that is not wgrun: errors, coroutines, finalizers, two modes of the collector.
local wg = require "wgrun"
assert(wg == require "wgrun")

-- Loaded once more, the classes stay those of the objects made before.
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
package.loaded.wgrun = nil
local again = require "wgrun"
assert(again ~= wg and again.tile { dtype = "bf16", mn = 64, k = 64 } == tile)

-- Errors of the engine, of Lua and of the script go through the module's frames, and are what they were.
local good, problem = pcall(wg.layout, "((")
assert(not good and type(problem) == "table" and problem.code == "EINVAL", tostring(problem))
local token = setmetatable({}, { __gc = function() end })
for depth = 1, 50 do
  local caught
  good, caught = pcall(wg.kernel, "k", { threads = 128 }, function(k)
    local keep = k:regs("f32", 8)
    if depth % 3 == 0 then
      pcall(wg.kernel, "inner", { threads = 32 }, function() error(token) end)
    end
    if depth % 2 == 0 then string.rep("x", -1, {}) end
    error(keep and token)
  end)
  assert(not good and (caught == token or depth % 2 == 0))
end
good, problem = pcall(function() return tile + tile end)
assert(not good and problem:find "arithmetic" or problem:find "perform")
assert(select("#", wg.load "no such file") == 3)
good, problem = xpcall(wg.layout, function(e) return { e } end, "((")
assert(not good and problem[1].code == "EINVAL")
local function overflow() return 1 + wg.kernel("k", {}, overflow) end
assert(not pcall(overflow))

-- Coroutines may be abandoned within a kernel, closed, and given an error by what they call.
for _ = 1, 50 do
  local co = coroutine.create(function()
    local pending <close> = setmetatable({}, { __close = function() assert(wg.layout "8:1"(3) == 3) end })
    wg.layout "(("
  end)
  local ended, what = coroutine.resume(co)
  assert(not ended and what.code == "EINVAL" and coroutine.close(co) == false)
  assert(not coroutine.resume(coroutine.create(function()
    wg.kernel("k", {}, function() coroutine.yield() end) -- across a C call
  end)))
end

-- A checked kernel, a refused one, and a simulation, under a collector that runs all the time.
local function product(fence)
  return wg.kernel("product", { threads = 128 }, function(k)
    local A, B, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
    local a, b = k:shared(tile, "a"), k:shared(tile, "b")
    for _, pair in ipairs { { a, A }, { b, B } } do
      k:copy_tile { to = pair[1], from = pair[2], ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
    end
    if fence then k:fence_proxy_async() end
    k:bar_sync(0)
    local acc = k:regs("f32", 32)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b, scale_d = 0 })
    k:wgmma_wait_group(0)
    k:store_accumulator(acc, { to = D, ld = 64, row = 0, col = 0, rows = 64, cols = 64, vector = true })
  end)
end
local function multiply()
  local findings = product(false):check()
  assert(#findings > 0 and findings[1].rule == "WG-PROXY-01" and findings[1].line > 0)
  local A = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }
  local B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }
  local D = wg.zeros("f32", { 64, 64 })
  local kernel = product(true)
  assert(kernel:run { args = { A, B, D }, backend = "sim" } == "sim")
  for i = 0, 63, 9 do
    assert(math.abs(wg.dot(A, 64 * i, 1, B, 64 * i, 1, 64) - D[{ i, i }]) < 1e-4)
  end
  good, problem = pcall(kernel.run, kernel, { args = { A, B }, backend = "sim" })
  assert(not good and problem.message:find "takes 3 arguments")
end
for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  multiply()
end
debug.sethook(function() collectgarbage "step" end, "", 101)
multiply()
debug.sethook()

-- Lua built as C++ has its own exceptions: what a finalizer and a __close raise goes no further than it should.
for _ = 1, 100 do
  setmetatable({}, { __gc = function() wg.layout "((" end })
  pcall(function()
    local keep <close> = setmetatable({}, { __close = function() error "closing" end })
    wg.tile { dtype = "bf16", mn = 7, k = 64 }
  end)
end
collectgarbage()
collectgarbage()

-- Garbage of tensors does not pile up, whatever the mode: 400 MiB in all. Other states have garbage of their own.
if arg[1] == "many" then return end
local function high_water() -- MiB; nil where there is no /proc
  local status = io.open "/proc/self/status"
  local text = status and status:read "a" or ""
  return tonumber(text:match "VmHWM:%s*(%d+) kB") and text:match "VmHWM:%s*(%d+) kB" // 1024
end
local before = high_water()
for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  for seed = 1, 50 do wg.randn { shape = { 1024, 1024 }, dtype = "f32", seed = seed } end
end
if before then assert(high_water() - before < 100, high_water() - before) end
