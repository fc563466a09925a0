-- Texts that copy the box at (8, 4) of a tensor map, whose place among the parameters differs: kernels of wg.ptx by their names.
local wg = require "wgrun"

--- The kernel `f` of these parameters: `map` brings the address of the tensor map into %rd2, each thread gets two elements of the box
--- in %r6 and %r7, and `result` stores them.
local function copying(parameters, map, result)
  return wg.ptx { name = "boxes.ptx", text = [[
.version 8.0
.target sm_90a
.address_size 64
.visible .entry f(]] .. parameters .. [[)
.reqntid 32
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
.shared .align 128 .b8 box[256];
.shared .align 8 .b64 full;
]] .. map .. [[
mov.u32 %r1, full;
mov.u32 %r2, box;
mov.u32 %r3, %tid.x;
setp.ne.u32 %p1, %r3, 0;
@%p1 bra INITIALISED;
mbarrier.init.shared::cta.b64 [%r1], 1;
fence.mbarrier_init.release.cluster;
fence.proxy.async;
INITIALISED:
bar.sync 0;
@%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {8, 4}], [%r1];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
@!%p2 bra WAIT;
mad.lo.u32 %r4, %r3, 8, %r2;
ld.shared.v2.u32 {%r6, %r7}, [%r4];
]] .. result .. [[
ret;
}
]] }.f
end

return {
  -- Inside of a structure, beside a pointer and a number that is added.
  structure = copying(".param .align 128 .b8 s[384]", [[
mov.b64 %rd1, s;
cvta.param.u64 %rd1, %rd1;
add.u64 %rd2, %rd1, 128;
ld.param.u32 %r5, [s+256];
ld.param.u64 %rd3, [s];
]], [[
add.u32 %r6, %r6, %r5;
add.u32 %r7, %r7, %r5;
mul.wide.u32 %rd4, %r3, 8;
add.u64 %rd3, %rd3, %rd4;
st.global.v2.u32 [%rd3], {%r6, %r7};
]]),
  -- By an address of 32 bits, as Triton has it: the check that runs ahead knows no such map.
  narrow = copying(".param .align 64 .b8 s[128], .param .u64 p", [[
mov.b32 %r8, s;
cvt.u64.u32 %rd1, %r8;
cvta.param.u64 %rd2, %rd1;
]], [[
mul.wide.u32 %rd4, %r3, 8;
ld.param.u64 %rd3, [p];
add.u64 %rd3, %rd3, %rd4;
st.global.v2.u32 [%rd3], {%r6, %r7};
]]),
}
