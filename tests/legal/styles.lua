-- Kernels in styles of their own: turns as in FlashAttention-3, fragments that are loaded while the others multiply, loops with two
-- entries, empty groups, barriers named by registers, tiles that are used again for what leaves, mixed swizzles, pieces of stream-K.
-- good: turns fragments entries left empty named by_register panels ldmatrix reused exited swizzles generic pieces half_each votes few
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local function word(k, buffer, i) return k:mad_lo_u32(i, 4, k:mov(buffer, { type = "u32" })) end

local function of(n, more)
  local out = { n = n, k = 16, d = "f32", a = "bf16", b = "bf16" }
  for name, value in pairs(more or {}) do out[name] = value end
  return out
end

local case = {}

-- 256 threads, of which each could have 248 registers: the kernel begins with as many as the largest setmaxnreg.inc asks for.
function case.few()
  local kernel = wg.kernel("few", { threads = 256 }, function(k)
    local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
    local group = k:special "tid.x" >> 7
    k:if_(group:eq(0), function()
      k:setmaxnreg_dec(24)
      kit.store(k, { a, b })
      k:fence_proxy_async()
      k:bar_arrive(1, { threads = 256 })
    end, function()
      k:setmaxnreg_inc(240)
      k:bar_sync(1, { threads = 256 })
      kit.multiply(k, k:regs("f32", 32), a, b)
      k:wgmma_wait_group(0)
    end)
  end)
  kernel:run { grid = 1, args = {} }
end

function case.turns()
  local kernel = wg.kernel("turns", { threads = 384 }, function(k)
    local n, Y = k:param("n", "u32"), k:param("Y", "f32*")
    local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
    local thread = k:special "tid.x"
    k:if_((thread >> 7):eq(0), function() kit.store(k, { a, b }) k:fence_proxy_async() end)
    k:bar_sync(0)
    k:if_((thread >> 7):eq(0), function() k:setmaxnreg_dec(24) end, function()
      k:setmaxnreg_inc(240)
      local turns = k:turns { members = 2, member = (thread >> 7) - 1, barrier = 2 }
      local s, o = k:regs("f32", 32), k:regs("f32", 32)
      for i = 0, 31 do k:mov(o[i], 0) end
      turns:take()
      k:wgmma_fence()
      k:mma(s, { a = a, b = b, scale_d = 0 })
      turns:pass()
      k:wgmma_wait_group(0)
      k:loop(n, function(i)
        local p = k:fragment(s):operand "bf16"
        turns:take()
        k:wgmma_fence()
        k:mma(s, { a = a, b = b, scale_d = 0 })
        k:mma(o, { a = p, b = b })
        turns:pass()
        k:wgmma_wait_group(1)
        k:wgmma_wait_group(0)
      end)
      turns:finish()
      k:st_global_f32(k:element(Y, thread), o[0])
    end)
  end)
  kernel:run { grid = 1, args = { 3, wg.zeros("f32", 384) } }
end

function case.fragments()
  local kernel = wg.kernel("fragments", { threads = 128 }, function(k)
    local X, Y, n = k:param("X", "const u32*"), k:param("Y", "f32*"), k:param("n", "u32")
    local b = k:shared(kit.tile, "b")
    kit.fill(k, { b })
    local thread = k:special "tid.x"
    local acc, f, g = k:regs("f32", 32), k:regs("b32", 4), k:regs("b32", 4)
    for i = 0, 31 do k:mov(acc[i], 0) end
    local function load(r, i) for j = 0, 3 do k:ld_global_b32(r[j], k:element(X, (i * 4 + j) * 128 + thread)) end end
    load(f, k:mov(0, { type = "u32" }))
    k:loop({ from = 0, to = n, step = 2 }, function(i)
      k:wgmma_fence()
      k:wgmma_mma_async(acc, f, k:descriptor(b), of(64))
      k:wgmma_commit_group()
      load(g, i + 1)
      k:wgmma_fence()
      k:wgmma_mma_async(acc, g, k:descriptor(b, { kstep = 1 }), of(64))
      k:wgmma_commit_group()
      k:wgmma_wait_group(1)
      k:if_((i + 2):lt(n), function() load(f, i + 2) end)
      k:wgmma_wait_group(0)
    end)
    k:st_global_f32(k:element(Y, thread), acc[3])
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 4096), wg.zeros("f32", 128), 6 } }
end

function case.entries()
  local kernel = wg.kernel("entries", { threads = 32 }, function(k)
    local Y, n = k:param("Y", "u32*"), k:param("n", "u32")
    local lane = k:special "laneid"
    local i, s = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
    local a, b, done = k:label(), k:label(), k:label()
    k:jump(b, n:gt(5)) -- two entries into one loop
    k:place(a)
    k:add(s, s, 1)
    k:place(b)
    k:add(s, s, 2)
    k:add(i, i, 1)
    k:jump(done, i:ge(n))
    k:jump(a, (i & 1):eq(0))
    k:jump(b)
    k:place(done)
    k:bar_warp_sync()
    k:st_global_u32(k:element(Y, lane), k:mov(k:shfl_sync_bfly(k:mov(s, { type = "b32" }), 1, 31), { type = "u32" }))
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 32), 7 } }
  kernel:run { grid = 1, args = { wg.zeros("u32", 32), 3 } }
end

function case.left()
  local kernel = wg.kernel("left", { threads = 128 }, function(k)
    local X, Y, n = k:param("X", "const u32*"), k:param("Y", "u32*"), k:param("n", "u32")
    local thread = k:special "tid.x"
    local sum = k:mov(0, { type = "u32" })
    k:loop({ from = thread, to = n, step = 128 }, function(i)
      local x = k:ld_global_u32(k:element(X, i))
      k:if_(x:eq(3), function() k:continue_() end)
      k:if_(x:gt(100), function() k:break_() end)
      k:add(sum, sum, x)
    end)
    local total = k:redux_sync_add_u32(sum)
    k:if_(k:elect_sync(), function() k:red_global_add_u32(k:element(Y, 0), total) end)
  end)
  local X = wg.zeros("u32", 500)
  for i = 0, 499 do X[i] = i % 7 end
  X[130] = 1000
  kernel:run { grid = 1, args = { X, wg.zeros("u32", 1), 500 } }
end

function case.empty()
  local kernel = wg.kernel("empty", { threads = 128 }, function(k)
    local Y, n = k:param("Y", "f32*"), k:param("n", "u32")
    local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
    kit.fill(k, { a, b })
    local acc = k:regs("f32", 32)
    for i = 0, 31 do k:mov(acc[i], 0) end
    k:wgmma_commit_group()
    k:wgmma_commit_group()
    k:wgmma_wait_group(5)
    k:loop(n, function(i)
      k:wgmma_fence()
      k:if_((i & 1):eq(0), function()
        k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), of(64))
      end)
      k:wgmma_commit_group()
      k:wgmma_wait_group(1)
    end)
    k:wgmma_wait_group(0)
    k:cp_async_commit_group()
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group_read(3)
    k:st_global_f32(k:element(Y, k:special "tid.x"), acc[1])
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 128), 5 } }
  kernel:run { grid = 1, args = { wg.zeros("f32", 128), 0 } }
end

function case.named()
  local kernel = wg.kernel("named", { threads = 96 }, function(k)
    local Y, n = k:param("Y", "u32*"), k:param("n", "u32")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local thread = k:special "tid.x"
    k:if_(thread:lt(32), function()
      k:loop(n, function(i)
        k:bar_sync(2, { threads = 96 })
        k:st_shared_u32(word(k, S, thread), i)
        k:st_shared_u32(word(k, S, thread + 32), i)
        k:bar_arrive(1, { threads = 96 })
      end)
    end, function()
      k:loop(n, function(i)
        k:bar_arrive(2, { threads = 96 })
        k:bar_sync(1, { threads = 96 })
        k:st_global_u32(k:element(Y, i * 64 + thread - 32), k:ld_shared_u32(word(k, S, 95 - thread)))
      end)
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 256), 4 } }
end

function case.by_register()
  local kernel = wg.kernel("by_register", { threads = 256 }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 1024, align = 16, name = "S" }
    local thread = k:special "tid.x"
    k:st_shared_u32(word(k, S, thread), thread)
    k:bar_sync((thread >> 6) + 3, { threads = 64 })
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(word(k, S, thread ~ 63)))
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 256) } }
end

function case.panels()
  local kernel = wg.kernel("panels", { threads = 128 }, function(k)
    local n = k:param("n", "u32")
    local map = k:tensor_map("Y", { dtype = "f32", box = { 128 } })
    local S = k:shared { bytes = 1536, align = 128, name = "S" }
    local thread = k:special "tid.x"
    local leader = k:reg "pred"
    k:setp_eq_u32(leader, thread, 0)
    local stage = k:mov(0, { type = "u32" })
    k:loop(n, function(i)
      k:if_(leader, function() k:cp_async_bulk_wait_group_read(2) end)
      k:bar_sync(1)
      k:st_shared_f32(word(k, S, stage * 128 + thread), 1.0)
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(2)
      k:if_(leader, function()
        k:cp_async_bulk_tensor_store_1d(map, { k:mov(i * 128, { type = "s32" }) }, k:address(S, stage * 512))
        k:cp_async_bulk_commit_group()
      end)
      k:add(stage, stage, 1)
      k:mov(stage, 0, { guard = stage:eq(3) })
    end)
    k:if_(leader, function() k:cp_async_bulk_wait_group_read(0) end)
  end)
  kernel:run { grid = 1, args = { 7, wg.zeros("f32", 7 * 128) } }
end

function case.ldmatrix()
  local kernel = wg.kernel("ldmatrix", { threads = 128 }, function(k)
    local A, Y = k:tensor_map("A", { tile = kit.tile }), k:param("Y", "f32*")
    local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
    local full = kit.mbarriers(k, { 1 })
    kit.fill(k, { b })
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      k:mbarrier_arrive_expect_tx(full, kit.tile.bytes)
      k:load_tile { tile = kit.tile, map = A, to = k:address(a), mn = 0, k = 0, barrier = full }
    end)
    k:mbarrier_wait(full, 0)
    local lane, warp = thread & 31, thread >> 5
    local acc = k:regs("f32", 32)
    for i = 0, 31 do k:mov(acc[i], 0) end
    local frags = {}
    for step = 0, 3 do
      local row = warp * 16 + (lane & 15)
      local chunk = (lane >> 4) + step * 2
      local at = k:mov(a, { type = "u32" }) + row * 128 + ((chunk ~ (row & 7)) << 4)
      frags[step] = k:regs("b32", 4)
      k:ldmatrix_x4(frags[step], at)
    end
    k:wgmma_fence()
    for step = 0, 3 do k:wgmma_mma_async(acc, frags[step], k:descriptor(b, { kstep = step }), of(64)) end
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
    k:st_global_f32(k:element(Y, thread), acc[0])
  end)
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 64, 64 }), wg.zeros("f32", 128) } }
end

function case.reused()
  local kernel = wg.kernel("reused", { threads = 128 }, function(k)
    local map = k:tensor_map("Y", { dtype = "bf16", box = { 64, 64 }, swizzle = "128B" })
    local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
    kit.fill(k, { a, b })
    local thread = k:special "tid.x"
    local acc = k:regs("f32", 32)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b, scale_d = 0 })
    k:wgmma_wait_group(0)
    k:bar_sync(0) -- all warps' reads of `a` are complete
    local lane, warp = thread & 31, thread >> 5
    for c = 0, 3 do
      local r = k:regs("b32", 4)
      for j = 0, 3 do k:cvt_pair_rn_bf16x2_f32(r[j], acc[8 * c + 2 * j + 1], acc[8 * c + 2 * j]) end
      local row = warp * 16 + (lane & 15)
      local chunk = (lane >> 4) + c * 2
      k:stmatrix_x4(k:mov(a, { type = "u32" }) + row * 128 + ((chunk ~ (row & 7)) << 4), r)
    end
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(thread:eq(96), function()
      local z = k:mov(0, { type = "s32" })
      k:cp_async_bulk_tensor_store_2d(map, { z, z }, a)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group_read(0)
    end)
  end)
  kernel:run { grid = 1, args = { wg.zeros("bf16", { 64, 64 }) } }
end

function case.exited()
  -- warps that have ended do not count at a barrier of the whole CTA
  local kernel = wg.kernel("exited", { threads = 128 }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local thread = k:special "tid.x"
    k:if_(thread:ge(64), function() k:exit() end)
    k:st_shared_u32(word(k, S, thread), thread)
    k:bar_sync(0)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(word(k, S, thread ~ 32)))
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 64) } }
end

function case.swizzles()
  local kernel = wg.kernel("swizzles", { threads = 128 }, function(k)
    local Y = k:param("Y", "f32*")
    local ta = wg.tile { dtype = "f16", mn = 64, k = 32, major = "MN", swizzle = "64B" }
    local tb = wg.tile { dtype = "f16", mn = 24, k = 32, major = "K", swizzle = "none" }
    local a, b = k:shared(ta, "a"), k:shared(tb, "b")
    local z, thread = k:mov(0, { type = "u32" }), k:special "tid.x"
    k:loop({ from = thread, to = ta.bytes // 4, step = 128 }, function(i) k:st_shared_u32(word(k, a, i), z) end)
    k:loop({ from = thread, to = tb.bytes // 4, step = 128 }, function(i) k:st_shared_u32(word(k, b, i), z) end)
    k:fence_proxy_async()
    k:bar_sync(0)
    local acc = k:regs("f32", 12)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = b, scale_d = 0 })
    k:wgmma_wait_group(0)
    k:st_global_f32(k:element(Y, thread), acc[11])
  end)
  kernel:run { grid = 1, args = { wg.zeros("f32", 128) } }
end

function case.generic()
  local kernel = wg.kernel("generic", { threads = 64 }, function(k)
    local Y = k:param("Y", "u32*")
    local S = k:shared { bytes = 256, align = 16, name = "S" }
    local thread = k:special "tid.x"
    local at = k:cvta_shared(k:cvt_u64_u32(word(k, S, thread)))
    k:st_u32(at, thread)
    k:bar_sync(0)
    local there = k:cvta_shared(k:cvt_u64_u32(word(k, S, thread ~ 63)))
    k:st_global_u32(k:element(Y, thread), k:ld_u32(there))
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 64) } }
end

function case.pieces()
  local kernel = wg.kernel("pieces", { threads = 128 }, function(k)
    local P, C, Y, rows, cols, K = k:param("P", "f32*"), k:param("C", "u32*"), k:param("Y", "f32*"), k:param("rows", "u32"), k:param("cols", "u32"), k:param("K", "u32")
    local flag = k:shared { bytes = 4, align = 4, name = "flag" }
    local thread = k:special "tid.x"
    k:each_piece({ m = 64, n = 8, rows = rows, columns = cols, K = K, block = 16 }, function(place, piece)
      local acc = k:regs("f32", 4)
      for i = 0, 3 do k:mov(acc[i], 0) end
      k:loop({ from = piece.from, to = piece.to, step = 16 }, function() for i = 0, 3 do k:add(acc[i], acc[i], 1.0) end end)
      local row, col = place()
      local last = k:reg "pred"
      k:setp_eq_u32(last, thread, thread)
      k:if_(piece.cut, function()
        local done = k:sum_parts { acc = { acc }, partials = P, counters = C, tile = piece.number, part = piece.part, splits = 2, barrier = 1, flag = k:address(flag) }
        k:mov(last, done)
      end)
      k:if_(last, function()
        k:store_accumulator(acc, { to = Y, ld = cols, row = row, col = col, rows = rows, cols = cols })
      end)
      k:bar_sync(0)
    end)
  end)
  local Y = wg.zeros("f32", { 128, 24 })
  if kit.ran(kernel, { grid = 4, args = { wg.zeros("f32", 8 * 2 * 4 * 128 * 4), wg.zeros("u32", 16), Y, 128, 24, 80 } }) then assert(Y[{ 127, 23 }] == 5 and Y[{ 0, 0 }] == 5) end
end

function case.half_each()
  -- cp.async fills one half, TMA the other, of the same tile; both are waited for
  local kernel = wg.kernel("half_each", { threads = 128 }, function(k)
    local X, Y = k:param("X", "const u32*"), k:param("Y", "f32*")
    local a = k:shared { tile = kit.tile, count = 2, name = "a" }
    local full = kit.mbarriers(k, { 1 })
    local thread = k:special "tid.x"
    for i = 0, 3 do k:cp_async_cg(k:mad_lo_u32(thread, 16, k:mov(a, { type = "u32" })) + i * 2048, k:element(X, thread * 4 + 512 * i)) end
    k:if_(thread:eq(0), function()
      k:mbarrier_arrive_expect_tx(full, 8192)
      k:cp_async_bulk(k:address(a, 8192), k:element(X, 0), 8192, full)
    end)
    k:cp_async_wait_all()
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    k:mbarrier_wait(full, 0)
    local acc = k:regs("f32", 32)
    k:wgmma_fence()
    k:mma(acc, { a = a, b = a, b_offset = k:mov(8192, { type = "u32" }), scale_d = 0 })
    k:wgmma_wait_group(0)
    k:st_global_f32(k:element(Y, thread), acc[0])
  end)
  kernel:run { grid = 1, args = { wg.zeros("u32", 2048), wg.zeros("f32", 128) } }
end

function case.votes()
  local kernel = wg.kernel("votes", { threads = 96 }, function(k)
    local X, Y = k:param("X", "const u32*"), k:param("Y", "u32*")
    local thread = k:special "tid.x"
    local p = k:ld_global_u32(k:element(X, thread)):gt(2)
    local any = k:bar_red_or_pred(0, p)
    local count = k:bar_red_popc_u32(0, p)
    k:st_global_u32(k:element(Y, thread), k:selp(count, 0, any, { type = "u32" }))
  end)
  local X = wg.zeros("u32", 96) X[7] = 5
  kernel:run { grid = 1, args = { X, wg.zeros("u32", 96) } }
end

-- Without a variant all of them, for what looks at the kernels alone.
for name, run in pairs(case) do
  if kit.variant == "" or kit.is(name) then run() end
end
