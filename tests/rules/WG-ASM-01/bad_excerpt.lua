-- WG-ASM-01, broken: Inline PTX declares what it does besides writing its operands.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local x = k:special "tid.x"
  local d = k:asm { -- EXPECT: WG-ASM-01
    "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x },
    meaning = function(k, v) return v.a end,
  }
end)
kernel:run { grid = { 2 }, args = {} }
