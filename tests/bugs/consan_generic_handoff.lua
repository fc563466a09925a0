-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_ws_store_wait_load, test_ws_load_wait_store, test_ws_load_ordering, test_ws_different_warp_sizes. Roles hand a
-- tile to each other through mbarriers; one of them does not wait, or for another mbarrier.
-- bad: read_without_wait write_without_wait wrong_order
-- good: waits warps_of_other_number
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local writers = kit.is "warps_of_other_number" and 64 or 128

local kernel = wg.kernel("handoff", { threads = writers + 128 }, function(k)
  local one, two = k:shared { bytes = 2048, align = 16, name = "one" }, k:shared { bytes = 2048, align = 16, name = "two" }
  local full1, full2, empty = kit.mbarriers(k, { writers, writers, 128 })
  local thread = k:special "tid.x"
  k:if_(thread:lt(writers), function()
    local function write(tile)
      local words = kit.words(k)
      for i = 0, 128 // writers - 1 do
        k:st_shared_v4_b32(kit.mine(k, tile), words, { offset = 16 * writers * i }) -- MAYBE(read_without_wait write_without_wait wrong_order): WG-RACE-01
      end
    end
    write(one)
    k:mbarrier_arrive(full1)
    write(two)
    k:mbarrier_arrive(full2)
    if not kit.is "write_without_wait" then k:mbarrier_wait(k:address(empty), 0) end
    write(one)
  end, function()
    local function read(tile)
      local words = k:regs("b32", 4)
      k:ld_shared_v4_b32(words, k:mad_lo_u32(thread - writers, 16, k:mov(tile, { type = "u32" }))) -- MAYBE(read_without_wait write_without_wait wrong_order): WG-RACE-01 -- MAYBE(read_without_wait wrong_order): WG-MEM-04
    end
    if not kit.is "read_without_wait" then k:mbarrier_wait(k:address(full1), 0) end
    read(kit.is "wrong_order" and two or one)
    k:mbarrier_arrive(empty)
    k:mbarrier_wait(k:address(full2), 0)
    read(two)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
