-- A loop of 128 turns and 1024 products stands before the store that no fence publishes: a run ahead comes behind it.
local wg = require "wgrun"
local tile <const> = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local kernel = wg.kernel("behind_a_loop", { threads = 160 }, function(k)
  local A, B = k:tensor_map("A", { tile = tile }), k:tensor_map("B", { tile = tile })
  local D, K = k:tensor_map("D", { dtype = "f32", box = { 32, 64 } }), k:param("K", "u32")
  local a, b = k:shared { tile = tile, count = 3, name = "a" }, k:shared { tile = tile, count = 3, name = "b" }
  local out = k:shared { bytes = 8192, align = 128, name = "out" }
  local ring = k:pipeline { stages = 3, arrivals = 4 }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  k:if_(thread:ge(128), function()
    k:if_(thread:eq(128), function()
      local c = ring:cursor()
      k:loop({ from = 0, to = K, step = 64 }, function(kk)
        ring:acquire(c)
        local bar = ring:expect(c, 2 * tile.bytes)
        k:load_tile { tile = tile, map = A, to = k:address(a, c.stage * tile.bytes), mn = zero, k = kk, barrier = bar }
        k:load_tile { tile = tile, map = B, to = k:address(b, c.stage * tile.bytes), mn = zero, k = kk, barrier = bar }
        ring:advance(c)
      end)
    end)
  end, function()
    local acc = k:regs("f32", 32)
    for i = 0, 31 do k:mov(acc[i], 0.0) end
    local c = ring:cursor()
    k:loop({ from = 0, to = K, step = 64 }, function()
      ring:wait(c)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, a_offset = c.stage * tile.bytes, b_offset = c.stage * tile.bytes })
      k:wgmma_wait_group(0)
      ring:release(c, { lane = thread & 31 })
      ring:advance(c)
    end)
    local at = k:mad_lo_u32(thread, 64, k:mov(out, { type = "u32" }))
    for i = 0, 3 do k:st_shared_v4_f32(at, { acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3] }, { offset = 16 * i }) end
    k:bar_sync(1, { threads = 128 })
    k:if_(thread:eq(0), function()
      k:cp_async_bulk_tensor_store_2d(D, { zero, zero }, out) -- EXPECT: WG-PROXY-01
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
end)
local K <const> = 8192
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, K }), wg.zeros("bf16", { 64, K }), wg.zeros("f32", { 64, 32 }), K } }
