-- WG-MBAR-06, kept: each wait with the state of its phase, also twice, and in a thread that has not waited for the phases before.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local a, b = k:shared { bytes = 8, align = 8, name = "a" }, k:shared { bytes = 8, align = 8, name = "b" }
  local first = k:special("tid.x"):eq(0)
  k:mbarrier_init(a, 64, { guard = first })
  k:mbarrier_init(b, 64, { guard = first })
  k:bar_sync(0)
  local function wait(object, state)
    k:while_(function() return k:selp(0, 1, k:mbarrier_try_wait(object, state), { type = "u32" }):ne(0) end, function() end)
  end
  for _ = 0, 3 do
    local state, other = k:mbarrier_arrive_state(a), k:mbarrier_arrive_state(b)
    wait(b, other)
    wait(a, state)
    wait(a, state)
  end
end)
kernel:run { grid = { 1 }, args = {} }
