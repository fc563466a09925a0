# wg.tune: its file in the cache folder, a progress line on a terminal only, and what a Ctrl-C leaves.
export XDG_CACHE_HOME="$WORK/cache"
unset WGRUN_CACHE
results="$WORK/cache/wgrun/wgrun-cache-v1/tune/results.txt"
file tune.lua <<'END'
local wg = require "wgrun"
local function build(o)
  io.stderr:write("builds ", o.n, "\n")
  return wg.kernel("spin", { threads = 32 }, function(k) k:loop(o.n, function() end) end), {}
end
local best, report = wg.tune { name = "spin", build = build, rounds = 3, candidates = { { n = 200000 }, { n = 10 }, { n = tonumber(arg[1]) } } }
print(best.n, report.cache)
END
run --backend=sim tune.lua 160000
exits 0
out "10	$results"
err 'builds 200000
builds 10
builds 160000'
[ "$(wc -l <"$results")" = 4 ] || bad "four lines expected in $results"
run --backend=sim tune.lua 160000
err ''

# Ctrl-C: what was measured before is kept, and nothing is left beside it.
rm "$results"
"$WGRUN" --backend=sim tune.lua 4000000000 >out.txt 2>err.txt &
child=$!
wait_until grep -q 'builds 4000000000' err.txt
kill -INT $child
code=0
wait $child || code=$?
ran="wgrun tune.lua, interrupted"
exits 130
[ "$(wc -l <"$results")" = 3 ] || bad "three lines expected in $results"
[ "$(ls "$WORK/cache/wgrun/wgrun-cache-v1/tune")" = results.txt ] || bad "only results.txt expected in the folder"
run --backend=sim tune.lua 140000
err 'builds 140000'

# No cache, no harm.
export WGRUN_CACHE=off
run --backend=sim tune.lua 140000
exits 0
out '10	nil'

command -v script >/dev/null || exit 0
script -qec "$WGRUN --backend=sim tune.lua 140000" /dev/null >out.txt </dev/null
out_has 'tune 1/3  {n=200000}'
out_has 'tune 2/3, best '
