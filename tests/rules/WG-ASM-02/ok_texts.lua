-- WG-ASM-02, kept: texts that compute, or read what does not change, and comments that speak of accesses.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "u32*")
  local x = k:special "tid.x"
  local y = k:asm {
    "// st.global would be wrong\nadd.u32 %d, %a, 1; /* bar.sync 0; */", out = { d = "u32" }, inputs = { a = x }, effects = "none",
    meaning = function(k, v) return v.a + 1 end,
  }
  k:st_global_u32(k:element(X, x), y)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 128) } }
