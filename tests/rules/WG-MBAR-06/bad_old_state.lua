-- WG-MBAR-06, broken: a state from three phases ago.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local a, b = k:shared { bytes = 8, align = 8, name = "a" }, k:shared { bytes = 8, align = 8, name = "b" }
  local first = k:special("tid.x"):eq(0)
  k:mbarrier_init(a, 64, { guard = first })
  k:mbarrier_init(b, 64, { guard = first })
  k:bar_sync(0)
  local function wait(object, state)
    k:while_(function() return k:selp(0, 1, k:mbarrier_try_wait(object, state), { type = "u32" }):ne(0) end, function() end) -- EXPECT: WG-MBAR-06
  end
  local state = k:mbarrier_arrive_state(a)
  for phase = 0, 2 do
    if phase > 0 then k:mbarrier_arrive(a) end
    k:mbarrier_wait(a, phase & 1)
  end
  wait(a, state)
end)
kernel:run { grid = { 1 }, args = {} }
