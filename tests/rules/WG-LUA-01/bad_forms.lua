-- WG-LUA-01, broken: A register is no condition of Lua: what depends on its value is decided by the kernel.
local wg = require "wgrun"

-- Called with the builder, and with registers alone: what it is told is known here too.
local function helper(k, r, times)
  if r ~= 0 then k:mov(r, 0) end -- EXPECT: WG-LUA-01
  if times ~= 0 then k:mov(r, times) end
end

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local i, x = k:special "tid.x", k:reg "u32"
  if i == 5 then k:mov(x, 1) end -- EXPECT: WG-LUA-01
  if 0 == (i & 31) then k:mov(x, 2) end -- EXPECT: WG-LUA-01
  if k:setp_eq(i, 5) then k:mov(x, 3) end -- EXPECT: WG-LUA-01
  if i:lt(5) then -- EXPECT: WG-LUA-01
    k:mov(x, 4)
  elseif i:lt(7) then -- EXPECT: WG-LUA-01
    k:mov(x, 4)
  end
  local p = i:lt(5)
  if p then k:mov(x, 5) end -- EXPECT: WG-LUA-01
  if not p then k:mov(x, 5) end -- EXPECT: WG-LUA-01
  local both = p and i:gt(2) -- EXPECT: WG-LUA-01
  local either = i:lt(5) or i:gt(7) -- EXPECT: WG-LUA-01
  local chosen = p and 3 or 4 -- EXPECT: WG-LUA-01
  if chosen and p then k:mov(x, 6) end -- EXPECT: WG-LUA-01
  for j = 0, 3 do
    if i == j then k:mov(x, j) end -- EXPECT: WG-LUA-01
  end
  k:loop(4, function(n)
    if n == 0 then k:mov(x, 7) end -- EXPECT: WG-LUA-01
  end)
  local acc = k:regs("f32", 4)
  k:fragment(acc):map(function(value, at)
    if at.row == 0 then return value end -- EXPECT: WG-LUA-01
    return value
  end)
  if acc[0] == 0 then k:mov(x, 8) end -- EXPECT: WG-LUA-01
  local count = k:param("count", "u32")
  while i:lt(count) do k:add(i, i, 1) end -- EXPECT: WG-LUA-01
  repeat k:add(i, i, 1) until i:ge(count) -- EXPECT: WG-LUA-01
  helper(k, x, 1)
  helper(k, i, 2)
end)
