-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_warpgroup_mma, test_warpgroup_mma2, test_multibuffered_wgmma_loop. A tile is overwritten while a wgmma may still
-- read it.
-- bad: none one_of_two two_buffers
-- good: waited both three_buffers
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("operands", { threads = 128 }, function(k)
  local buffers, acc = {}, { k:regs("f32", 32), k:regs("f32", 32) }
  for i = 1, 3 do buffers[i] = k:shared(kit.tile, "a" .. i) end
  local b = k:shared(kit.tile, "b")
  kit.fill(k, { b, table.unpack(buffers) })
  local function overwrite(buffer)
    local at, words = kit.mine(k, buffer), kit.words(k)
    k:bar_sync(0)
    for i = 0, 3 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end -- EXPECT: WG-RACE-02
    k:fence_proxy_async()
    k:bar_sync(0)
  end
  if kit.is("two_buffers", "three_buffers") then
    -- One product stays in flight; the buffer for the product after next is filled.
    local count = kit.is "two_buffers" and 2 or 3
    for i = 0, 5 do
      kit.multiply(k, acc[1], buffers[i % count + 1], b, i > 0 and 1 or 0)
      k:wgmma_wait_group(1)
      overwrite(buffers[(i + 2) % count + 1])
    end
  else
    kit.multiply(k, acc[1], buffers[1], b)
    if not kit.is("none", "waited") then kit.multiply(k, acc[2], buffers[1], b) end
    if not kit.is "none" then k:wgmma_wait_group(kit.is "one_of_two" and 1 or 0) end
    overwrite(buffers[1])
  end
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
