# wgrun record: launches that a program makes through the driver are kept as launch files, which check takes.
file add.ptx <<'TEXT'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r3, [n];
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r4, [%rd1];
    add.u32 %r4, %r4, %r3;
    st.global.u32 [%rd1], %r4;
    ret;
}
TEXT
# Traps unless the arguments are those of record_host.cpp, and the memory holds what it has put there.
file boxes.ptx <<'TEXT'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry boxes(.param .align 64 .b8 map[128], .param .f32 factor, .param .align 8 .b8 rest[24])
.explicitcluster
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
    .shared .align 128 .b8 tile[128];
    .shared .align 8 .b8 full[8];
    ld.param.f32 %f1, [factor];
    setp.neu.f32 %p1, %f1, 0f40200000;
    @%p1 trap;
    ld.param.s32 %r1, [rest+16];
    ld.param.s32 %r2, [rest+20];
    mad.lo.s32 %r1, %r1, 2, %r2;
    setp.ne.s32 %p2, %r1, 13;
    @%p2 trap;
    ld.param.u64 %rd1, [rest];
    cvta.to.global.u64 %rd1, %rd1;
    ld.global.u32 %r3, [%rd1+252];
    setp.ne.u32 %p3, %r3, 63;
    @%p3 trap;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mov.u32 %r3, full;
    mov.u32 %r4, 0;
    setp.ne.u32 %p4, %r1, 0;
    @%p4 bra WAIT;
    mbarrier.init.shared::cta.b64 [%r3], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 128;
    mov.b64 %rd2, map;
    cvta.param.u64 %rd2, %rd2;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r4, %r4}], [%r3];
WAIT:
    bar.sync 0;
LOOP:
    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r3], 0;
    @!%p5 bra LOOP;
    ld.shared.u32 %r5, [%r2+124];
    setp.ne.u32 %p6, %r5, 31;
    @%p6 trap;
    ret;
}
TEXT
export LD_LIBRARY_PATH=$FAKE_CUDA
for way in linked looked-up; do
    rm -rf kept
    run record --to kept "$RECORD_HOST" $way .
    exits 3
    out done
    err "wgrun: recorded $PWD/kept/add.json
wgrun: recorded $PWD/kept/machine_code.json, without the PTX, which the program has not given to the driver
wgrun: recorded $PWD/kept/boxes.json"
    [ "$(ls kept | tr '\n' ' ')" = "add.json add.m0.npy add.ptx boxes.json boxes.m0.npy boxes.ptx machine_code.json " ] || bad "$(ls kept)"
    cmp add.ptx kept/add.ptx || bad "the text is not the same"
    for launch in add boxes; do
        run check --dynamic kept/$launch.ptx --launch kept/$launch.json
        exits 0
        out_has "$launch: 4 schedules on the simulator"
    done
done
cp kept/boxes.json out.txt
for text in '"grid": 2' '"block": 32' '"cluster": 2' '"shared": 1024' '"map": "m0"' '"dtype": "f32"' '"bits": 1075838976'; do out_has "$text"; done
# What is there stays.
run record --to kept -- "$RECORD_HOST" linked .
err_has "recorded $PWD/kept/add.2.json"
err_has "recorded $PWD/kept/boxes.2.json"
# One word more than the memory has: what was kept decides.
sed 's/"block": 32/"block": 33/' kept/add.json > kept/more.json
run check --dynamic add.ptx --launch kept/more.json
exits 1
err_has "[WG-MEM-01]"
run record
exits 2
err "wgrun: record needs a program (wgrun --help)"
run record --two x "$RECORD_HOST"
exits 2
err_has "unknown option --two: did you mean \`--to\`?"
run record ./nothing
exits 2
err_has "cannot run ./nothing: No such file or directory"
# What follows the program is its own.
run record --to more "$(command -v echo)" --to x --help
exits 0
out "--to x --help"
