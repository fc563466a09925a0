# wgrun ptx|cuda --guarded: the guarded builds of the example scripts, and what ptxas says of them.
scripts="hello_wgmma gemm gemm_fast attention sparse_gemm mma_sync"
for script in $scripts; do
    run cuda --guarded "$SOURCE/scripts/$script.lua"
    exits 0
    run ptx --guarded "$SOURCE/scripts/$script.lua"
    exits 0
    out_has "param_guard_block"
    cp out.txt "$script.ptx"
done
cp attention.ptx out.txt
out_has "others_report:"     # a loop's guard
out_has "mbarrier.inval"     # that of a wait for an mbarrier
cp hello_wgmma.ptx out.txt
out_has "st.volatile.global.v4.b32 [slot], {sm, cta_x, cta_yz, warp};"  # a note, at bar.sync
run ptx "$SOURCE/scripts/attention.lua"
out_lacks "guard"

unset WGRUN_CUDA
run doctor
ptxas=$(sed -n 's/^ptxas  *\(\/[^ ]*\).*/\1/p' out.txt)
[ -n "$ptxas" ] || { echo "skipped: no ptxas"; exit 77; }
for script in $scripts; do
    code=0
    "$ptxas" -arch=sm_90a -o /dev/null "$script.ptx" >out.txt 2>err.txt || code=$?
    ran="ptxas of $script"
    exits 0
done
