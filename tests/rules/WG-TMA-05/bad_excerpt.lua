-- WG-TMA-05, broken: A tensor map brings a tile as the descriptor reads it through which wgmma multiplies it: in its type, with its swizzle, in lines as long, and all of it.
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local stages = 2
local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local map_a, map_b = k:tensor_map("A", { tile = t }), k:tensor_map("B", { dtype = "bf16", box = { 64, 64 }, swizzle = "none" })
  local K = k:param("K", "u32")
  local a = k:shared { tile = t, count = stages, name = "a" }
  local b = k:shared { tile = t, count = stages, name = "b" }
  local ring = k:pipeline { stages = stages, arrivals = 4 }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  local cursor = ring:cursor()
  k:if_((thread >> 7):eq(0), function()
    k:if_(thread:eq(0), function()
      k:loop({ from = 0, to = K, step = 64 }, function(first)
        ring:acquire(cursor)
        local full = ring:expect(cursor, 2 * t.bytes)
        k:cp_async_bulk_tensor_2d(k:address(a) + cursor.stage * t.bytes, map_a, { first, zero }, full)
        k:cp_async_bulk_tensor_2d(k:address(b) + cursor.stage * t.bytes, map_b, { first, zero }, full) -- EXPECT: WG-TMA-05
        ring:advance(cursor)
      end)
    end)
  end, function()
    local acc = k:regs("f32", 32)
    local a0, b0 = k:descriptor(a), k:descriptor(b)
    k:loop({ from = 0, to = K, step = 64 }, function(first)
      ring:wait(cursor)
      local da = k:mad_wide_u32(cursor.stage, t.bytes >> 4, a0)
      local db = k:mad_wide_u32(cursor.stage, t.bytes >> 4, b0)
      k:wgmma_fence()
      k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = first:gt(0) })
      k:wgmma_commit_group()
      k:wgmma_wait_group(0)
      ring:release(cursor, { lane = thread & 31 })
      ring:advance(cursor)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 384 }), wg.zeros("bf16", { 64, 384 }), 384 } }
