# PTX beside the assembler that is here: versions, notes at lines of the text, known faults, what is slow.
unset WGRUN_CUDA
export WGRUN_CACHE=off CUDA_HOME="$WORK" CUDA_VISIBLE_DEVICES=
mkdir bin
file bin/ptxas <<'END'
#!/bin/sh
case "$*" in *--version*) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit ;; esac
for word; do case $before in -o) : >"$word"; echo code >"$word" ;; esac; before=$word; done
echo "$*" >>asked
cat notes 2>/dev/null
exit 0
END
chmod +x bin/ptxas
PATH="$WORK/bin:$PATH"

# A version that this ptxas does not read: a warning, since the text may be for another one.
text() { # VERSION
    printf '.version %s\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.reqntid 32, 1, 1\n{\n    bar.sync 0;\n    ret;\n}\n' "$1"
}
text 9.3 >new.ptx
run check new.ptx
exits 0
err_has "new.ptx:1: warning: the ptxas that is here, 13.0.88, reads PTX up to .version 9.0: the text has 9.3 [WG-FORM-06]"
text 9.0 >new.ptx
run check new.ptx
exits 0
err ""

# Notes stand at the lines of the text, with a remedy in PTX: a call, and a wgmma that the assembler mends.
file call.ptx <<'END'
.version 8.3
.target sm_90a
.address_size 64
.extern .func (.param .f32 r) helper(.param .f32 x);
.visible .entry other()
{
    ret;
}
.visible .entry called(.param .u64 out)
.reqntid 128, 1, 1
{
    .reg .f32 %f<6>; .reg .b64 %rd<6>; .reg .b32 %r<6>;
    mov.b64 %rd1, 0x0000001000080040;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, %rd1, 0, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 1;
    {
        .param .f32 p;
        .param .f32 q;
        st.param.f32 [p], %f4;
        call.uni (q), helper, (p);
        ld.param.f32 %f5, [q];
    }
    wgmma.wait_group.sync.aligned 0;
    ret;
}
END
cat >notes <<'END'
ptxas info    : (C7509) Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of Extern calls in the function 'called'
ptxas info    : (C7519) warpgroup.arrive is injected in around line 15 by compiler to allow use of registers in GMMA in function 'called'
ptxas info    : Compiling entry function 'called' for 'sm_90a'
ptxas info    : Function properties for called
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers, 2304 bytes smem
END
run check --assemble call.ptx
err_has "call.ptx:22: warning: the wgmma are serialized: the kernel calls a function of another text (C7509) [WG-PERF-01]"
err_has "call.ptx:15: note: the assembler inserts a wgmma.fence of its own before this line (C7519) [WG-PERF-02]"
err_has "fix: wgmma.fence.sync.aligned directly before this line, on every path to it"
err_has "call.ptx:15: warning: ptxas 13.0.88 has a known fault with wgmma with A in registers, and a wgmma.wait_group that leaves groups in flight"
out_has "called: 30 registers a thread"
grep -q -- --compile-only asked || bad "a function that is only declared is not linked"
[ "$(grep -c "(C7509)" err.txt)" = 1 ] || bad "the note is about one kernel"
run check --assemble --json call.ptx
out_has '"assembly": ['
out_has '"registers": 30'
# A text that the assembler refuses: at its line, beside what is found.
printf '#!/bin/sh\ncase "$*" in *--version*) echo "release 13.0, V13.0.88"; exit ;; esac\necho "ptxas call.ptx, line 22; error   : Unknown symbol"\nexit 255\n' >bin/ptxas
run check --assemble call.ptx
exits 3
err_has "call.ptx:22: ptxas: line 22: Unknown symbol"
err_has "call.ptx:15: error: "
rm notes

# doctor names the PTX that it reads, and its faults.
run doctor
out_has "reads PTX up to .version 9.0"
out_has "known fault (triton#11781, triton#9433)"
run doctor --json
out_has '"ptx": "9.0"'
export WGRUN_CUDA=off

# --perf: conflicts of banks, and products that the chip does not have.
file slow.ptx <<'END'
.version 8.4
.target sm_90a
.address_size 64
.visible .entry slow(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<3>;
    .shared .align 16 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 128, %r2;
    st.shared.u32 [%r3], %r1;
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f0, %f0, %f0, %f0};
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    st.global.f32 [%rd1], %f1;
    ret;
}
END
run check --perf slow.ptx
err_has "slow.ptx:12: note: "
err_has "[WG-PERF-05]"
err_has "slow.ptx:14: note: sm_90 has no mma.sync of e4m3"
err_has "[WG-PERF-08]"
run check slow.ptx
err_lacks "[WG-PERF-05]"
