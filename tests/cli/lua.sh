# A PTX text becomes a script that builds its kernels.
run lua "$SOURCE/tests/ptx/rows.ptx" -o rows.lua
exits 0
out ""
err ""
has rows.lua 'local kernel_1 = wg.kernel("add", { threads = 128, translated = true }, function(k)'
has rows.lua 'local arg_3 = k:parameter("arg_3", "u32")'
has rows.lua 'k:ld_param_u32(r.arg_3, arg_3)'
has rows.lua 'k:special_u32(r.tid_x, { sreg = "tid.x" })'
has rows.lua '-- The text does not say how many threads a CTA has: 128 are assumed.'
has rows.lua '-- rows.cu:'
run check rows.lua
exits 0
err ""
run ptx rows.lua
exits 0
out_has ".visible .entry softmax("

# One kernel of them; on standard output; standard input; as JSON.
run lua "$SOURCE/tests/ptx/rows.ptx" --kernel softmax
exits 0
out_has 'wg.kernel("softmax"'
out_lacks 'wg.kernel("add"'
input=$(cat "$SOURCE/tests/ptx/wait_loops.ptx")
run lua -
exits 0
out_has "k:repeat_(function()"
out_has "return ~complete_[1]"
run lua --json -
exits 0
out_has '"remarks": []'
input=

# A launch tells what the text does not: threads, types, boxes.
run lua "$SOURCE/tests/ptx/rows.ptx" --launch "$SOURCE/tests/ptx/launch.json"
exits 0
out_has 'threads = 96, translated = true'
out_has '"f32*"'

# What is found in the text is found in the script.
run lua "$SOURCE/tests/ptx/missing_fence.ptx" -o fence.lua
exits 0
run check fence.lua
exits 1
err_has "[WG-FENCE-01]"

# What is no PTX, and what is not there.
file broken.ptx <<'END'
.version 8.0
.target sm_90a
.visible .entry k( {
END
run lua broken.ptx
exits 3
err_has "broken.ptx:3: error"
run lua rows.lua
exits 3
err_has "rows.lua is no PTX: a text begins with .version"
run lua nowhere.ptx
exits 2
err_has "cannot read nowhere.ptx"
run lua "$SOURCE/tests/ptx/rows.ptx" --kernel softmx
exits 1
err_has "has no kernel \`softmx\`: did you mean \`softmax\`?"

# What no record reads is text in the script.
file video.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    vadd2.u32.u32.u32 %r2, %r1, %r1, %r1;
    st.global.u32 [%rd2], %r2;
    ret;
}
END
run lua video.ptx -o video.lua
exits 0
has video.lua 'k:asm { [==[vadd2.u32.u32.u32 %r2, %r1, %r1, %r1;]==]'
run ptx video.lua
exits 0
out_has "vadd2.u32.u32.u32"

run video.ptx
exits 2
err_has "wgrun lua"

# A line is broken at commas, but not inside of such a text: it may be within quotes.
pragma='.pragma "one thing, another, a third, a fourth, a fifth, a sixth, a seventh, an eighth, a ninth, a tenth";'
awk -v pragma="$pragma" '{ print } /^{/ { print pragma }' video.ptx > pragma.ptx
run lua pragma.ptx -o pragma.lua
exits 0
has pragma.lua "k:asm { [==[$pragma]==],"

# A variable of the module may have a name that no script has: parameters of the script are called otherwise.
file named.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.global .align 1 .b8 $str[4] = {37, 100, 10, 0};
.visible .entry k(.param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, $str;
    ld.global.u8 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    ret;
}
END
run lua named.ptx -o named.lua
exits 0
has named.lua 'k:parameter("_str", "*")'
run check named.lua
exits 0

# What the bytes of shared memory are: a variable where numbers name it, and a comment elsewhere. A wait whose test leaves the loop.
run lua "$SOURCE/tests/ptx/wait_loops.ptx"
exits 0
out_has "-- 4 mbarriers, each expects 1 arrival"
out_has "local empty = { [0] = 0x0, 0x8, 0x10, 0x18 }"
out_has "k:mbarrier_init_shared_cta(r.bars, 1, { offset = empty[2] })"
out_has "wait_until(k, function()"
run lua "$SOURCE/tests/ptx/missing_fence.ptx"
exits 0
out_has "-- at byte 0x0: a matrix of wgmma, swizzle 128B"
out_has "{ acc[1], acc[2], acc[3], acc[4] }"
run lua "$SOURCE/tests/ptx/tensor_copy.ptx"
exits 0
out_has "-- at byte 0x2400: an mbarrier, expects 1 arrival and the bytes of copies"

# A ring of stages, before a ring of empty ones: the numbers in its addresses, what holds them, and the stage, the phase, the counter;
# copies that write a tile, and its descriptor.
file ring.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry ring(.param .align 64 .b8 ring_param_0[128], .param .u64 ring_param_1)
.reqntid 128, 1, 1
{
    .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>;
    mov.u64 %rd1, ring_param_0;
    cvta.param.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, smem;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra READY;
    mov.u32 %r3, 1;
    add.s32 %r4, %r2, 16384;
    mbarrier.init.shared::cta.b64 [%r4], %r3;
    add.s32 %r5, %r2, 16392;
    mbarrier.init.shared::cta.b64 [%r5], %r3;
    add.s32 %r6, %r2, 16400;
    mbarrier.init.shared::cta.b64 [%r6], %r3;
    add.s32 %r7, %r2, 16408;
    mbarrier.init.shared::cta.b64 [%r7], %r3;
READY:
    bar.sync 0;
    mov.u32 %r10, 0;
    mov.u32 %r11, 0;
    mov.u32 %r12, 0;
LOOP:
    shl.b32 %r13, %r11, 3;
    add.s32 %r14, %r2, %r13;
    add.s32 %r15, %r14, 16400;
    xor.b32 %r16, %r12, 1;
EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r15], %r16;
    @%p2 bra FILL;
    bra EMPTY;
FILL:
    add.s32 %r17, %r14, 16384;
    shl.b32 %r18, %r11, 13;
    add.s32 %r19, %r2, %r18;
    @%p1 bra FILLED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r17], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%rd2, {%r10, %r10}], [%r17];
FILLED:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r17], %r12;
    @!%p3 bra FILLED;
    shr.u32 %r20, %r19, 4;
    cvt.u64.u32 %rd3, %r20;
    or.b64 %rd4, %rd3, 4611686293305360384;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, 0, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    @%p1 bra TOLD;
    mbarrier.arrive.shared::cta.b64 _, [%r15];
TOLD:
    add.s32 %r21, %r11, 1;
    setp.eq.s32 %p4, %r21, 2;
    selp.b32 %r11, 0, %r21, %p4;
    selp.b32 %r22, 1, 0, %p4;
    xor.b32 %r12, %r12, %r22;
    add.s32 %r10, %r10, 1;
    setp.lt.s32 %p5, %r10, 8;
    @%p5 bra LOOP;
    ld.param.u64 %rd5, [ring_param_1];
    cvta.to.global.u64 %rd6, %rd5;
    st.global.f32 [%rd6+4], %f1;
    st.global.f32 [%rd6+8], %f2;
    st.global.f32 [%rd6+12], %f3;
    st.global.f32 [%rd6+16], %f4;
    ret;
}
END
run lua ring.ptx -o ring.lua
exits 0
has ring.lua 'local map_0 = k:parameter("map_0", { map = true, align = 64 })'
has ring.lua '-- 2 mbarriers, each expects 1 arrival and the bytes of copies'
has ring.lua 'local full = { [0] = 0x4000, 0x4008 }'
has ring.lua 'local empty = { [0] = 0x4010, 0x4018 }'
has ring.lua 'k:add_s32(r.empty_1, r.shared, empty[1])'
has ring.lua 'k:shl_b32(r[13], r.stage, 3)'
has ring.lua 'k:add_s32(r.empty_at, r[14], empty[0])'
has ring.lua 'k:mbarrier_try_wait_parity_shared_cta(p[2], r.empty_at, r.phase)'
has ring.lua 'k:xor_b32(r.phase, r.phase_2, 1)'
has ring.lua 'written by copies of map_0'
has ring.lua 'k:add_s32(r.count, r.count, 1)'
has ring.lua 'for i = 1, 4 do'
has ring.lua 'k:st_global_f32(rd[6], acc[i], { offset = 4 * i })'
lacks ring.lua 'k:jump(at'
run check ring.lua
exits 0

# What is no sum of a place keeps its number: a factor, a shift, a stage that follows.
lacks ring.lua 'k:shl_b32(r[13], r.stage, full'
has ring.lua 'k:add_s32(r.stage_next, r.stage, 1)'

# A C++ name, readable; the other side of a branch.
sed 's/ring_param/_Z4ringv_param/g; s/entry ring/entry _Z4ringv/; s/@%p1 bra READY;/@%p1 bra OTHER; bra READY; OTHER:/' ring.ptx > named.ptx
run lua named.ptx
exits 0
out_has "-- ring()"
out_has "unless(k, ~p[1], function()"

# Numbers that fall, below zero too, and a number of its own that stays.
file falling.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry falling(.param .u64 falling_param_0)
.reqntid 32, 1, 1
{
    .reg .b32 %r<9>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [falling_param_0];
    mov.u32 %r1, %tid.x;
    add.s32 %r2, %r1, -7744;
    add.s32 %r3, %r1, -7808;
    add.s32 %r4, %r1, -7872;
    add.s32 %r5, %r1, -7936;
    st.global.u32 [%rd1+-8], %r5;
    st.global.u32 [%rd1+-4], %r4;
    st.global.u32 [%rd1+4], %r2;
    ret;
}
END
run lua falling.ptx -o falling.lua
exits 0
has falling.lua 'for i = 2, 5 do'
has falling.lua 'k:add_s32(r[i], r.tid_x, -7616 - 64 * i)'
has falling.lua 'offset = -8'
run ptx falling.lua
out_has "add.s32 %r1, %r0, -7744;"
out_has "add.s32 %r4, %r0, -7936;"
