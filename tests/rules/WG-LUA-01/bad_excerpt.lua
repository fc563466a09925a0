-- WG-LUA-01, broken: A register is no condition of Lua: what depends on its value is decided by the kernel.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local i, x = k:special "tid.x", k:reg "u32"
  if i == 5 then k:mov(x, 1) end -- EXPECT: WG-LUA-01
  local p = i:lt(5)
  if p then k:mov(x, 2) end -- EXPECT: WG-LUA-01
end)
kernel:run { grid = { 2 }, args = {} }
