-- WG-TMA-06, broken: a prefetch is a copy, too.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "bf16", box = { 64, 4 }, swizzle = "128B", constant = true })
  k:if_(k:special("tid.x"):eq(0), function()
    k:loop(3, function(i)
      local start, zero = k:mov(i * 4, { type = "s32" }), k:mov(0, { type = "s32" })
      k:cp_async_bulk_prefetch_tensor_2d(map, { start, zero }) -- EXPECT: WG-TMA-06
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 8, 256 }) } }
