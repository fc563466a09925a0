-- WG-TMA-04, broken by the tensor: its rows are 12 bytes.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 4, 4 } })
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 3 }) } } -- EXPECT: WG-TMA-04 -- EXPECT IN RUN: WG-TMA-04
