# CTAs that wait for each other have room on an H200, and not on a smaller chip.
cat > together.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("together", { threads = 32 }, function(k)
  local count, n = k:param("count", "u32*"), k:param("n", "u32")
  k:shared { bytes = 200 * 1024, align = 128, name = "s" }
  k:if_(k:special("tid.x"):eq(0), function() k:red_release_gpu_global_add_u32(count, 1) end)
  k:while_(function() return k:ld_acquire_gpu_global_u32(count):lt(n) end, function() end)
end)
kernel:run { grid = { 100 }, args = { wg.zeros("u32", { 1 }), 100 } }
END
run check --dynamic together.lua
exits 0
run check --dynamic --sms 114 together.lua
exits 0
run check --dynamic --sms 78 together.lua
exits 1
err_has "together.lua:6: error: the kernel hangs: CTA (0, 0, 0) waits for memory to change, and CTA (78, 0, 0) has not begun: 78 SMs have room for 78 CTAs, and none of these ends [WG-SYNC-06]"
run check --sms 0 together.lua
exits 2

# CTAs of wg.mla_decode that have parts of a sequence do not.
cat > latent.lua <<'END'
local wg = require "wgrun"
local decode = wg.mla_decode { heads = 2 }
local Q = wg.randn { shape = { 1, 1, 2, 576 }, dtype = "bf16", seed = 1 }
local cache = wg.randn { shape = { 1, 720, 576 }, dtype = "bf16", seed = 2 }
local function run(grid)
  local O = wg.zeros("bf16", { 1, 1, 2, 512 })
  decode:run(Q, cache, O, { scale = 0.07, grid = grid })
  return O
end
local whole, parts = run(1), run(4)
assert(wg.compare(parts, whole, 0.01) and not wg.compare(parts, whole, 0))
assert(wg.compare(run(4), parts, 0))
END
run run --backend sim --sms 2 latent.lua
exits 0
