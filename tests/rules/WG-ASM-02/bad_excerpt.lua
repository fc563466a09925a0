-- WG-ASM-02, broken: Inline PTX that accesses memory or synchronises does not declare that it has no effects.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local S = k:shared { bytes = 512, align = 16, name = "S" }
  local x = k:special "tid.x"
  local place = k:mad_lo_u32(x, 4, k:mov(S, { type = "u32" }))
  k:asm { -- EXPECT: WG-ASM-02
    "st.shared.u32 [%a], %x;", inputs = { a = place, x = x }, effects = "none",
    meaning = function(k, v) k:st_shared_u32(v.a, v.x) end,
  }
end)
kernel:run { grid = { 2 }, args = {} }
