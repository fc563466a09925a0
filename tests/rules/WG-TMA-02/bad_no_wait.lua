-- WG-TMA-02, broken: the consumers multiply a stage without waiting for it.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.product_ring(function(k, a, b)
  k:cp_async_bulk_tensor_2d(table.unpack(a))
  k:cp_async_bulk_tensor_2d(table.unpack(b))
end, function(k, turn)
  k:wgmma_fence()
  k:wgmma_mma_async(turn.operands(turn.cursor.stage)) -- EXPECT: WG-TMA-02
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  turn.ring:release(turn.cursor, { lane = turn.lane })
end, { fixed = 256 })
