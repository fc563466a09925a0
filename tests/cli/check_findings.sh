# check: every finding of every kernel, on standard error, with rule and fix; exit code 1.
file kernel.lua <<'END'
local wg = require "wgrun"
for _, name in ipairs { "first", "second" } do
  wg.kernel(name, { threads = 128 }, function(k)
    local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
    local a, b = k:shared(tile, "a"), k:shared(tile, "b")
    local acc = k:regs("f32", 32)
    k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = false })
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end)
end
END
run check kernel.lua
exits 1
err_has "kernel.lua:7: error: "
err_has "WG-FENCE"
out_has "kernel.lua: 2 kernels, "
run check --json kernel.lua
exits 1
err ""
out_has '"rule": "WG-FENCE'
out_has '"line": 7'
run ptx kernel.lua
exits 1
out ""
err_has "kernel.lua:7: error: "
run kernel.lua
exits 0

# A law of several instructions is cited from the section of the one that breaks it.
cites() { run check "$SOURCE/tests/rules/$1.lua"; exits 1; err_has "(PTX ISA $2)"; }
cites WG-SYNC-01/bad_setmaxnreg 9.7.19.5
cites WG-SYNC-01/bad_commit 9.7.15.7.2
cites WG-SYNC-08/bad_excerpt 9.7.13.12
