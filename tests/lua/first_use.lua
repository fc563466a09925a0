-- A file of the library is run when a script first calls a function of it (stdlib/first_use.lua), and scripts do not notice.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

-- All functions are there, and help knows them.
for _, name in ipairs { "gemm", "attention", "attention_backward", "delta_rule", "ssd", "tune", "prepack", "panel" } do
  assert(type(wg[name]) == "function", name)
end
for _, f in ipairs { wg.mainloop.dense, wg.scheduler.tiles, wg.sparse.compress } do assert(type(f) == "function") end

-- What was taken before the first call works after it, and again.
local gemm = wg.gemm
for _ = 1, 2 do assert(gemm {}.kernel:ptx() == wg.gemm {}.kernel:ptx()) end

-- What a script puts in the place of a function stays there when the function's file is run by another one.
local dense, own = wg.mainloop.dense, function() return "own" end
wg.mainloop.dense = own
assert(type(wg.mainloop.sparse { tile = { 128, 128 } }) == "table" and wg.mainloop.dense == own) -- of the same file
assert(type(dense { tile = { 128, 128 } }) == "table")
wg.mainloop.dense = dense

-- The line of a call that a script returns is in the script.
local function bad() return wg.attention { heads = "many" } end
check.refuses('wg.attention: heads is "many", must be an integer from 1 to 65535', bad)

-- In a coroutine, and with other globals.
local kept = { require, ipairs }
require, ipairs = nil, nil -- luacheck: ignore
local thread = coroutine.wrap(function() coroutine.yield(wg.ssd {}.kernel.name) end)
local name, after = thread(), wg.delta_rule {}.kernel.name
require, ipairs = kept[1], kept[2] -- luacheck: ignore
check.equal({ name, after }, { "ssd", "delta_rule" })

-- An error while a file is run, as of a limit, loses nothing: the next call runs it anew. It comes at each of the file's lines in turn.
local lines = 0
repeat
  package.loaded.wgrun = nil
  local fresh, left = require "wgrun", lines
  local stopped = coroutine.create(function() return fresh.gemm {} end)
  debug.sethook(stopped, function()
    local at = debug.getinfo(2, "S")
    if at.what ~= "main" or not at.source:find("/gemm.gemm", 1, true) then return end
    if left == 0 then error "stopped" end
    left = left - 1
  end, "l")
  local good, why = coroutine.resume(stopped)
  debug.sethook(stopped)
  assert(good or tostring(why):find "stopped", why)
  local made = fresh.gemm {}
  assert(made.launch and made.run and made.prepare and made.time, lines)
  lines = lines + 1
until good
assert(lines > 20)
package.loaded.wgrun = wg

-- The files are no modules of scripts.
assert(not pcall(require, "wgrun.gemm.gemm") and package.loaded["wgrun.gemm.gemm"] == nil)
