# Launches of PTX: maps that a parameter points to, grids that count clusters, large parameters.
file map.ptx <<'END'
.version 8.3
.target sm_90a
.address_size 64
.visible .entry load(.param .u64 map, .param .u64 out)
.reqntid 32, 1, 1
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    .shared .align 128 .b8 tile[256];
    .shared .align 8 .b8 full[8];
    ld.param.u64 %rd1, [map];
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mov.u32 %r3, full;
    mov.u32 %r4, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;
    fence.proxy.tensormap::generic.acquire.sys [%rd1], 128;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r4, %r4}], [%r3];
WAIT:
    bar.warp.sync 0xffffffff;
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    mad.lo.u32 %r5, %r1, 4, %r2;
    ld.shared.u32 %r6, [%r5];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r6;
    ret;
}
END
file map.json <<'END'
{ "grid": 1, "arguments": [ { "map": { "dtype": "u32", "shape": [16, 16], "fill": "zeros" }, "box": [8, 8] },
                            { "dtype": "u32", "shape": [32], "fill": "zeros" } ] }
END
run check --dynamic --launch map.json map.ptx
exits 0
err ""
out_has "load: 4 schedules on the simulator"

# What the host has put into memory is acquired first (CUDA C++ Programming Guide, "Using a tensor map in global memory").
sed '/fence.proxy.tensormap/d' map.ptx >unfenced.ptx
run check --dynamic --launch map.json unfenced.ptx
exits 1
err_has "[WG-PROXY-03]"

# A grid of two clusters has four CTAs: each has a word, and no word is missing.
file counted.ptx <<'END'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry counted(.param .u64 out)
.reqntid 32, 1, 1
.reqnctapercluster 2, 1, 1
.blocksareclusters
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    mov.u32 %r1, %nctaid.x;
    setp.ne.u32 %p1, %r1, 4;
    @%p1 trap;
    ret;
}
END
echo '{ "grid": 2, "arguments": [ { "dtype": "u32", "shape": [4], "fill": "zeros" } ] }' >counted.json
run check --dynamic --launch counted.json counted.ptx
exits 0
err ""

# Parameters up to 32,764 bytes are read, and kept in a script; beyond that the text is refused.
large() { # BYTES
    printf '.version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 8 .b8 big[%s])\n.reqntid 128, 1, 1\n{\n    .reg .b32 %%r<4>; .reg .b64 %%rd<4>;\n    ld.param.u32 %%r1, [big+4300];\n    ld.param.u64 %%rd1, [big];\n    cvta.to.global.u64 %%rd2, %%rd1;\n    st.global.u32 [%%rd2], %%r1;\n    ret;\n}\n' "$1" >large.ptx
}
large 4352
run check large.ptx
out_lacks "not checked"
run lua large.ptx
exits 0
out_has "4352"
large 32760
run check large.ptx
out_lacks "not checked"
large 32768
run check large.ptx
exits 3
err_has "large.ptx:4: parameter \`big\`: a structure of 32768 bytes: 1 to 32764 are possible"
run lua large.ptx
exits 3

# A script's grids count CTAs: that is said.
run lua counted.ptx
exits 0
err_has "counted: a grid counts clusters in the text (.blocksareclusters), and CTAs here"
out_has "-- a grid counts clusters"
