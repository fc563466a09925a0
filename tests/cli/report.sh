# wgrun report: what ptxas makes of every kernel.
unset WGRUN_CUDA
run doctor
grep -q '^ptxas *missing' out.txt && exit 77
run report "$SOURCE/scripts/hello_wgmma.lua"
exits 0
out_has "hello_wgmma (128 threads, ptxas"
out_has "occupancy"
out_has "spills         none"
run report --json "$SOURCE/scripts/hello_wgmma.lua"
exits 0
python3 -c "
import json
k = json.load(open('out.txt'))['kernels'][0]
assert k['registers'] >= k['estimated'] > 0 and k['ctas_per_sm'] >= 1 and k['limited_by'] in ('registers', 'shared memory', 'threads', 'CTAs'), k" || bad "the JSON"
