-- Groups that hold nothing count, and those of a branch that all threads take together are waited for after it.
-- good: empty conditional conditional_not either nested bulk_empty
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("groups", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local much = k:param("much", "u32")
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local one, two, sum = k:regs("f32", 32), k:regs("f32", 32), k:mov(0, { type = "f32" })
  if kit.is "bulk_empty" then
    -- All threads close a group, only one has a copy in it.
    local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, a, { guard = first })
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(1, { read = true })
    k:bar_sync(0)
    k:st_shared_v4_b32(kit.mine(k, a), kit.words(k))
    k:cp_async_bulk_wait_group(0)
    return
  end
  for i = 0, 31 do
    k:mov(one[i], 0)
    k:mov(two[i], 0)
  end
  if kit.is "empty" then
    k:wgmma_commit_group()
    kit.multiply(k, one, a, b)
    k:wgmma_commit_group()
    k:wgmma_wait_group(1)
    k:add(sum, sum, one[0])
  elseif kit.is("conditional", "conditional_not") then
    kit.multiply(k, one, a, b)
    k:if_(much:gt(kit.is "conditional" and 0 or 5), function() kit.multiply(k, two, a, b) end)
    k:wgmma_wait_group(0)
    k:add(sum, one[0], two[0])
  elseif kit.is "either" then
    k:if_(much:gt(0), function() kit.multiply(k, one, a, b) end, function() kit.multiply(k, two, a, b) end)
    k:wgmma_wait_group(0)
    k:add(sum, one[0], two[0])
  elseif kit.is "nested" then
    k:loop(3, function(i)
      kit.multiply(k, one, a, b)
      k:if_(i:gt(0), function()
        k:wgmma_wait_group(0)
        k:add(sum, sum, one[0])
      end)
      k:wgmma_wait_group(0)
    end)
  end
  k:bar_sync(0)
  k:st_shared_f32(k:mad_lo_u32(k:special "tid.x", 4, k:mov(a, { type = "u32" })), sum)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }), 3 } }
