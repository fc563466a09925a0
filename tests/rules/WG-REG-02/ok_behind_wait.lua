-- WG-REG-02, kept: memory decides whether the consumers go on; 88 and 2 x 208 are 3 x 168. In the second kernel one
-- consumer gives its registers back before it tells the other, which memory decides, too.
local wg = require "wgrun"

local function kernel(producer, consumer, given_back)
  return wg.kernel("case", { threads = 384 }, function(k)
    local ready, thread = k:param("ready", "const u32*"), k:special "tid.x"
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    k:if_(thread:eq(0), function()
      k:mbarrier_init(k:address(full), 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    k:if_((thread >> 7):eq(0), function()
      k:if_(thread:eq(0) & k:ld_global_u32(ready):ne(0), function() k:mbarrier_arrive(k:address(full)) end)
      k:setmaxnreg_dec(producer)
    end, function()
      k:mbarrier_wait(k:address(full), 0)
      local function take() k:setmaxnreg_inc(consumer) end
      if not given_back then return take() end
      k:if_((thread >> 7):eq(1), function()
        take()
        k:bar_sync(1, { threads = 128 })
        k:setmaxnreg_dec(96)
        k:bar_sync(2, { threads = 256 })
      end, function()
        k:bar_sync(2, { threads = 256 })
        take()
      end)
    end)
  end)
end
for _, one in ipairs { kernel(88, 208), kernel(96, 232, true) } do
  one:run { args = { wg.full("u32", { 1 }, 1) } }
end
