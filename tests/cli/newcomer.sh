# What Lua itself complains of gets a place in the script, and a word of what may be meant.
file global.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("f", {}, function(k)
  add(1, 2)
end)
LUA
run --backend=sim global.lua
exits 1
err_has "global.lua:3: attempt to call a nil value (global 'add') (fix: an instruction is a method of the builder: k:add(...))"

file module.lua <<'LUA'
local t = wg.zeros("f32", 1)
LUA
run --backend=sim module.lua
exits 1
err_has "module.lua:1: attempt to index a nil value (global 'wg') (fix: local wg = require \"wgrun\")"

file loop.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("f", {}, function(k)
  local n = k:param("n", "u32")
  for i = 0, n do print(i) end
end)
LUA
run --backend=sim loop.lua
exits 1
err_has "loop.lua:4: bad 'for' limit (number expected, got a register)"
err_has "k:loop(count, function(i) ... end) is a loop in the kernel"

# A tail call into the library keeps the script's line.
file tail.lua <<'LUA'
local wg = require "wgrun"
local function address(k, X)
  return k:element(X, "i")
end
wg.kernel("f", {}, function(k)
  local X = k:param("X", "f32*")
  local at = address(k, X)
end)
LUA
run --backend=sim tail.lua
exits 1
err_has "tail.lua:3: k:element, index: expected a register"

# A method called with a dot, and one that does not exist.
file dot.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("f", {}, function(k)
  local ring = k:pipeline { stages = 2 }
  ring.init()
end)
LUA
run --backend=sim dot.lua
exits 1
err_has "dot.lua:4: pipeline:init: expected a pipeline before the colon, got nothing (fix: a method is called with a colon: pipeline:init(...))"

file unknown.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("f", {}, function(k)
  local ring = k:pipeline { stages = 2 }
  ring:wiat(ring:cursor())
end)
LUA
run --backend=sim unknown.lua
exits 1
err_has "unknown.lua:4: a pipeline has no \`wiat\`: did you mean \`wait\`?"

# Words of Lua's that look like methods.
file words.lua <<'END'
local wg = require "wgrun"
wg.kernel("t", { threads = 32 }, function(k) k:if(k:special("tid.x"):eq(0), function() end) end)
END
run words.lua
exits 1
err_has "\`if\` is a word of Lua's, and cannot name a method: k:if_"
