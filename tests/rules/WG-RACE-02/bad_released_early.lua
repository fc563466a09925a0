-- WG-RACE-02, broken: the stage is released while the wgmma that read it may still run.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.product_ring(function(k, a, b)
  k:cp_async_bulk_tensor_2d(table.unpack(a)) -- EXPECT: WG-RACE-02
  k:cp_async_bulk_tensor_2d(table.unpack(b)) -- EXPECT: WG-RACE-02
end, function(k, turn)
  turn.ring:wait(turn.cursor)
  k:wgmma_fence()
  k:wgmma_mma_async(turn.operands(turn.cursor.stage))
  k:wgmma_commit_group()
  turn.ring:release(turn.cursor, { lane = turn.lane })
  k:wgmma_wait_group(0)
end)
