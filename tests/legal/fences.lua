-- Where a fence.proxy.async may stand: with those who write, or with those who read; of the whole memory, or of the CTA's;
-- in the one thread that issues the copy, once the others have met with it; in another thread that hands on what it has
-- fenced. And where wgmma needs none of its own.
-- good: writers readers issuer issuer_warp neighbour neighbour_mbarrier chain long_chain descriptors
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("fences", { threads = kit.is "issuer_warp" and 32 or 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  local function copy_out()
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, a)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end
  if kit.is("neighbour", "neighbour_mbarrier") then
    local met = kit.mbarriers(k, { 1 })
    local thread = k:special "tid.x"
    k:st_shared_v4_b32(kit.mine(k, a), kit.words(k))
    k:bar_sync(0)
    k:if_(thread:eq(1), function()
      k:fence_proxy_async { space = "shared::cta" }
      k:mbarrier_arrive(met)
    end)
    if kit.is "neighbour" then k:bar_sync(0) end
    k:if_(thread:eq(kit.is "neighbour" and 0 or 64), function()
      if kit.is "neighbour_mbarrier" then k:mbarrier_wait(met, 0) end
      copy_out()
    end)
    return
  end
  if kit.is("issuer", "issuer_warp") then
    k:st_shared_v4_b32(kit.mine(k, a), kit.words(k))
    if kit.is "issuer" then k:bar_sync(0) else k:bar_warp_sync(0xFFFFFFFF) end
    k:if_(first, function()
      k:fence_proxy_async { space = "shared::cta" }
      copy_out()
    end)
    return
  end
  kit.store(k, { a, b })
  if not kit.is "readers" then k:fence_proxy_async { space = "shared::cta" } end
  k:bar_sync(0)
  if kit.is "readers" then k:fence_proxy_async() end
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  if kit.is "chain" then
    k:mma(acc, { a = a, b = b })
    k:mma(acc, { a = a, b = b })
  elseif kit.is "long_chain" then
    k:loop(5, function()
      k:mma(acc, { a = a, b = b })
      k:wgmma_wait_group(1)
    end)
  elseif kit.is "descriptors" then
    -- Descriptors are read when the wgmma is issued: they may change while it runs.
    local da, db = k:descriptor(a), k:descriptor(b)
    k:loop(4, function()
      k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
      k:wgmma_commit_group()
      k:add(da, da, 0)
      k:add(db, db, 0)
    end)
  end
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4, 32 }) } }
