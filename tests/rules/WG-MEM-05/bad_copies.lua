-- WG-MEM-05, broken by an atomic, by a bulk copy and by a copy of a box.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y = k:param("X", "const u32*"), k:param("Y", "const f32*")
  local Z = k:tensor_map("Z", { dtype = "f32", box = { 8, 4 }, constant = true })
  local box = k:shared { bytes = 128, align = 128, name = "box" }
  local thread = k:special "tid.x"
  k:st_shared_f32(k:address(box, thread * 4), 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:red_global_add_u32(k:element(X, 0), 1) -- EXPECT IN RUN: WG-MEM-05 -- EXPECT: WG-MEM-05
    k:cp_async_bulk_store(k:element(Y, 0), box, 128) -- EXPECT IN RUN: WG-MEM-05 -- EXPECT: WG-MEM-05
    local zero = k:mov(0, { type = "s32" })
    k:cp_async_bulk_tensor_store_2d(Z, { zero, zero }, box) -- EXPECT IN RUN: WG-MEM-05 -- EXPECT: WG-MEM-05
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 8 }), wg.zeros("f32", { 32 }), wg.zeros("f32", { 4, 8 }) } }
