-- WG-LUA-01, kept: A register is no condition of Lua: what depends on its value is decided by the kernel.
-- What Lua may ask: whether there is a register, whether two names mean the same one, what is a number now and a
-- register then.
local wg = require "wgrun"

-- A number or a register.
local function scaled(k, r, factor)
  if factor == 1 then return r end
  return k:mul(r, factor)
end

-- A guard or none.
local function store(k, address, value, guard)
  if guard then k:st_global_u32(address, value, { guard = guard }) else k:st_global_u32(address, value) end
end

local function first_of(list) return list[1] end

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local i = k:special "tid.x"
  local to = k:param("to", "u32*")
  local x
  for j = 0, 3 do
    if x then x = x + j else x = i + j end
    if j == 3 then k:add(x, x, 1) end
  end
  local last = nil
  if last == nil then last = scaled(k, x, 1) end
  local factor = k:mov(3, { type = "u32" })
  last = scaled(k, last, factor)
  store(k, k:element(to, i), last)
  store(k, k:element(to, i), last, i:lt(4))
  -- Redundant, and right: the predicate is used where it is asked for.
  local p = i:lt(4)
  local options = p and { guard = p } or nil
  if p then k:add(last, last, 1, { guard = p }) end
  local kind = i.type == "u32" and k:add(i, 1) or k:sub(i, 1)
  local table_of = { p = p }
  if table_of.p then k:mov(last, 1, options) end
  if first_of { p } then k:mov(last, kind) end
  local shared = last
  if shared == last and not (shared ~= last) then k:mov(shared, 2) end
  local maybe = i:lt(2)
  if #arg > 0 then maybe = nil end
  if maybe then k:mov(last, 3) end
  k:st_global_u32(k:element(to, i), last)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 128) } }
