-- Does the end of wgmma.wait_group in one warp mean that its whole warpgroup has read the operands? One warp is held
-- back for some microseconds; the next one, as soon as its own wait has ended, overwrites what the late one multiplies.
--   wgrun tests/gpu/release.lua
-- docs/silicon.md says what follows. Exit code 5 when a sum is wrong.
local wg = require "wgrun"

local a_tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local b_tile = wg.tile { dtype = "bf16", mn = 128, k = 64, major = "K", swizzle = "128B" }

local function kernel_of(place, overwritten)
  return wg.kernel(("late_%s_%s"):format(place, overwritten), { threads = 128 }, function(k)
    local A, B, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
    local late, hasty, turns = k:param("late", "u32"), k:param("hasty", "u32"), k:param("turns", "u32")
    local sink = k:param("sink", "u32*")
    local a, b = k:shared(a_tile, "a"), k:shared(b_tile, "b")
    k:copy_tile { to = a, from = A, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
    k:copy_tile { to = b, from = B, ld = 64, line = 0, along = 0, lines = 128, length = 64, vector = true }
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    local thread = k:special "tid.x"
    local warp, lane = thread >> 5, thread & 31
    local function hold(here)
      if here ~= place then return end
      k:if_(warp:eq(late), function()
        local x = k:reg "u32"
        k:mov(x, lane)
        k:loop(turns, function() k:mov(x, k:mad_lo_u32(x, 1664525, 1013904223)) end)
        k:st_global_u32(k:element(sink, lane), x)
      end)
    end
    local acc = k:regs("f32", 64)
    local form = { n = 128, k = 16, d = "f32", a = "bf16", b = "bf16" }
    hold "fence" -- before wgmma.fence; the others likewise
    k:wgmma_fence()
    hold "first"
    for step = 0, 3 do
      form.scale_d = step > 0
      if step == 2 then hold "between" end
      k:wgmma_mma_async(acc, k:descriptor(a, { kstep = step }), k:descriptor(b, { kstep = step }), form)
    end
    hold "commit"
    k:wgmma_commit_group()
    hold "wait"
    k:wgmma_wait_group(0)
    k:if_(warp:eq(hasty), function()
      local zeros = k:regs("u32", 4)
      for i = 0, 3 do k:mov(zeros[i], 0) end
      local base = k:mov(overwritten == "a" and a or b, { type = "u32" })
      local bytes = overwritten == "a" and 64 * 128 or 128 * 128
      for i = 0, bytes // 512 - 1 do k:st_shared_v4_u32(base + (lane << 4) + 512 * i, zeros) end
      k:fence_proxy_async { space = "shared::cta" }
    end)
    k:store_accumulator(acc, { to = D, ld = 128, row = 0, col = 0, rows = 64, cols = 128, vector = true })
  end)
end

local A = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { 128, 64 }, dtype = "bf16", seed = 2 }
local sums = {}
for i = 0, 63 do
  for j = 0, 127 do sums[i * 128 + j] = wg.dot(A, 64 * i, 1, B, 64 * j, 1, 64) end
end

local on_chip = wg.backend ~= "sim"
local runs, wrong = 0, 0
for _, place in ipairs { "fence", "first", "between", "commit", "wait" } do
  for _, overwritten in ipairs { "a", "b" } do
    local kernel = kernel_of(place, overwritten)
    local before = wrong
    for late = 0, 3 do
      for _ = 1, on_chip and 5 or 1 do
        local D = wg.zeros("f32", { 64, 128 })
        kernel:run { args = { A, B, D, late, (late + 1) % 4, on_chip and 20000 or 5, wg.zeros("u32", 32) } }
        local good = true
        for i = 0, 63 do
          for j = 0, 127 do good = good and math.abs(D[{ i, j }] - sums[i * 128 + j]) < 1e-3 end
        end
        runs, wrong = runs + 1, wrong + (good and 0 or 1)
      end
    end
    print(("one warp held before %-8s %s overwritten by another: %s"):format(place .. ",", overwritten:upper(), wrong == before and "right" or "WRONG"))
  end
end
print(("%d runs, %d with wrong sums"):format(runs, wrong))
if wrong > 0 then os.exit(5) end
