-- What the PTX ISA leaves open and kernels of others rely on, on the chip (docs/silicon.md):
--   wgrun tests/gpu/left_open.lua [gpu|gpu-cuda]
-- Without a GPU the same kernels run on the simulator, smaller.
local wg = require "wgrun"
local backend = arg and arg[1] or (wg.backend == "sim" and "sim" or "gpu")
local on_chip = wg.backend ~= "sim"
local failed = false

local function say(what, good, figures)
  print(("%s: %s%s"):format(what, good and "yes" or "NO", figures or ""))
  failed = failed or not good
end

-- 1. A barrier of the CTA counts arrivals, and not who arrives: a warp that arrives and then waits at it fills both places.
local counted = wg.kernel("counted", { threads = 64 }, function(k)
  local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
  k:if_(thread:lt(32), function()
    for round = 1, 3 do
      k:bar_arrive(1, { threads = 64 })
      k:bar_sync(1, { threads = 64 })
      k:st_global_u32(k:element(Y, thread), round)
    end
  end)
end)
do
  local Y = wg.zeros("u32", { 32 })
  local went, why = pcall(counted.run, counted, { grid = { 1 }, args = { Y }, backend = backend, unchecked = true, timeout_ms = 2000 })
  local good = went
  for i = 0, 31 do good = good and Y[{ i }] == 3 end
  say("a warp that arrives at a barrier and then waits at it counts twice", good, went and "" or ": " .. tostring(why))
end

-- 2. A stage that ldmatrix has read, and whose mbarrier has been told so, is refilled by a bulk copy, without a fence between
-- the two proxies.
local pieces, rounds, ctas = on_chip and 512 or 4, on_chip and 20000 or 6, on_chip and 264 or 2
local words_per_piece = 512
local function refill(fenced)
  return wg.kernel(fenced and "fenced" or "unfenced", { threads = 160 }, function(k)
    local X, wrong = k:param("X", "const u32*"), k:param("wrong", "u32*")
    local stage = k:shared { bytes = 4 * words_per_piece, align = 128, name = "stage" }
    local full, empty = k:shared { bytes = 8, align = 8, name = "full" }, k:shared { bytes = 8, align = 8, name = "empty" }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      k:mbarrier_init(full, 1)
      k:mbarrier_init(empty, 128)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    k:if_(thread:lt(128), function()
      local lane, warp = thread & 31, thread >> 5
      local at = k:address(stage, warp * 512 + lane * 16)
      local mine = warp * 128 + (lane >> 2) * 4 + (lane & 3)
      local bad = k:mov(0, { type = "u32" })
      k:loop(rounds, function(round)
        k:mbarrier_wait(full, round & 1)
        local r = k:regs("b32", 4)
        k:ldmatrix_x4(r, at)
        if fenced then k:fence_proxy_async() end
        k:mbarrier_arrive(empty)
        local first = (round & (pieces - 1)) * words_per_piece + mine
        for j = 0, 3 do
          k:if_(k:mov(r[j], { type = "u32" }):ne(first + 32 * j), function() bad:set(bad + 1) end)
        end
      end)
      k:red_global_add_u32(k:element(wrong, 0), bad)
    end, function()
      k:if_(thread:eq(128), function()
        k:loop(rounds, function(round)
          k:if_(round:gt(0), function() k:mbarrier_wait(empty, (round - 1) & 1) end)
          k:mbarrier_arrive_expect_tx(full, 4 * words_per_piece)
          k:cp_async_bulk(stage, k:element(X, (round & (pieces - 1)) * words_per_piece), 4 * words_per_piece, full)
        end)
      end)
    end)
  end)
end
do
  local X = wg.zeros("u32", { pieces * words_per_piece })
  for i = 0, pieces * words_per_piece - 1 do X[{ i }] = i end
  for _, fenced in ipairs { false, true } do
    local wrong = wg.zeros("u32", { 1 })
    refill(fenced):run { grid = { ctas }, args = { X, wrong }, backend = backend, unchecked = true }
    say(("a bulk copy refills what ldmatrix has read, %s a proxy fence"):format(fenced and "with" or "without"), wrong[{ 0 }] == 0,
      (": %d of %d words differ"):format(wrong[{ 0 }], 4 * 128 * rounds * ctas))
  end
end

-- 3. The metadata of a sparse wgmma are written right before it, after the wgmma.fence.
local kept = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K" }
local whole = wg.tile { dtype = "bf16", mn = 64, k = 32, major = "K" }
local function sparse(fenced)
  return wg.kernel(fenced and "metadata_fenced" or "metadata", { threads = 128 }, function(k)
    local A, B, M, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("M", "const u32*"), k:param("D", "f32*")
    local thread = k:special "tid.x"
    local a, b = k:shared(kept, "a"), k:shared(whole, "b")
    k:copy_tile { to = a, from = A, ld = 16, line = 0, along = 0, lines = 64, length = 16, vector = true }
    k:copy_tile { to = b, from = B, ld = 32, line = 0, along = 0, lines = 64, length = 32, vector = true }
    k:fence_proxy_async()
    k:bar_sync(0)
    local da, db, acc = k:descriptor(a), k:descriptor(b), k:regs("f32", 32)
    for i = 0, 31 do k:mov(acc[i], 0) end
    local code = k:ld_global_u32(k:element(M, thread))
    k:wgmma_fence()
    k:loop(on_chip and 2000 or 4, function(round)
      local metadata = k:mov(code ~ 0, { type = "b32" })
      if fenced then k:wgmma_fence() end
      k:wgmma_mma_async_sp(acc, da, db, metadata, { n = 64, d = "f32", a = "bf16", b = "bf16", sp_sel = 0 })
      k:wgmma_commit_group()
      k:wgmma_wait_group(0)
      code:set(code ~ 0xAAAAAAAA) -- 0b0100 and 0b1110 in turn
    end)
    for i = 0, 31 do k:st_global_f32(k:element(D, thread * 32 + i), acc[i]) end
  end)
end
do
  local A, B = wg.randn { shape = { 64, 16 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 64, 32 }, dtype = "bf16", seed = 2 }
  local M = wg.zeros("u32", { 128 })
  for i = 0, 127 do M[{ i }] = 0x44444444 end
  local D = {}
  for i, fenced in ipairs { false, true } do
    D[i] = wg.zeros("f32", { 128, 32 })
    sparse(fenced):run { grid = { 1 }, args = { A, B, M, D[i] }, backend = backend, unchecked = true }
  end
  say("metadata written after the wgmma.fence are the ones that count", D[1] == D[2])
end
os.exit(failed and 1 or 0)
