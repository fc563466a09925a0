-- WG-RACE-02, kept: with wait_group 1 the stage before is released.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.product_ring(function(k, a, b)
  k:cp_async_bulk_tensor_2d(table.unpack(a))
  k:cp_async_bulk_tensor_2d(table.unpack(b))
end, function(k, turn)
  turn.ring:wait(turn.cursor)
  k:wgmma_fence()
  k:wgmma_mma_async(turn.operands(turn.cursor.stage))
  k:wgmma_commit_group()
  k:wgmma_wait_group(1)
  turn.ring:release(turn.kept, { lane = turn.lane, guard = turn.first:gt(0) })
  k:mov(turn.kept.stage, turn.cursor.stage)
end, {
  before = function(k)
    local previous = { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    return previous
  end,
  finally = function(k) k:wgmma_wait_group(0) end,
})
