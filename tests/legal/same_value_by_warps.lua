-- All threads of a CTA store one value in one place, as compilers do with what is the same for all, and read it behind a
-- barrier. Not so values that differ, and not without the barrier.
-- good: same twice
-- bad: different unordered
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("flag", { threads = 128 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local flag = k:mov(k:shared { bytes = 16, align = 16, name = "flag" }, { type = "u32" })
  local thread = k:special "tid.x"
  local value = kit.is "different" and (thread >> 5) + n or n + 7
  if kit.is "unordered" then value = k:selp_u32(7, 8, thread:lt(32)) end
  local function store() k:st_shared_u32(flag, value) end -- MAYBE: WG-RACE-01
  store()
  if not kit.is "unordered" then k:bar_sync(0) end
  if kit.is "twice" then
    store()
    k:bar_sync(0)
  end
  k:st_global_u32(k:element(X, thread), k:ld_shared_u32(flag)) -- MAYBE: WG-RACE-01
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 128), 3 } }
