# No thread can be made (STRANGE_THREADS, libc.cpp): what can do without one does, the rest says so.
[ -f "$STRANGE_LIBC" ] || { echo "skipped: no $STRANGE_LIBC"; exit 77; }
export LD_PRELOAD="$STRANGE_LIBC" STRANGE_THREADS=0 ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
file work.lua <<'END'
local wg = require "wgrun"
local A = wg.randn { shape = { 1024, 1024 }, dtype = "bf16", seed = 1 }
local B = A:convert "f32":convert "bf16"
assert(wg.compare(A, B, 0))
local D = wg.zeros("bf16", { 128, 64 })
wg.gemm { dtype = "bf16", tile = { 64, 64 }, name = "small" }:run(wg.randn { shape = { 128, 64 }, dtype = "bf16", seed = 1 },
  wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }, D, { backend = "sim" })
print("good", D[{ 3, 4 }])
END
STRANGE_THREADS=1000000 run work.lua
exits 0
cp out.txt with_threads.txt
for most in 0 1; do
    STRANGE_THREADS=$most run work.lua
    exits 0
    cmp -s out.txt with_threads.txt || bad "another result with $most threads"
done
run check --dynamic "$SOURCE/scripts/hello_wgmma.lua"
exits 0
# A limit that nobody could watch is no limit.
for option in "--max-seconds 5" --restricted; do
    # shellcheck disable=SC2086
    run $option -e 'print "ran"'
    exits 1
    err_has "wgrun: cannot start a thread that watches the time: Resource temporarily unavailable"
    err_has "ulimit -u"
    out_lacks ran
done
run --restricted --max-seconds 0 -e 'print "ran"'
exits 0
# A worker that could not end with its parent does not begin.
unset WGRUN_CUDA
LD_LIBRARY_PATH=$FAKE_CUDA run -e 'local wg = require "wgrun" print(wg.backend)
wg.kernel("k", { threads = 32 }, function() end):run { grid = 1, backend = "gpu" }'
exits 1
err_has "wgrun gpu-worker: cannot start a thread that watches the parent: Resource temporarily unavailable"
err_has "the worker process ended with exit code 1"
err_lacks internal
