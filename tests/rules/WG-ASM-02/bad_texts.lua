-- WG-ASM-02, broken: by a guarded statement, behind a comment, by one of several, by what wgrun has no record of.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "u32*")
  local x = k:special "tid.x"
  local at = k:element(X, x)
  local function nothing() end
  k:asm { ".reg .pred p; setp.ne.u32 p, %x, 0; @p st.global.u32 [%a], %x;", inputs = { a = at, x = x }, effects = "none", meaning = nothing } -- EXPECT: WG-ASM-02
  k:asm { "/* none */ bar.sync 0;", effects = "none", meaning = nothing } -- EXPECT: WG-ASM-02
  k:asm { "membar.gl;", effects = "none", meaning = nothing } -- EXPECT: WG-ASM-02
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 128) } }
