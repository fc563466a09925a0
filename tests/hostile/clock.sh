# The clock on the wall jumps by months (STRANGE_CLOCK, libc.cpp): limits of time are none of its business.
[ -f "$STRANGE_LIBC" ] || { echo "skipped: no $STRANGE_LIBC"; exit 77; }
export LD_PRELOAD="$STRANGE_LIBC" STRANGE_CLOCK=1 ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
# The jumps are there.
run -e 'local least, most = math.huge, 0 for i = 1, 100 do local t = os.time() least, most = math.min(least, t), math.max(most, t) end
assert(most - least > 24 * 3600, most - least)'
exits 0
run --max-seconds 0.5 -e 'while true do end'
exits 1
err_has 'the script has run for more than 0.5 s'
run --max-seconds 600 -e 'for i = 1, 1e6 do end print "good"'
exits 0
out good
spin='local wg = require "wgrun"
local k = wg.kernel("spin", { threads = 32 }, function(k) k:loop(to, function() end) end)'
run --backend=sim -e "to = 4000000000 $spin k:run { grid = 1, timeout_ms = 200 }"
exits 1
err_has 'within 0.2 s'
run --backend=sim -e "to = 100 $spin k:run { grid = 1, timeout_ms = 600000 } print 'good'"
exits 0
out good
run --backend=sim -e "to = 100 $spin assert(k:time { grid = 1, rounds = 3 }.median_us >= 0)"
exits 0

# Results of tuning outlast it; locks are waited for as long as they should be.
export WGRUN_CACHE="$WORK/cache"
file tune.lua <<'END'
local wg = require "wgrun"
local function build(o) return wg.kernel("k", { threads = 32 }, function(k) k:mov(o.n, { type = "u32" }) end), {} end
local _, report = wg.tune { name = "n", build = build, rounds = 1, candidates = { { n = 1 }, { n = 2 } } }
END
for _ in 1 2 3; do
    run --backend=sim tune.lua
    exits 0
    same err.txt ""
done
[ "$(wc -l <cache/wgrun-cache-v1/tune/results.txt)" = 3 ] || bad "2 results expected in $(cat cache/wgrun-cache-v1/tune/results.txt)"
run cache verify
exits 0

# Time-outs of kernels in a worker.
unset WGRUN_CUDA
export LD_LIBRARY_PATH="$FAKE_CUDA" LUA_PATH="$SOURCE/tests/worker/?.lua;;"
run -e 'local wg, kernels = require "wgrun", require "kernels"
local hang, slow, t = kernels.named "hang", kernels.named "slow", wg.zeros("f32", 1)
for _ = 1, 3 do
  kernels.expect(kernels.raised(hang.run, hang, { timeout_ms = 100 }), "ETIMEDOUT", "did not end within 0.1 s")
  slow:run { timeout_ms = 60000 }
  kernels.add_one:run { args = { t, 1 } }
end
assert(t[0] == 3)
print "good"'
exits 0
out good
