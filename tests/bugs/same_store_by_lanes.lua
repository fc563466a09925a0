-- All lanes of a warp store the same bytes to the same place by bulk copies: slow (WG-TMA-07), and right. Not so
-- copies of different bytes.
-- bad: same different
-- good: alone
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("stores", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local words = k:shared { bytes = 512, align = 128, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  for i = 0, 3 do k:st_shared_f32(k:mad_lo_u32(thread, 4, start), 1, { offset = 128 * i }) end
  k:fence_proxy_async()
  k:bar_warp_sync()
  local guard = kit.is "alone" and thread:eq(0) or nil
  local from = kit.is "different" and k:mad_lo_u32(thread & 3, 128, start) or start
  k:cp_async_bulk_store(X, from, 128, { guard = guard }) -- EXPECT(same): WG-TMA-07 -- EXPECT(different): WG-RACE-04
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 32) } }
