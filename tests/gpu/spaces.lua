-- Generic addresses, local memory, states of mbarriers, votes at barriers, CTAs of three dimensions: what the ISA says of
-- each, on the chip (--backend=gpu, --backend=gpu-cuda) as on the simulator. Exit code 1 where something differs.
local wg = require "wgrun"

local failed = 0
local function check(name, got, want)
  for i = 0, #want - 1 do
    if got[i] ~= want[i + 1] then
      failed = failed + 1
      return print(("FAILED  %s: [%d] is 0x%x, expected 0x%x"):format(name, i, got[i], want[i + 1]))
    end
  end
  print("ok      " .. name)
end

-- Runs a kernel whose threads each store some u32: want(thread, place) is what comes out.
local function case(name, options, places, build, want)
  local block = type(options.threads) == "table" and options.threads or { options.threads, 1, 1 }
  local threads, ctas = block[1] * (block[2] or 1) * (block[3] or 1), options.cluster or 1
  local kernel = wg.kernel(name, { threads = options.threads, cluster = ctas }, function(k)
    local out = k:param("OUT", "u32*")
    local thread = k:mad_lo_u32(k:special "tid.z", k:special "ntid.y", k:special "tid.y")
    thread = k:mad_lo_u32(thread, k:special "ntid.x", k:special "tid.x")
    local index = k:mad_lo_u32(k:special "ctaid.x", threads, thread)
    local at = out + k:mul_wide_u32(index, 4 * places)
    build(k, thread, function(place, value) k:st_global_u32(at + 4 * place, value) end)
  end)
  local result, expected = wg.zeros("u32", { threads * ctas * places }), {}
  for i = 0, threads * ctas - 1 do
    for place = 0, places - 1 do expected[#expected + 1] = want(i, place) & 0xFFFFFFFF end
  end
  kernel:run { grid = { ctas }, args = { result } }
  check(name, result, expected)
end

local function flag(k, p) return k:selp_u32(1, 0, p) end

case("three_dimensions", { threads = { 6, 5, 3 } }, 4, function(k, thread, store)
  store(0, k:special "tid.x")
  store(1, k:special "tid.y" * 100 + k:special "tid.z")
  store(2, k:special "ntid.x" * 10000 + k:special "ntid.y" * 100 + k:special "ntid.z")
  store(3, thread)
end, function(i, place)
  local x, y, z = i % 6, i // 6 % 5, i // 30
  return ({ x, y * 100 + z, 60503, i })[place + 1]
end)

case("lanes", { threads = 64 }, 6, function(k, _, store)
  for i, name in ipairs { "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt" } do
    store(i - 1, k:special(name))
  end
  store(5, k:special "laneid")
end, function(i, place)
  local lane = i % 32
  local own, below = 1 << lane, (1 << lane) - 1
  return ({ own, own | below, below, ~below, ~(own | below), lane })[place + 1]
end)

case("sizes", { threads = 64 }, 3, function(k, _, store)
  local buffer = k:shared { bytes = 3072, name = "buffer" }
  k:st_shared_u32(buffer, 1, { guard = k:special "tid.x":eq(0) })
  store(0, k:special "dynamic_smem_size")
  store(1, k:special "nwarpid")
  store(2, flag(k, k:special "is_explicit_cluster"))
end, function(_, place) return ({ 3072, 64, 0 })[place + 1] end)

case("clocks", { threads = 32 }, 2, function(k, _, store)
  local before, timer = k:special "clock64", k:special "globaltimer"
  k:nanosleep(1000)
  store(0, flag(k, k:special "clock64":ge(before)))
  store(1, flag(k, k:special "globaltimer":ge(timer)))
end, function() return 1 end)

case("generic", { threads = 64 }, 8, function(k, thread, store)
  local buffer = k:shared { bytes = 256, name = "buffer" }
  local stack = k:local_ { bytes = 32, align = 16 }
  local own = k:cvta_shared_u64(k:mov_u64(buffer)) + k:mul_wide_u32(thread, 4)
  local mine = k:cvta_local_u64(stack)
  k:st_u32(own, thread * 3)
  k:st_u32(mine + 4, thread * 5)
  k:bar_sync(0)
  local odd = (thread & 1):eq(1)
  store(0, k:ld_u32(k:selp_u64(own, mine + 4, odd)))
  store(1, k:ld_shared_u32(k:cvt_u32_u64(k:cvta_to_shared_u64(own))))
  store(2, k:ld_local_u32(k:cvta_to_local_u64(mine) + 4))
  store(3, flag(k, k:isspacep_shared(own)))
  store(4, flag(k, k:isspacep_local(own)) * 4 + flag(k, k:isspacep_local(mine)) * 2 + flag(k, k:isspacep_global(mine)))
  store(5, k:atom_relaxed_cta_add_u32(own, 7))
  store(6, k:ld_u32(own))
  k:red_relaxed_cta_add_u32(own, 1)
  store(7, k:ld_u32(own))
end, function(i, place)
  return ({ i % 2 == 1 and i * 3 or i * 5, i * 3, i * 5, 1, 2, i * 3, i * 3 + 7, i * 3 + 8 })[place + 1]
end)

case("local_memory", { threads = 64 }, 6, function(k, thread, store)
  local bytes, words = k:local_ { bytes = 16, align = 4 }, k:local_ { bytes = 32, align = 16 }
  local low = k:cvt_u16_u32(thread)
  for i = 0, 3 do k:st_local_u8(bytes + i, low) end
  k:st_local_v2_u32(words, { thread, thread * 2 })
  k:st_local_v4_u32(words + 16, { thread + 1, thread + 2, thread + 3, thread + 4 })
  store(0, k:ld_local_u32(bytes))
  store(1, k:cvt_u32_s16(k:ld_local_s8(bytes + 2)))
  local pair = k:ld_local_v2_u32(words)
  store(2, pair[0] + pair[1])
  local four = k:ld_local_v4_u32(words + 16)
  store(3, four[0] + four[3])
  store(4, k:cvt_u32_u16(k:ld_local_u16(words)))
  store(5, k:ld_local_u32(words + 4 * 6))
end, function(i, place)
  return ({ i * 0x01010101, i, i * 3, i * 2 + 5, i, i + 3 })[place + 1]
end)

case("peers", { threads = 64, cluster = 2 }, 5, function(k, thread, store)
  local buffer = k:shared { bytes = 256, name = "buffer" }
  local rank = k:special "cluster_ctarank"
  local own = k:cvta_shared_u64(k:mov_u64(buffer)) + k:mul_wide_u32(thread, 4)
  k:st_u32(own, thread + rank * 1000)
  k:barrier_cluster_arrive_unaligned()
  k:barrier_cluster_wait_unaligned()
  local other = k:mapa_u64(own, rank ~ 1)
  store(0, k:ld_u32(other))
  store(1, k:getctarank_u64(other))
  store(2, k:getctarank_u64(own))
  local there = k:mapa_shared_cluster_u32(k:mov_u32(buffer), rank ~ 1)
  store(3, k:getctarank_shared_cluster_u32(there))
  store(4, flag(k, k:isspacep_shared_cta(other)) * 2 + flag(k, k:isspacep_shared_cluster(other)))
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end, function(i, place)
  local thread, rank = i % 64, i // 64
  return ({ thread + (1 - rank) * 1000, 1 - rank, rank, 1 - rank, 1 })[place + 1]
end)

-- Waits until the phase of the state is complete.
local function wait(k, bar, state, name, options)
  local done = k:reg "u32"
  k:mov(done, 0)
  k:while_(function() return done:eq(0) end, function()
    k:selp(done, 1, 0, k[name](k, bar, state, options or {}))
  end)
end

case("states", { threads = 64 }, 4, function(k, thread, store)
  local bar = k:shared { bytes = 8, align = 8, name = "bar" }
  local first = thread:eq(0)
  k:mbarrier_init(bar, 64, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  -- One arrives alone at first, so that the pending count is known.
  k:if_(first, function() k:mbarrier_arrive_state(bar) end)
  k:bar_sync(0)
  k:if_(thread:eq(1), function() store(3, k:mbarrier_pending_count(k:mbarrier_arrive_state(bar, 2))) end)
  k:if_(thread:ne(1), function() store(3, 0) end)
  k:bar_sync(0)
  k:if_(thread:eq(2), function() k:mbarrier_arrive_noComplete(bar, 60) end)
  k:bar_sync(0)
  k:if_(thread:eq(3), function() k:mbarrier_arrive(bar) end)
  k:mbarrier_try_wait_parity(bar, 0)
  k:bar_sync(0)
  store(0, flag(k, k:mbarrier_test_wait_parity(bar, 0)))
  local state = k:mbarrier_arrive_state(bar)
  wait(k, bar, state, "mbarrier_try_wait", { hint = 1000 })
  store(1, flag(k, k:mbarrier_test_wait(bar, state)))
  -- Half of them leave; the others complete the next phase alone.
  k:mbarrier_arrive_drop(bar, 1, { guard = thread:lt(32) })
  k:if_(thread:ge(32), function() wait(k, bar, k:mbarrier_arrive_state(bar), "mbarrier_test_wait") end)
  k:bar_sync(0)
  k:if_(thread:ge(32), function()
    local last = k:mbarrier_arrive_state(bar)
    wait(k, bar, last, "mbarrier_test_wait")
  end)
  store(2, 1)
end, function(i, place) return ({ 1, 1, 1, i == 1 and 63 or 0 })[place + 1] end)

case("bytes", { threads = 32 }, 2, function(k, thread, store)
  local bar = k:shared { bytes = 8, align = 8, name = "bar" }
  local first = thread:eq(0)
  k:mbarrier_init(bar, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(bar, 256, { guard = first })
  k:bar_sync(0)
  store(0, flag(k, k:mbarrier_test_wait_parity(bar, 0)))
  k:bar_sync(0)
  k:mbarrier_complete_tx(bar, 256, { guard = first })
  k:bar_sync(0)
  store(1, flag(k, k:mbarrier_test_wait_parity(bar, 0)))
end, function(_, place) return place end)

case("votes", { threads = 96 }, 5, function(k, thread, store)
  store(0, k:bar_red_popc_u32(1, (thread % 3):eq(0)))
  store(1, flag(k, k:bar_red_and_pred(1, thread:lt(96))))
  store(2, flag(k, k:bar_red_or_pred(1, thread:gt(95))))
  store(3, k:barrier_red_popc_u32(2, thread:lt(40), { threads = 96 }))
  k:barrier_sync(3)
  store(4, flag(k, k:barrier_red_or_pred(2, thread:eq(95))))
end, function(_, place) return ({ 32, 1, 0, 40, 1 })[place + 1] end)

case("lanes_together", { threads = 32 }, 5, function(k, thread, store)
  store(0, k:match_any_sync_b32(thread % 5))
  store(1, k:match_all_sync_b32(thread % 5))
  store(2, k:match_all_sync_b64(k:mov_b64(77)))
  local leader = k:reg "u32"
  local p = k:elect_sync { leader = leader }
  store(3, flag(k, p) + leader * 2)
  store(4, k:activemask_b32())
end, function(i, place)
  local same = 0
  for lane = 0, 31 do if lane % 5 == i % 5 then same = same | 1 << lane end end
  return ({ same, 0, 0xFFFFFFFF, i == 0 and 1 or 0, 0xFFFFFFFF })[place + 1]
end)

os.exit(failed == 0 and 0 or 1)
