# check --dynamic --fix on example scripts with one call left out: each time calls are found that make it clean again.
left_out=0
for script in hello_wgmma sparse_gemm; do
    source=$SOURCE/scripts/$script.lua
    calls='k:\(wgmma_fence\|wgmma_commit_group\|wgmma_wait_group\|fence_proxy_async\|bar_sync\)'
    for line in $(grep -n "$calls" "$source" | cut -d: -f1); do
        sed "${line}s/k:[a-z_]*[ (].*/local _/" "$source" >left_out.lua
        run check --dynamic --seeds 1 left_out.lua
        exits 1
        run check --dynamic --seeds 1 --fix left_out.lua
        exits 0
        out_has "inserted [WG-"
        run check --dynamic --seeds 1 left_out.lua
        exits 0
        left_out=$((left_out + 1))
    done
done
[ "$left_out" = 10 ] || bad "$left_out calls were left out, expected 10"
