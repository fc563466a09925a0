-- mbarriers in other styles: one for each warp, a whole warp that produces, tokens, a second life, bytes announced apart from the
-- arrival, cp.async with and without .noinc, threads that drop out, two warpgroups that share a stage.
-- good: by_warp producer_warp tokens made_again announced_apart noinc counted dropped two_consumers
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end

local case = {}

function case.by_warp()
  -- every warp has its own mbarrier and its own bytes
  local kernel = wg.kernel("by_warp", { threads = 128 }, function(k)
    local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
    local S = k:shared { bytes = 4 * 128, align = 128, name = "S" }
    local bars = k:shared { bytes = 32, align = 8, name = "bars" }
    local thread, lane = k:special "tid.x", k:special "laneid"
    local warp = thread >> 5
    local bar, mine = k:address(bars, warp * 8), k:address(S, warp * 128)
    k:if_(lane:eq(0), function() k:mbarrier_init(bar, 1) k:fence_mbarrier_init() end)
    k:bar_warp_sync()
    local phase = k:mov(0, { type = "u32" })
    k:loop({ from = warp, to = n, step = 4 }, function(i)
      k:if_(k:elect_sync(), function()
        k:mbarrier_arrive_expect_tx(bar, 128)
        k:cp_async_bulk(mine, k:element(X, i * 32), 128, bar)
      end)
      k:mbarrier_wait(bar, phase)
      k:st_global_f32(k:element(Y, i * 32 + lane), k:ld_shared_f32(k:mad_lo_u32(lane ~ 3, 4, mine)))
      phase:set(phase ~ 1)
      k:fence_proxy_async()
      k:bar_warp_sync()
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 320), wg.zeros("f32", 320), 10 } }
end

function case.producer_warp()
  local kernel = wg.kernel("producer_warp", { threads = 160 }, function(k)
    local A, n, Y = k:tensor_map("A", { tile = kit.tile }), k:param("n", "u32"), k:param("Y", "f32*")
    local a = k:shared { tile = kit.tile, count = 3, name = "a" }
    local ring = k:pipeline { stages = 3, arrivals = 4 }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function() ring:init() end)
    k:bar_sync(0)
    k:if_((thread >> 5):eq(4), function()
      local c = ring:cursor()
      k:loop(n, function(i)
        ring:acquire(c) -- the whole warp waits
        k:if_(k:elect_sync(), function()
          local b = ring:expect(c, kit.tile.bytes)
          k:load_tile { tile = kit.tile, map = A, to = k:address(a, c.stage * kit.tile.bytes), mn = 0, k = i * 64, barrier = b }
        end)
        k:bar_warp_sync()
        ring:advance(c)
      end)
    end, function()
      local c = ring:cursor()
      local acc = k:regs("f32", 32)
      for i = 0, 31 do k:mov(acc[i], 0) end
      k:loop(n, function(i)
        ring:wait(c)
        k:wgmma_fence()
        k:mma(acc, { a = a, b = a, a_offset = c.stage * kit.tile.bytes, b_offset = c.stage * kit.tile.bytes })
        k:wgmma_wait_group(0)
        ring:release(c, { lane = thread & 31 })
        ring:advance(c)
      end)
      k:st_global_f32(k:element(Y, thread), acc[0])
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 64, 448 }), 7, wg.zeros("f32", 128) } }
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 64, 64 }), 0, wg.zeros("f32", 128) } }
end

function case.tokens()
  local kernel = wg.kernel("tokens", { threads = 128 }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 512, align = 16, name = "S" }
    local bar = kit.mbarriers(k, { 128 })
    local thread = k:special "tid.x"
    for turn = 0, 3 do
      k:st_shared_u32(word(k, S, thread), turn)
      local token = k:mbarrier_arrive_state(bar)
      local ok = k:reg "pred"
      k:repeat_(function()
        k:mbarrier_test_wait(ok, bar, token)
        return ~ok
      end)
      k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(word(k, S, thread ~ 64)))
      local second = k:mbarrier_arrive_state(bar)
      k:repeat_(function()
        k:mbarrier_try_wait(ok, bar, second)
        return ~ok
      end)
    end
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 128) } }
end

function case.made_again()
  local kernel = wg.kernel("made_again", { threads = 96 }, function(k)
    local thread = k:special "tid.x"
    local bar = kit.mbarriers(k, { 96 })
    k:mbarrier_arrive(bar)
    k:mbarrier_wait(bar, 0)
    k:bar_sync(0)
    k:if_(thread:eq(95), function()
      k:mbarrier_inval(bar)
      k:st_shared_b64(bar, 0)
      k:mbarrier_init(bar, 3)
    end)
    k:bar_sync(0)
    k:if_((thread & 31):eq(31), function() k:mbarrier_arrive(bar) end)
    k:mbarrier_wait(bar, 0)
  end)
  kernel:run { grid = 1, args = {} }
end

function case.announced_apart()
  local kernel = wg.kernel("announced_apart", { threads = 64 }, function(k)
    local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
    local S = k:shared { bytes = 256, align = 128, name = "S" }
    local full = kit.mbarriers(k, { 2 })
    local thread = k:special "tid.x"
    k:if_((thread & 31):eq(0), function()
      k:mbarrier_expect_tx(full, 128)
      k:cp_async_bulk(k:address(S, thread * 4), k:element(X, thread), 128, full)
      k:mbarrier_arrive(full)
    end)
    k:mbarrier_wait(full, 0)
    k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(word(k, S, 63 - thread)))
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 64), wg.zeros("f32", 64) } }
end

function case.noinc()
  local kernel = wg.kernel("noinc", { threads = 64 }, function(k)
    local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local full, empty = kit.mbarriers(k, { 32, 32 })
    local thread, lane = k:special "tid.x", k:special "laneid"
    local phase = k:mov(0, { type = "u32" })
    k:if_(thread:lt(32), function()
      k:loop(n, function(i)
        k:mbarrier_wait(empty, phase ~ 1)
        k:cp_async_ca(word(k, S, lane), k:element(X, i * 32 + lane), { bytes = 4 })
        k:cp_async_mbarrier_arrive_noinc(full)
        phase:set(phase ~ 1)
      end)
    end, function()
      k:loop(n, function(i)
        k:mbarrier_wait(full, phase)
        k:st_global_f32(k:element(Y, i * 32 + lane), k:ld_shared_f32(word(k, S, 31 - lane)))
        k:mbarrier_arrive(empty)
        phase:set(phase ~ 1)
      end)
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 160), wg.zeros("f32", 160), 5 } }
end

function case.counted()
  local kernel = wg.kernel("counted", { threads = 64 }, function(k)
    local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local full = kit.mbarriers(k, { 64 })
    local thread = k:special "tid.x"
    k:cp_async_ca(word(k, S, thread), k:element(X, thread), { bytes = 4 })
    k:cp_async_mbarrier_arrive(full)
    k:mbarrier_arrive(full)
    k:mbarrier_wait(full, 0)
    k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(word(k, S, thread ~ 40)))
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 64), wg.zeros("f32", 64) } }
end

function case.dropped()
  local kernel = wg.kernel("dropped", { threads = 64 }, function(k)
    local bar = kit.mbarriers(k, { 64 })
    local thread = k:special "tid.x"
    k:if_(thread:lt(32), function() k:mbarrier_arrive_drop(bar) end, function()
      k:mbarrier_arrive(bar)
      local parity = k:mov(0, { type = "u32" })
      k:loop(4, function()
        k:mbarrier_wait(bar, parity)
        parity:set(parity ~ 1)
        k:mbarrier_arrive(bar)
      end)
      k:mbarrier_wait(bar, parity)
    end)
  end)
  kernel:run { grid = 1, args = {} }
end

function case.two_consumers()
  local kernel = wg.kernel("two_consumers", { threads = 384 }, function(k)
    local A, B, n, Y = k:tensor_map("A", { tile = kit.tile }), k:tensor_map("B", { tile = kit.tile }), k:param("n", "u32"), k:param("Y", "f32*")
    local a = k:shared { tile = kit.tile, count = 4, name = "a" }
    local b = k:shared { tile = kit.tile, count = 2, name = "b" }
    local f0, f1, e0, e1 = kit.mbarriers(k, { 1, 1, 2, 2 })
    local thread = k:special "tid.x"
    local group = thread >> 7
    k:if_(group:eq(2), function()
      k:setmaxnreg_dec(32)
      k:if_(thread:eq(256), function()
        local phase = k:mov(1, { type = "u32" })
        k:loop({ from = 0, to = n, step = 2 }, function(i)
          for s, pair in ipairs { { f0, e0 }, { f1, e1 } } do
            k:if_((i + (s - 1)):lt(n), function()
              k:mbarrier_wait(pair[2], phase)
              k:mbarrier_arrive_expect_tx(pair[1], 3 * kit.tile.bytes)
              for g = 0, 1 do k:load_tile { tile = kit.tile, map = A, to = k:address(a, ((s - 1) * 2 + g) * kit.tile.bytes), mn = g * 64, k = (i + (s - 1)) * 64, barrier = k:address(pair[1]) } end
              k:load_tile { tile = kit.tile, map = B, to = k:address(b, (s - 1) * kit.tile.bytes), mn = 0, k = (i + (s - 1)) * 64, barrier = k:address(pair[1]) }
            end)
          end
          phase:set(phase ~ 1)
        end)
      end)
    end, function()
      k:setmaxnreg_inc(224)
      local acc, phase = k:regs("f32", 32), k:mov(0, { type = "u32" })
      for i = 0, 31 do k:mov(acc[i], 0) end
      k:loop({ from = 0, to = n, step = 2 }, function(i)
        for s, pair in ipairs { { f0, e0 }, { f1, e1 } } do
          k:if_((i + (s - 1)):lt(n), function()
            k:mbarrier_wait(pair[1], phase)
            k:wgmma_fence()
            k:mma(acc, { a = a, b = b, a_offset = group * kit.tile.bytes + 2 * (s - 1) * kit.tile.bytes, b_offset = k:mov((s - 1) * kit.tile.bytes, { type = "u32" }) })
            k:wgmma_wait_group(0)
            k:bar_sync(group + 1, { threads = 128 })
            k:if_((thread & 127):eq(0), function() k:mbarrier_arrive(pair[2]) end)
          end)
        end
        phase:set(phase ~ 1)
      end)
      k:st_global_f32(k:element(Y, thread), acc[0])
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 128, 320 }), wg.zeros("bf16", { 64, 320 }), 5, wg.zeros("f32", 256) } }
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 128, 64 }), wg.zeros("bf16", { 64, 64 }), 0, wg.zeros("f32", 256) } }
end

-- Without a variant all of them, for what looks at the kernels alone.
for name, run in pairs(case) do
  if kit.variant == "" or kit.is(name) then run() end
end
