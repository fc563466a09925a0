# wgrun ptx|cuda --guarded: the guarded builds of all example scripts, and what ptxas says of them. (Those of failed
# kernels, which are traced too: tests/worker/run.sh.)
export WGRUN_CACHE=off # a tuned script would build the winner alone
for file in "$SOURCE"/scripts/*.lua; do
    script=$(basename "$file" .lua)
    run cuda --guarded "$file"
    exits 0
    run ptx --guarded "$file"
    exits 0
    [ -s out.txt ] || continue    # it has no kernels
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
ptxas=$(sed -n 's|^ptxas .* \(/.*\)$|\1|p' out.txt)    # version, path
[ -n "$ptxas" ] || { echo "skipped: no ptxas"; exit 77; }
kernels=0
for script in *.ptx; do
    # Each kernel is a text of its own.
    awk -v stem="${script%.ptx}" '/^\.version/ { name = stem "-" ++n ".one" } name { print > name }' "$script"
done
for text in *.one; do
    code=0
    "$ptxas" -arch=sm_90a -o /dev/null "$text" >out.txt 2>err.txt || code=$?
    ran="ptxas of $text"
    exits 0
    kernels=$((kernels + 1))
done
[ "$kernels" -ge 19 ] || bad "only $kernels kernels"
