# check --dynamic --fix on example scripts with one call left out: each time calls are found that make it clean again.
mended=0
for script in hello_wgmma sparse_gemm; do
    source=$SOURCE/scripts/$script.lua
    calls='k:\(wgmma_fence\|wgmma_commit_group\|wgmma_wait_group\|fence_proxy_async\|bar_sync\)'
    for line in $(grep -n "$calls" "$source" | cut -d: -f1); do
        sed "${line}s/k:[a-z_]*[ (].*/local _/" "$source" >left_out.lua
        run check --dynamic --budget 0.1 --seeds 1 left_out.lua
        [ "$code" = 0 ] && continue # it was not needed
        exits 1
        run check --dynamic --budget 0.1 --seeds 1 --fix left_out.lua
        exits 0
        out_has "inserted [WG-"
        run check --dynamic --budget 0.1 --seeds 1 left_out.lua
        exits 0
        mended=$((mended + 1))
    done
done
[ "$mended" -ge 9 ] || bad "$mended scripts were mended, expected 9 or more"
