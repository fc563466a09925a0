-- WG-TMA-05, kept: A tensor map brings a tile as the descriptor reads it through which wgmma multiplies it: in its type, with its swizzle, in lines as long, and all of it.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.product_ring(function(k, a, b)
  k:cp_async_bulk_tensor_2d(table.unpack(a))
  k:cp_async_bulk_tensor_2d(table.unpack(b))
end, function(k, turn)
  turn.ring:wait(turn.cursor)
  k:wgmma_fence()
  k:wgmma_mma_async(turn.operands(turn.cursor.stage))
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  turn.ring:release(turn.cursor, { lane = turn.lane })
end)
