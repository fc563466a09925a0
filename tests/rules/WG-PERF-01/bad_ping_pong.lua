-- WG-PERF-01, broken by two accumulators in turn, one group on its way from iteration to iteration: The wgmma of a kernel overlap: the assembler does not serialise them.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, tile_of in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
    for i = 0, tile_of.bytes // 16 // 128 - 1 do k:st_shared_v4_b32(at, zero, { offset = 128 * 16 * i }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local p, q = k:regs("f32", 32), k:regs("f32", 32)
  local function step(acc)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT ASSEMBLED: WG-PERF-01
    k:wgmma_commit_group()
  end
  local function use(acc)
    local sum = acc[0]
    for i = 1, 31 do sum = sum + acc[i] end
    k:st_global_f32(k:element(X, thread), sum)
  end
  step(p)
  k:loop(k:special "nctaid.x", function()
    step(q)
    k:wgmma_wait_group(1)
    use(p)
    step(p)
    k:wgmma_wait_group(1)
    use(q)
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4096 }) } }
