-- https://github.com/triton-lang/triton/issues/11047 (fix in #11056): wait_group waits for the own warpgroup; the other
-- one still reads the B that both share.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("shared_b", { threads = 256 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function() kit.store(k, { a, b }) end)
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  kit.multiply(k, acc, a, b)
  k:wgmma_wait_group(0)
  if kit.is "fixed" then k:bar_sync(0) end
  k:if_(group:eq(0), function()
    local at, words = kit.mine(k, b), kit.words(k)
    for i = 0, 3 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end -- EXPECT: WG-RACE-02
  end)
end)
kernel:run { grid = { 1 }, args = {} }
