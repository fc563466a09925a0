-- WG-RACE-04, broken: boxes of neighbouring CTAs overlap by a row. That all of them are zeros here is by chance.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, C, thread = k:param("X", "const f32*"), k:tensor_map("C", { dtype = "f32", box = { 32, 16 } }), k:special "tid.x"
  local panel = k:shared { bytes = 2048, align = 128, name = "panel" }
  k:st_shared_v4_f32(k:address(panel, thread * 16), k:ld_global_v4_f32(k:element(X, k:special "ctaid.x" * 512 + thread * 4)))
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    local row = k:mov(k:special "ctaid.x" * 15, { type = "s32" })
    k:cp_async_bulk_tensor_store_2d(C, { k:mov(0, { type = "s32" }), row }, panel) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0, { read = true })
  end)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("f32", { 1536 }), wg.zeros("f32", { 48, 32 }) } }
