-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_async_shared_store_expect_bytes, test_async_shared_store_completion, test_async_shared_store_split_recipients,
-- test_async_shared_store_proxy_handoff. st.async to a peer: its mbarrier must expect the bytes that come, only its
-- phase says that they have come, and for the bulk-copy engine they were written through the generic proxy.
-- bad: mismatch no_wait split_mismatch no_fence
-- good: match split fence
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("stores", { threads = 32, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local got = k:shared { bytes = 512, align = 128, name = "got" }
  local bar = kit.mbarriers(k, { 1 })
  local lane, rank = k:special "laneid", k:special "cluster_ctarank"
  local first, words, zero = lane:eq(0), kit.words(k), k:mov(0, { type = "s32" })
  local at = k:mad_lo_u32(lane, 16, k:mov(got, { type = "u32" }))
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  local bytes = kit.is("mismatch", "split_mismatch") and 516 or 512
  k:mbarrier_arrive_expect_tx(bar, bytes, { guard = first })
  meet()
  if kit.is("split", "split_mismatch") then
    -- The even lanes of both CTAs write to CTA 0, the odd ones to CTA 1.
    local to = lane & 1
    local place = k:mad_lo_u32((lane >> 1) + (rank << 4), 16, k:mov(got, { type = "u32" }))
    k:st_async_v4_b32(k:mapa(place, to), words, k:mapa(k:address(bar), to))
  else
    k:st_async_v4_b32(k:mapa(at, rank ~ 1), words, k:mapa(k:address(bar), rank ~ 1)) -- EXPECT(no_wait): WG-TMA-03
  end
  if not kit.is "no_wait" then k:mbarrier_wait(k:address(bar), 0) end -- EXPECT(mismatch split_mismatch): WG-MBAR-05
  if kit.is("fence", "no_fence") then
    local row = k:mov(rank << 2, { type = "s32" })
    if kit.is "fence" then k:fence_proxy_async() end
    k:cp_async_bulk_tensor_store_2d(map, { zero, row }, got, { guard = first }) -- EXPECT(no_fence): WG-PROXY-01
    k:cp_async_bulk_commit_group { guard = first }
    k:cp_async_bulk_wait_group(0, { guard = first })
  else
    k:ld_shared_b32(at) -- MAYBE(no_wait): WG-TMA-02 -- MAYBE(no_wait): WG-MEM-04
  end
  meet()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 8, 32 }) } }
