# --max-memory is also the engine's, where Lua has little.
awk 'BEGIN {
  print ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<100000>;\nmov.u32 %r0, %tid.x;"
  for (i = 1; i < 100000; i++) printf "add.s32 %%r%d, %%r%d, %d;\n", i, int(i / 2), i
  print "ret;\n}"
}' > large.ptx
run check --max-program 0 --max-memory 30 large.ptx
exits 1
err_has 'wgrun: not enough memory: script, checker and simulator may use 30 MiB (--max-memory)'
run check --max-program 0 --max-memory 1000 large.ptx
exits 0
cat > touch.lua <<'LUA'
local wg = require "wgrun"
local touch = wg.kernel("touch", { threads = 256 }, function(k)
  local D = k:param("D", "u32*")
  local i = k:special "ctaid.x" * 256 + k:special "tid.x"
  k:st_global_u32(k:element(D, i * 1024), i)
end)
local function run() touch:run { grid = { 2048, 1, 1 }, args = { wg.zeros("u32", { 1 << 29 }) }, backend = "sim" } end
if arg[1] then assert(not pcall(run)) print "caught" else run() end
LUA
run --max-memory 50 touch.lua
exits 1
err_has 'simulator may use 50 MiB (--max-memory); the Lua state has'
run --max-memory 50 touch.lua catch
exits 0
out caught
run --restricted --max-tensors 3000 touch.lua
exits 0
printf 'local wg = require "wgrun" local g = wg.gemm { dtype = "bf16", problem = { 512, 512, 512 } }' > product.lua
ends_well() { # Whatever the limit is: a result or a message, and no half of a file.
    rm -rf exported
    run export --max-memory "$1" product.lua -o exported
    if [ "$code" = 0 ]; then
        [ -s exported/gemm.json ] || bad "--max-memory $1: no manifest"
    else
        [ "$code" = 1 ] || bad "--max-memory $1: exit code $code"
        grep -q 'not enough memory' err.txt || bad "--max-memory $1: $(cat err.txt)"
        [ ! -e exported/gemm.json ] || bad "--max-memory $1: a manifest"
    fi
}
for mebibytes in 1 2 3 4 5 6 7 8 10 12 20; do ends_well "$mebibytes"; done
[ "$code" = 0 ] || bad "the largest of these limits is too small"

# Each turn leaves a wgmma that nobody waits for, so that no state comes back: exploring them ends before they fill the memory.
cat > pending.lua <<'L'
local wg = require "wgrun"
wg.kernel("pending", { threads = 128 }, function(k)
  local steps, acc = k:param("steps", "u32"), k:regs("f32", 32)
  local room = k:shared { tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }, name = "room" }
  local at = k:descriptor(room)
  for i = 0, 31 do k:mov(acc[i], 0.0) end
  k:wgmma_fence()
  k:loop(steps, function()
    k:wgmma_mma_async(acc, at, at, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
    at:set(at + 2)
  end)
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
L
run check --max-memory 200 pending.lua
out_has "pending: "
