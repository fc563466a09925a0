-- How the time of checking grows with a ring of stages that is written out: wgrun ring.lua. TMA, mbarriers and wgmma,
-- a producer and a consumer, no loop but the polls.
local wg = require "wgrun"
local stages = 3
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }

local function ring(rounds)
  return wg.kernel("ring", { threads = 256 }, function(k)
    local map_a = k:tensor_map("A", { dtype = "bf16", tile = tile })
    local map_b = k:tensor_map("B", { dtype = "bf16", tile = tile })
    local D = k:param("D", "f32*")
    local tiles_a, tiles_b = {}, {}
    for s = 1, stages do tiles_a[s], tiles_b[s] = k:shared(tile, "a" .. s), k:shared(tile, "b" .. s) end
    local full = k:shared { bytes = 8 * stages, align = 8, name = "full" }
    local empty = k:shared { bytes = 8 * stages, align = 8, name = "empty" }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for s = 0, stages - 1 do
        k:mbarrier_init(k:address(full, 8 * s), 1)
        k:mbarrier_init(k:address(empty, 8 * s), 128)
      end
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local zero = k:mov(0, { type = "s32" })
    k:if_((thread >> 7):eq(0), function()
      k:if_(thread:eq(0), function()
        for i = 0, rounds - 1 do
          local s, turn = i % stages, i // stages
          local barrier = k:address(full, 8 * s)
          k:mbarrier_wait(k:address(empty, 8 * s), turn & 1 ~ 1)
          k:mbarrier_arrive_expect_tx(barrier, 2 * tile.bytes)
          k:cp_async_bulk_tensor_2d(tiles_a[s + 1], map_a, { zero, zero }, barrier)
          k:cp_async_bulk_tensor_2d(tiles_b[s + 1], map_b, { zero, zero }, barrier)
        end
      end)
    end, function()
      local acc = k:regs("f32", 32)
      for i = 0, rounds - 1 do
        local s, turn = i % stages, i // stages
        k:mbarrier_wait(k:address(full, 8 * s), turn & 1)
        k:wgmma_fence()
        k:mma(acc, { a = tiles_a[s + 1], b = tiles_b[s + 1], scale_d = i > 0 and 1 or 0 })
        k:wgmma_wait_group(0)
        k:mbarrier_arrive(k:address(empty, 8 * s))
      end
      k:store_accumulator(acc, { to = D, ld = 64, row = 0, col = 0, rows = 64, cols = 64, vector = true })
    end)
  end)
end

-- The shortest of five times, in milliseconds, of a kernel that is made anew each time: a kernel remembers its findings.
for _, rounds in ipairs { 3, 30, 300 } do
  local least = {}
  for _ = 1, 5 do
    local start = os.clock()
    local kernel = ring(rounds)
    local traced = os.clock()
    assert(#kernel:check() == 0)
    local done = os.clock()
    least[1] = math.min(least[1] or math.huge, traced - start)
    least[2] = math.min(least[2] or math.huge, done - traced)
  end
  print(("ring of %3d rounds      trace %8.2f ms, check %8.2f ms"):format(rounds, least[1] * 1e3, least[2] * 1e3))
end
