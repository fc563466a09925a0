-- CTA 0 adds to one half of what the others add to.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local C = k:param("C", "u64*")
  k:if_(k:special "laneid":eq(0), function()
    k:if_(k:special "ctaid.x":eq(0), function() k:red_global_add_u32(C, 1) end, function()
      k:red_global_add_u64(C, 1) -- EXPECT: WG-RACE-04
    end)
  end)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("u64", 1) } }
