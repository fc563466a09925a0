# check: the launches of a kernel that was read from PTX may have different threads. What one of them breaks is found,
# whatever the others are like, and what is proved holds for all of them.
file put.lua <<'L'
local wg = require "wgrun"
local put = wg.ptx { name = "put.ptx", text = [[
.version 8.0
.target sm_90a
.address_size 64
.visible .entry put(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
]] }.put
for _, block in ipairs(arg) do
  put:run { grid = 1, block = math.tointeger(block), args = { wg.zeros("u32", { 32 }) } }
end
L
for blocks in "64" "32 64" "64 32" "64 1 2 3 4 5 6 7 8"; do
    run check put.lua $blocks
    exits 1
    err_has 'put.ptx:12: error: thread 32 stores 4 bytes at 0x10000000080, 0 bytes past the end of `out` (128 bytes) [WG-MEM-01]'
    out_has "1 kernel, 1 error, 0 remarks"
done
run check put.lua 16 32 16
exits 0
out_has "put: proved for all launches of 32 threads, and all launches of 16 threads but races in global memory"
out_has "bounds: proved for all launches of 32 threads where out holds 128 bytes, and all launches of 16 threads where out holds 64 bytes"
run check put.lua 1 2 3 4 5 6 7 8 9
exits 0
out_has "put: nothing is proved"
out_has "undecided: put.ptx:4: it is launched in more than 8 shapes"
