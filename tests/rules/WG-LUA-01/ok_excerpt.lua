-- WG-LUA-01, kept: A register is no condition of Lua: what depends on its value is decided by the kernel.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local i, x = k:special "tid.x", k:reg "u32"
  k:if_(i:eq(5), function() k:mov(x, 1) end)
  local p = i:lt(5)
  k:if_(p, function() k:mov(x, 2) end)
end)
kernel:run { grid = { 2 }, args = {} }
