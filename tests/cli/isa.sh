# isa: the table of legal forms.
run isa
exits 0
out_has "wgmma.mma_async.sp"
out_has "bar.sync"
run isa wgmma.mma_async --n 40 --dtype f16
exits 0
out_has "m=64 n={8..256/8} k=16 d={f16 f32} a=f16 b=f16 a_in=shared"
out_has "PTX 8.0"
out_lacks "bf16"
run isa wgmma --dtype s8 --n 40
exits 2
err_has "no legal form fits"
run isa wgmma --dtype u8 --n 48
exits 0
out_has "wgmma.mma_async.sp: "
out_has "PTX 8.4"
out_has "operand sp_meta (in): register"
run isa --json wgmma.fence
exits 0
out_has '"section": "9.7.15.7.1"'
out_has '"min_ptx": "8.0"'
# A beginning that is not ambiguous is enough; of others it is said how they may go on.
run isa wgmm
exits 0
out_has "wgmma.mma_async.sp: "
run isa wgmma.f
exits 0
out_has "wgmma.fence: "
out_lacks "wgmma.mma_async"
run isa k:ld_global_v4_f32
exits 0
out_has "ld: "
run isa barrier.cluster.
exits 2
err_has "\`barrier.cluster.\` is ambiguous: it is the beginning of barrier.cluster.arrive, barrier.cluster.wait"
run isa cv
exits 2
err_has "\`cv\` is ambiguous: it is the beginning of cvta, cvt"
run isa wgma
exits 2
err_has "there is no instruction \`wgma\`: did you mean \`wgmma\`?"
run isa wgmma --dtype int8
exits 2
err_has "\`int8\` is not a type of PTX"
run isa wgmma --n x
exits 2
