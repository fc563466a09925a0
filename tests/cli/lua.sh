# A PTX text becomes a script that builds its kernels.
run lua "$SOURCE/tests/ptx/rows.ptx" -o rows.lua
exits 0
out ""
err ""
has rows.lua 'local kernel_1 = wg.kernel("add", { threads = 128, translated = true }, function(k)'
has rows.lua 'local add_param_3 = k:parameter("add_param_3", "u32")'
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
exits 1
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

# What the bytes of shared memory are, where a run that nothing depends on comes to it.
run lua "$SOURCE/tests/ptx/wait_loops.ptx"
exits 0
out_has "-- ring_1: 4 mbarriers at byte 0x0 of shared memory, 8 bytes apart, each of which expects 1 arrival"
out_has "-- ring_1[2]"
run lua "$SOURCE/tests/ptx/missing_fence.ptx"
exits 0
out_has "-- matrix_1: at byte 0x0 of shared memory, swizzle 128B, read by wgmma"
run lua "$SOURCE/tests/ptx/tensor_copy.ptx"
exits 0
out_has "-- mbarrier_1: at byte 0x2400 of shared memory, expects 1 arrival"
