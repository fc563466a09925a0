-- WG-REG-02, broken: memory decides whether the consumers go on; 96 and 2 x 208 are more than 3 x 168 all the same.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local ready, thread = k:param("ready", "const u32*"), k:special "tid.x"
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(thread:eq(0), function()
    k:mbarrier_init(k:address(full), 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_((thread >> 7):eq(0), function()
    k:if_(thread:eq(0) & k:ld_global_u32(ready):ne(0), function() k:mbarrier_arrive(k:address(full)) end)
    k:setmaxnreg_dec(96)
  end, function()
    k:mbarrier_wait(k:address(full), 0)
    k:setmaxnreg_inc(208) -- EXPECT: WG-REG-02
  end)
end)
kernel:run { args = { wg.full("u32", { 1 }, 1) } }
