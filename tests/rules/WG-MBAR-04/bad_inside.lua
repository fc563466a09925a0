-- WG-MBAR-04, broken: an access begins in the middle of an mbarrier. One that runs into it breaks another law.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local S = k:shared { bytes = 8, align = 16, name = "S" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special "tid.x":eq(0)
  local zero = k:regs("b32", 4)
  for i = 0, 3 do k:mov(zero[i], 0) end
  k:mbarrier_init(full, 1, { guard = first })
  k:bar_sync(0)
  k:st_shared_v2_b32(k:mov(full, { type = "u32" }), { zero[0], zero[1] }, { guard = first }) -- EXPECT IN RUN: WG-MBAR-04 -- EXPECT: WG-MBAR-04
  k:st_shared_b32(k:mov(full, { type = "u32" }) + 4, zero[0], { guard = first }) -- EXPECT IN RUN: WG-MBAR-04 -- EXPECT: WG-MBAR-04
  k:st_shared_v4_b32(k:mov(S, { type = "u32" }), zero, { guard = first }) -- EXPECT IN RUN: WG-MEM-03 -- EXPECT: WG-MEM-03
end)
kernel:run { grid = { 1 }, args = {} }
