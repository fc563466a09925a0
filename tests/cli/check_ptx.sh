# A PTX text is checked as a script is: findings at its lines and at those of its source.
run check "$SOURCE/tests/ptx/missing_fence.ptx"
exits 1
err_has "missing_fence.ptx:32: error: an accumulator is accessed by a thread, and no wgmma.fence comes between that and this wgmma [WG-FENCE-01]"
err_has "product.cu:15: the source"
err_has "product.cu:20: which is inlined here"
err_has "missing_fence.ptx:30: accessed here"
err_has "fix: wgmma.fence.sync.aligned before line 32"
out_has "missing_fence.ptx:8: product: "
out_has ": 1 kernel, 1 error, 0 remarks"

run check "$SOURCE/tests/ptx/wait_loops.ptx"
exits 0
err ""

# A bulk copy takes what threads wrote: with the fence nothing is found.
run check "$SOURCE/tests/ptx/unfenced_store.ptx"
exits 1
err_has "unfenced_store.ptx:24: error: the bulk copy reads shared memory that was written through the generic proxy, with no fence.proxy.async in between [WG-PROXY-01]"
err_has "unfenced_store.ptx:18: written here"
err_has "fix: fence.proxy.async"
out_has ": 2 kernels, 1 error, 0 remarks"

# Values smaller than a row of a matrix, where their addresses are known.
run check "$SOURCE/tests/ptx/unfenced_values.ptx"
exits 1
err_has "unfenced_values.ptx:21: error: the bulk copy reads shared memory that was written through the generic proxy, with no fence.proxy.async in between [WG-PROXY-01]"
err_has "unfenced_values.ptx:17: written here"
out_has ": 2 kernels, 1 error, 0 remarks"

# A tensor map that the kernel changes, and a copy through it.
run check "$SOURCE/tests/ptx/changed_map.ptx"
exits 1
err_has "changed_map.ptx:27: error: the bulk copy goes through a tensor map in memory with no fence.proxy.tensormap since it was changed [WG-PROXY-03]"
err_has "changed_map.ptx:23: changed here"
err_has "changed_map.ptx:121: error: this fence.proxy.tensormap acquires a tensor map that the kernel changes, and nothing after the change releases it [WG-PROXY-03]"
err_has "changed_map.ptx:118: changed here"
out_has ": 4 kernels, 2 errors, 0 remarks"

# Stores to places that memory holds, and copies of pixels: what comes after them is decided all the same.
run check "$SOURCE/tests/ptx/unknown_places.ptx"
exits 1
err_has "unknown_places.ptx:28: error: the kernel hangs: warp 0 waits for phase 0 (parity 0) of the mbarrier \`full\`: 64 of 65 arrivals have come"
err_has "unknown_places.ptx:58: error: the kernel hangs: warp 0 waits for phase 0 (parity 0) of the mbarrier \`full\`: 1 of 2 arrivals has come"
out_has ": 2 kernels, 2 errors, 0 remarks"

# Reads of parameters: beyond one, beyond all of them, and misaligned.
run check "$SOURCE/tests/ptx/parameters.ptx"
exits 1
err_has "parameters.ptx:11: error: the kernel reads 4 bytes at byte 4 of the parameter \`n\`, which has 4 [WG-MEM-07]"
err_has "parameters.ptx:12: error: the kernel reads 8 bytes at byte 0 of the parameter \`n\`, which has 4 [WG-MEM-07]"
err_has "parameters.ptx:13: error: the kernel reads 8 bytes at byte 12 of the parameter \`s\`, which has 16 [WG-MEM-07]"
err_has "parameters.ptx:14: error: the kernel reads 4 bytes at byte 18 of the parameters (byte 2 of \`s\`), which is not a multiple of 4 [WG-MEM-02]"
err_has "parameters.ptx:43: error: thread 0 loads 4 bytes at byte 24 of the parameters, which have 24 [WG-MEM-07]"
out_has ": 3 kernels, 5 errors, 0 remarks"

# A copy of a register that a compiler makes has been through what the register has, and whoever reads it reads the register.
run check "$SOURCE/tests/ptx/copied_registers.ptx"
exits 0
err ""
copies() { sed "$1" "$SOURCE/tests/ptx/copied_registers.ptx" > copies.ptx; run check copies.ptx; exits 1; err_has "$2"; }
copies '/wait_group/d' "copies.ptx:46: error: an accumulator of a wgmma is read while the wgmma may still run [WG-GROUP-01]"
copies 's/mov.b32 %r7, %f3;/mov.b32 %r7, %f3; add.u32 %r12, %r7, 1;/' "copies.ptx:45: error: an accumulator of a wgmma is read while"
copies '/add.f32/d; s/mov.b32 %r0, %f4;/add.f32 %f4, %f4, %f4; mov.b32 %r0, %f4;/' "copies.ptx:39: error: a register of the A fragment is accessed by a thread, and no wgmma.fence comes between that and this wgmma [WG-FENCE-01]"
copies 's/mov.b32 %r3, %f7;/cvt.rna.tf32.f32 %r3, %f7;/' "copies.ptx:40: error: a register of the A fragment is accessed by a thread"

# The boxes of tensor maps are not told: what a phase expects is what its copies bring.
run check "$SOURCE/tests/ptx/tensor_copy.ptx"
exits 0
err ""
without() { sed "$1" "$SOURCE/tests/ptx/tensor_copy.ptx" > mutant.ptx; run check mutant.ptx; exits 1; err_has "$2"; }
without '/expect_tx/d' "mutant.ptx:39: error: the kernel hangs: warp 0 waits for phase 0"
without 's/arrive.expect_tx\(.*\), 9216;/arrive\1;/' "mutant.ptx:37: error: warp 0 copies into phase 1 of \`full\`, and has not waited for phase 0 [WG-MBAR-03]"
without '/bar.sync/d' "error: nothing tells the other lanes of warp 0 that the mbarrier \`full\` is initialised [WG-MBAR-02]"
without 's/mbarrier.try_wait.*;/setp.eq.u32 %p2, 0, 0;/' "mutant.ptx:49: error: the wgmma reads \`a\`, and nothing makes it wait for the copy that fills it [WG-TMA-02]"
without '/cp.async.bulk/d' "1 of 1 arrivals has come, 9216 bytes are outstanding [WG-MBAR-05]"

# Nothing says how many threads a CTA has: what follows from that is not checked, and ptxas ignores setmaxnreg.
file anonymous.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
    setmaxnreg.dec.sync.aligned.u32 40;
    ret;
}
END
run check anonymous.ptx
exits 0
err_has "anonymous.ptx:6: warning: ptxas ignores every setmaxnreg here"
out_has "not decided: neither .reqntid nor .maxntid says how many threads a CTA has"

# From standard input, and as JSON and SARIF.
input=$(cat "$SOURCE/tests/ptx/missing_fence.ptx")
run check --json -
exits 1
out_has '"rule": "WG-FENCE-01"'
out_has '"name": "product"'
run check --sarif -
exits 1
out_has '"ruleId": "WG-FENCE-01"'
input=

# What is proposed is a line of the text.
run check --json "$SOURCE/tests/ptx/missing_fence.ptx"
exits 1
out_has '"text": "    wgmma.fence.sync.aligned;\n"'
run check --sarif "$SOURCE/tests/ptx/missing_fence.ptx"
exits 1
out_has '"text": "    wgmma.fence.sync.aligned;\n"'
out_has '"text": "insert wgmma.fence.sync.aligned; before line 32"'

# Several texts are one document; the exit code is that of the worst.
cp "$SOURCE/tests/ptx/wait_loops.ptx" "$SOURCE/tests/ptx/missing_fence.ptx" "$SOURCE/tests/ptx/unfenced_store.ptx" .
file torn.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() { mov.b32 %r1 %r2; }
END
run check --json wait_loops.ptx missing_fence.ptx unfenced_store.ptx
exits 1
python3 - out.txt <<'END' || bad "the document"
import json, sys
found = json.load(open(sys.argv[1]))
assert [(f["rule"], f["file"]) for f in found["findings"]] == [
    ("WG-FENCE-01", "missing_fence.ptx"), ("WG-PROXY-01", "unfenced_store.ptx")], found["findings"]
files = [kernel["file"] for kernel in found["kernels"]]
assert sorted(set(files)) == ["missing_fence.ptx", "unfenced_store.ptx", "wait_loops.ptx"], files
END
run check --sarif missing_fence.ptx unfenced_store.ptx
exits 1
python3 - out.txt <<'END' || bad "the document"
import json, sys
(one,) = json.load(open(sys.argv[1]))["runs"]
findings = [result["ruleId"] for result in one["results"] if "kind" not in result]  # the others are verdicts
assert findings == ["WG-FENCE-01", "WG-PROXY-01"], findings
END
run check --json wait_loops.ptx torn.ptx missing_fence.ptx
exits 3
out_has '"file": "torn.ptx"'
out_has '"file": "missing_fence.ptx"'
run check --json wait_loops.ptx wait_loops.ptx
exits 0
run check --fix --json missing_fence.ptx unfenced_store.ptx
exits 2
err_has "for one PTX text at a time"
run check --diff missing_fence.ptx unfenced_store.ptx
exits 0
out_has "+    wgmma.fence.sync.aligned;"
out_has "+++ unfenced_store.ptx"

# A script on standard input is still a script.
input='print(6 * 7)'
run check -
exits 0
err_has "42"
input=

# What is no PTX is said to be none, all of it, and with another exit code.
file bad.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<4>;
    mov.b32 %r1 %r2;
    add.s32 %r1, %r2;
    bra nowhere
}
END
run check bad.ptx
exits 3
err_has "bad.ptx:7: error: expected \`,\` or \`;\` after an operand of mov.b32, found \`%r2\` (column 17)"
err_has "    mov.b32 %r1 %r2;"
err_has "bad.ptx:9: error: expected \`;\` at the end of bra (column 16)"
printf '\177ELF\002\001' > binary.ptx
run check binary.ptx
exits 3
run check absent.ptx
exits 2
err_has "cannot read absent.ptx"

# An unknown instruction is reported as not checked, and stops nothing.
file unknown.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
.reqntid 32
{
    .reg .b32 %r<4>;
    mov.b32 %r2, 1;
    brandnew.op.b32 %r1, %r2;
    ret;
}
END
run check unknown.ptx
exits 0
out_has "unknown.ptx:4: k: 3 instructions, 1 not checked"
out_has "not checked: brandnew.op.b32 (line 9)"
run check --dynamic unknown.ptx
exits 2

# --diff shows what --fix writes: the fence, as it is indented there. The mended text has no errors.
cp "$SOURCE/tests/ptx/missing_fence.ptx" "$SOURCE/tests/ptx/unfenced_store.ptx" .
run check --diff missing_fence.ptx
exits 0
out_has "+    wgmma.fence.sync.aligned;"
cmp missing_fence.ptx "$SOURCE/tests/ptx/missing_fence.ptx"
run check --fix missing_fence.ptx
exits 0
out_has "missing_fence.ptx:32: wgmma.fence.sync.aligned; inserted [WG-FENCE-01]"
out_has "missing_fence.ptx: 1 instruction inserted, 0 errors"
run check missing_fence.ptx
exits 0
run check --fix --json unfenced_store.ptx
exits 0
out_has '"call": "fence.proxy.async;"'
run check unfenced_store.ptx
exits 0
run check --fix -
exits 2
run check --fix bad.ptx
exits 3

# Without check a PTX text is not taken for Lua.
for command in "" run ptx timeline; do
    run $command "$SOURCE/tests/ptx/missing_fence.ptx"
    exits 2
    err_has "missing_fence.ptx is PTX, not a script: wgrun check $SOURCE/tests/ptx/missing_fence.ptx"
done

# In the one array of dynamic shared memory, mbarriers at one distance are the stages of a ring.
cat > ring.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry ring()
.reqntid 32, 1, 1
{
  .reg .b32 %r<4>; .reg .pred p, q;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, smem;
  setp.ne.u32 p, %r1, 0;
  @p bra READY;
  mbarrier.init.shared::cta.b64 [%r2+32768], 1;
  mbarrier.init.shared::cta.b64 [%r2+32776], 1;
  mbarrier.init.shared::cta.b64 [%r2+32784], 1;
  mbarrier.init.shared::cta.b64 [%r2+32792], 128;
READY:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 q, [%r2+32776], 0;
  @!q bra WAIT;
  ret;
}
END
run check ring.ptx
exits 1
err_has "of the mbarrier \`shared\` + 0x8008 (stage 2 of 3): 0 of 1 arrivals have come"

# Where the text tells the shape of a CTA, the first cluster runs with synthetic arguments: what two threads do is found, too.
run check "$SOURCE/tests/ptx/raced_line.ptx"
exits 1
err_has "raced_line.ptx:20: error: thread 32 reads \`words\`, which thread 0 wrote: nothing orders the two [WG-RACE-01]"
err_lacks "raced_line.ptx:18: error"
sed 's/xor.b32/bar.sync 0; xor.b32/' "$SOURCE/tests/ptx/raced_line.ptx" >ordered.ptx
run check ordered.ptx
exits 0
sed 's/^.reqntid.*//' "$SOURCE/tests/ptx/raced_line.ptx" >shapeless.ptx
run check shapeless.ptx
exits 0

# A comment that begins a line with .version begins no module.
{ printf '/* of old:\n.version 7.0\n*/\n'; cat "$SOURCE/tests/ptx/rows.ptx"; } >commented.ptx
run check commented.ptx
exits 0

# How many threads a CTA has decides nothing about a copy that a whole warp issues.
sed '/reqntid/d' "$SOURCE/tests/ptx/upstream/copy_by_each_lane.ptx" > lanes.ptx
run check lanes.ptx
exits 0
err_has "32 lanes of a warp execute this copy, and each of them issues one"

# Texts as editors of Windows leave them, one that is called otherwise, and several at once.
printf '\357\273\277' | cat - "$SOURCE/tests/ptx/missing_fence.ptx" | sed 's/$/\r/' > windows.ptx
run check windows.ptx
exits 1
err_has "windows.ptx:32: error"
run check --fix windows.ptx
exits 0
[ "$(grep -c -v "$(printf '\r')" windows.ptx)" = 0 ] || bad "lines of another end"
cp "$SOURCE/tests/ptx/missing_fence.ptx" kernel.txt
run check kernel.txt
exits 1
err_has "kernel.txt:32: error"
printf '\377\376/\0' > utf16.ptx
run check utf16.ptx
exits 3
err_has "a text in UTF-16"
run check windows.ptx lanes.ptx kernel.txt
exits 1
out_has "windows.ptx: 1 kernel, 0 errors"
out_has "lanes.ptx: 1 kernel, 0 errors, 1 remark"
out_has "kernel.txt: 1 kernel, 1 error"
err_has "kernel.txt:32: error"
run check lanes.ptx utf16.ptx
exits 3
run check lanes.ptx nowhere.ptx
exits 2
err_has "cannot read nowhere.ptx"

# A relaxed arrival releases nothing, and a relaxed wait acquires nothing, but what fences beside them order.
handed() { sed "$1" "$SOURCE/tests/ptx/relaxed.ptx" >handed.ptx; run check handed.ptx; exits "$2"; }
raced() { handed "$1" 1; err_has "handed.ptx:30: error: thread 32 reads \`data\`, which thread 0 wrote: nothing orders the two [WG-RACE-01]"; }
fence='fence.acq_rel.cta;'
raced ''
raced 's/arrive.relaxed/arrive.release/'
raced 's/parity.relaxed/parity.acquire/'
handed 's/arrive.relaxed.cta/arrive/; s/parity.relaxed.cta/parity/' 0
handed "s/mbarrier.arrive.relaxed/$fence &/; s/parity.relaxed/parity.acquire/" 0
handed "s/ld.shared/$fence &/; s/arrive.relaxed/arrive.release/" 0
handed "s/mbarrier.arrive.relaxed/$fence &/; s/ld.shared/$fence &/" 0
raced "s/mbarrier.arrive.relaxed/$fence &/"
raced "s/ld.shared/$fence &/"
# What mends it is said of the relaxed step: there is no barrier to add.
mended() { handed "$1" 1; err_has "fix: $2    (PTX ISA"; }
arrival="an arrival that releases in line 25, or ${fence%;} before it"
wait_for="a wait that acquires in line 28, or ${fence%;} behind it"
mended '' "$arrival; and $wait_for"
mended 's/arrive.relaxed/arrive.release/' "$wait_for"
mended 's/parity.relaxed/parity.acquire/' "$arrival"

# Nor does a relaxed arrival tell of an mbarrier, unless a fence comes before it.
told() { sed "$1" "$SOURCE/tests/ptx/relaxed_init.ptx" >told.ptx; run check told.ptx; exits "$2"; }
told '' 1
err_has "told.ptx:26: error: nothing tells warp 1 that the mbarrier \`bars\` + 8 is initialised [WG-MBAR-02]"
told 's/arrive.relaxed/arrive.release/' 0
told "s/mbarrier.arrive.relaxed/$fence &/" 0
told "s/mbarrier.arrive.relaxed/fence.mbarrier_init.release.cluster; &/" 0
told 's/arrive.relaxed/arrive.release/; s/parity.acquire/parity.relaxed/' 1

# Of lanes that store to one place in one step CUDA lets one win: a warning.
run check "$SOURCE/tests/ptx/ties.ptx"
exits 0
err_has "ties.ptx:53: warning: threads 0 and 1 write different values to \`place\` in one step [WG-RACE-01]"

# A race behind a test of a size, which a run with synthetic numbers passes: a warning, since the kernel may be meant for others.
sized() { sed "$1" "$SOURCE/tests/ptx/sized.ptx" >sized.ptx; run check sized.ptx; exits 0; }
sized ''
err_has "sized.ptx:28: warning: thread 32 reads \`row\` + 380, which thread 95 wrote: nothing orders the two [WG-RACE-01]"
err_has "sized.ptx:5: in launches whose numbers are 512, 832, 896, 960, 1000 and 1024"
sized 's/sub.s32 %r8/bar.sync 0; &/'
err_lacks "warning"
# Beyond the array the sizes are synthetic in vain.
sized 's/sub.s32 %r8, 508/sub.s32 %r8, %r1/'
err_lacks "warning"
# Where the number stands in a structure, or in memory, does not matter.
sized 's/.param .u32 turned_param_2/.param .align 4 .b8 turned_param_2[8]/'
err_has "sized.ptx:28: warning: thread 32 reads"
sized 's/ld.param.u32 %r1, .turned_param_2./cvta.to.global.u64 %rd8, %rd1; ld.global.u32 %r1, [%rd8]/'
err_has "sized.ptx:28: warning: thread 32 reads"

# Sizes in structures and in memory, tensor maps and threads that only a launch tells: hangs are errors, races warnings.
run check "$SOURCE/tests/ptx/synthetic_sizes.ptx"
exits 1
err_has "synthetic_sizes.ptx:44: error: the kernel hangs: warp 0 waits for phase 0 (parity 0) of the mbarrier \`empty\`"
err_has "synthetic_sizes.ptx:7: in launches whose numbers are 512, 832, 896, 960, 1000 and 1024"
err_has "synthetic_sizes.ptx:93: warning: thread 64 reads \`row\`, which thread 0 wrote: nothing orders the two [WG-RACE-01]"
sed 's,// ARRIVE: ,,; s,// BARRIER: ,,' "$SOURCE/tests/ptx/synthetic_sizes.ptx" >synthetic_sizes.ptx
run check synthetic_sizes.ptx
exits 0
err_lacks "error:"
err_lacks "warning:"

# Boxes that the text does not describe: the copies of two phases by one map bring the same bytes, and a store reads what threads have
# written for it. A finding of a launch with one of the numbers names that number.
boxes() { sed "$1" "$SOURCE/tests/ptx/boxes_of_maps.ptx" >boxes_of_maps.ptx; run check --budget 2 boxes_of_maps.ptx; exits 0; }
boxes ''
err ""
boxes '26s/2048/1024/'
err_has "boxes_of_maps.ptx:26: warning: phase 0 of \`full\` + 8 expects 1024 bytes of copies by tensor maps that bring 2048 in another phase [WG-MBAR-03]"
err_has "boxes_of_maps.ptx:24: expected here"
out_has "bytes of copies, groups and lifetimes, convergence, end of a cluster, register pool: undecided: boxes_of_maps.ptx:26: it expects other bytes than another phase, whose copies are by the same tensor maps"
boxes '66s/bar.sync 0;//'
err_has "boxes_of_maps.ptx:67: warning: the bulk copy reads \`tile\` + 2064, which thread 1 wrote: nothing orders the two [WG-RACE-01]"
boxes '95s/bar.sync 0;//'
err_has "warning: thread 32 reads \`row\`"
err_has "in launches whose numbers are 832, 896, 960 and 1000"
# An error in data hides no other one.
sed '61s/fence.proxy.async.shared::cta;//; 66s/bar.sync 0;//' "$SOURCE/tests/ptx/boxes_of_maps.ptx" >boxes_of_maps.ptx
run check --budget 2 boxes_of_maps.ptx
exits 1
err_has "boxes_of_maps.ptx:63: error: the bulk copy reads shared memory that was written through the generic proxy, with no fence.proxy.async in between [WG-PROXY-01]"
err_has "boxes_of_maps.ptx:67: warning: the bulk copy reads \`tile\` + 2064, which thread 1 wrote: nothing orders the two [WG-RACE-01]"

# Loops that no thread leaves, whatever a launch is; and what is wrong behind a trap.
run check "$SOURCE/tests/ptx/loops_without_end.ptx"
exits 1
err_has "loops_without_end.ptx:12: error: a thread that enters this loop never leaves it: the condition that would end it never holds [WG-SYNC-07]"
err_has "loops_without_end.ptx:22: error: a thread that has gone round this loop goes round for ever: nothing that the condition looks at changes in it [WG-SYNC-07]"
err_has "loops_without_end.ptx:31: error: a thread that comes to this loop never leaves it: it has no way out [WG-SYNC-07]"
err_has "loops_without_end.ptx:51: error: a thread that enters this loop never leaves it: the condition that would end it never holds [WG-SYNC-07]"
out_has "6 kernels, 4 errors, 0 remarks"
run check "$SOURCE/tests/ptx/behind_a_trap.ptx"
exits 1
err_has "behind_a_trap.ptx:18: error: the kernel hangs: warp 0 waits at barrier 2: 32 of 128 threads have arrived [WG-SYNC-02]"

# Fixes that are no change of a line are in the words of PTX, too.
sed '34s/aligned 0/aligned 9/' "$SOURCE/tests/ptx/missing_fence.ptx" >many_groups.ptx
run check many_groups.ptx
exits 1
err_has "many_groups.ptx:34: warning: wait_group 9 waits as wait_group 7 does: the hardware counts to 7 [WG-GROUP-03]"
err_has "fix: wgmma.wait_group.sync.aligned 7    (PTX ISA"
