-- A box that reaches beyond its tensor is stored, and what lies outside goes nowhere: nobody needs to write it.
-- good: over
-- bad: short
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("edge", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 40, 8 } })
  local box = k:shared { bytes = 8 * 160, align = 128, name = "box" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local mine = k:mad_lo_u32(thread, 4, k:mov(box, { type = "u32" }))
  local lines = kit.is "short" and 5 or 6 -- of 6 that the tensor has, and 8 of the box
  for line = 0, lines - 1 do k:st_shared_f32(mine, 1, { offset = 160 * line }) end
  k:fence_proxy_async()
  k:bar_warp_sync()
  k:if_(thread:eq(0), function()
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, box) -- EXPECT(short): WG-MEM-04
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
local x = wg.zeros("f32", { 6, 32 })
if kit.ran(kernel, { grid = { 1 }, args = { x } }) and not kit.is "short" then assert(x[{ 5, 31 }] == 1) end
