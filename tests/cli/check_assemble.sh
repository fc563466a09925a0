# check --assemble: what the assembler notes, at the lines of the script.
file serial.lua <<'L'
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
wg.kernel("serial", { threads = 256 }, function(k)
  local out = k:param("out", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b"); local z = k:regs("b32", 4); for i = 0, 3 do k:mov(z[i], 0) end; for i = 0, 12288, 4096 do k:st_shared_v4_b32(k:mad_lo_u32(k:special "tid.x", 16, k:mov(a, { type = "u32" })) + i, z) end; k:fence_proxy_async(); k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  for i = 0, 31 do k:mov(acc[i], 0) end
  local first = (k:special "tid.x" >> 7):eq(0)
  k:if_(first, function() k:wgmma_fence() end, function() k:wgmma_fence() end)
  k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(out, k:special "tid.x"), acc[0])
end)
L
# Without an assembler it says so, and the rest of the check stands.
run check --assemble serial.lua
exits 0
out_has "not assembled: ptxas was not found: switched off by WGRUN_CUDA=off; no GPU to run on: switched off"
out_has "serial.lua: 1 kernel, 0 errors, 0 remarks"
run check --assemble --json serial.lua
exits 0
out_has '"not_assembled": "ptxas was not found'

unset WGRUN_CUDA
export CUDA_VISIBLE_DEVICES=
run doctor
if grep -q "^ptxas  *missing" out.txt; then echo "skipped: no ptxas"; exit 77; fi
run check --assemble serial.lua
exits 0
out_has "registers a thread (estimate: 58), 16384 bytes of shared memory, 0 bytes spilled (ptxas"
out_has "serial.lua: 1 kernel, 0 errors, 1 remark"
err_has "serial.lua:11: warning: the wgmma are serialized: a fence would be needed in a branch that may diverge (C7520) [WG-PERF-01]"
run check --assemble --json serial.lua
exits 0
out_has '"registers": '
out_has '"rule": "WG-PERF-01"'

# Every note that a kernel of ours is known to bring about, by its code.
notes() { # CODE RULE/CASE
    run check --assemble "$SOURCE/tests/rules/$2.lua"
    exits 0
    err_has "($1)"
}
notes C7507 WG-PERF-03/bad_excerpt
notes C7512 WG-PERF-01/bad_registers
notes C7511 WG-PERF-01/bad_writes
notes C7512 WG-PERF-01/bad_no_room
notes C7514 WG-PERF-01/bad_ping_pong
notes C7519 WG-PERF-02/bad_excerpt
notes C7520 WG-PERF-01/bad_excerpt

# A bug of the world: accumulators of a whole tile in one warpgroup, and shared by two.
run check --assemble "$SOURCE/tests/bugs/lesson14_accumulators_of_one_warpgroup.lua" one
exits 0
err_has "(C7511) [WG-PERF-01]"
run check --assemble "$SOURCE/tests/bugs/lesson14_accumulators_of_one_warpgroup.lua" two
exits 0
out_has "0 bytes spilled"
out_has "1 kernel, 0 errors, 0 remarks"

# Scripts see them too.
sed 's/^wg.kernel/local kernel = wg.kernel/' serial.lua >report.lua
echo 'local finding = kernel:report().findings[1] print(finding.rule, finding.line)' >>report.lua
run report.lua
exits 0
out_has "WG-PERF-01	11"

# What the assembler refuses is an error at the line that asks for it.
file refused.lua <<'L'
local wg = require "wgrun"
local wide = wg.tile { dtype = "bf16", mn = 256, k = 64, major = "K" }
wg.kernel("refused", { threads = 1024 }, function(k)
  local B = k:shared(wide, "b"); local b, z = k:descriptor(B), k:regs("b32", 4); for i = 0, 3 do k:mov(z[i], 0) end; for i = 0, 16384, 16384 do k:st_shared_v4_b32(k:mad_lo_u32(k:special "tid.x", 16, k:mov(B, { type = "u32" })) + i, z) end; k:fence_proxy_async(); k:bar_sync(0)
  local acc = k:regs("f32", 128)
  k:setmaxnreg_dec(56) k:wgmma_fence()
  k:wgmma_mma_async(acc, b, b, { n = 256, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
L
run check --assemble refused.lua
exits 3
err_has "refused.lua:7: warning: this wgmma and what is alive here need 154 registers of a thread or more, and it has 56"
err_has "refused.lua:7: ptxas: line "
err_has "(C7602)"
# Without setmaxnreg, which it might ignore, that is known before.
sed 's/k:setmaxnreg_dec(56) //' refused.lua >known.lua
run check known.lua
exits 1
err_has "known.lua:7: error: this wgmma needs 154 registers of a thread, of which a CTA of 1024 threads has 64: the assembler refuses it [WG-REG-04]"
