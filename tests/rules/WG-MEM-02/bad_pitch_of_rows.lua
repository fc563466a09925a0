-- Rows of 72 bytes: every other one starts between two units of 16. What is read there later is not told of as
-- well.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "u32*")
  local S, T, lane = k:shared { bytes = 32 * 72, name = "S" }, k:shared { bytes = 512, name = "T" }, k:special "laneid"
  local words = k:regs("b32", 4)
  for i = 0, 3 do k:mov(words[i], i) end
  k:stmatrix_x4(k:address(S, lane * 72), words) -- EXPECT: WG-MEM-02
  k:cp_async(k:address(T, lane * 16), k:element(X, lane * 4 + 2), { cop = "cg", bytes = 16 }) -- EXPECT: WG-MEM-02
  k:cp_async_wait_all()
  k:bar_warp_sync()
  k:st_global_u32(k:element(Y, lane), k:ld_shared_u32(k:address(S, lane * 72)) + k:ld_shared_u32(k:address(T, lane * 16)))
end)
kernel:run { args = { wg.zeros("f32", 160), wg.zeros("u32", 32) } }
