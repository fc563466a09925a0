-- A bulk copy that all 32 lanes of a warp execute: each lane issues one, so that a reduction adds 32 times.
local wg = require "wgrun"

local function adds(name, alone)
  return wg.kernel(name, { threads = 32 }, function(k)
    local map = k:tensor_map("sums", { dtype = "f32", box = { 8, 8 } })
    local box = k:shared { bytes = 256, align = 128, name = "box" }
    local lane, start, zero = k:special "tid.x", k:mov_u32(box), k:mov_b32(0)
    for half = 0, 1 do k:st_shared_f32(k:mad_lo_u32(lane, 4, start) + 128 * half, 1.0) end
    k:fence_proxy_async()
    k:bar_sync(0)
    local function reduce()
      k:cp_reduce_async_bulk_tensor_2d(map, { zero, zero }, box, { op = "add" })
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end
    if alone then k:if_(lane:eq(0), reduce) else reduce() end
  end)
end

for lanes, kernel in pairs { [1] = adds("by_one_lane", true), [32] = adds("by_the_warp", false) } do
  local sums = wg.zeros("f32", { 8, 8 })
  kernel:run { grid = 1, args = { sums } }
  print(("%d lanes: %g and %g"):format(lanes, sums[{ 0, 0 }], sums[{ 7, 7 }]))
  assert(sums[{ 0, 0 }] == lanes and sums[{ 7, 7 }] == lanes)
end
