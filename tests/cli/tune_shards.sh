# wgrun tune: results in a file that is resumed and merges, shards, and what ends, hangs or repeats itself on the way.
export WGRUN_CACHE=off
file s.lua <<'END'
local wg = require "wgrun"
local sizes = {}
for i = 1, 12 do sizes[i] = i end
return wg.tuning { name = "steps", space = { n = sizes }, build = function(options)
  local log = io.open("built.txt", "a")
  log:write(options.n, "\n")
  log:close()
  if options.n == tonumber(os.getenv "STUCK") then while true do end end
  if options.n == tonumber(os.getenv "KILLED") then os.execute "kill -9 $PPID" end
  if options.n == 12 then error "twelve is too many" end
  return wg.kernel("steps", { threads = 32 }, function(k)
    local X = k:param("X", "f32*")
    local v = k:mov(0.0, { type = "f32" })
    for _ = 1, 10 * math.min(options.n, 10) do v = k:add(v, 1.0) end
    k:st_global_f32(k:element(X, k:special "tid.x"), v)
  end), { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
end }
END
tune() { run tune --results r.jsonl --jobs 2 "$@" s.lua; }

# Three shards have all candidates, each once; merged, nothing is left to measure.
for i in 1 2 3; do
    tune --shard $i/3
    exits 0
done
[ "$(sort -n built.txt | uniq -d)" = "" ] || bad "a candidate was tried by two shards"
[ "$(sort -n built.txt | wc -l)" = 12 ] || bad "a candidate was left out"
run tune --merge r.jsonl r.jsonl.1-of-3 r.jsonl.2-of-3 r.jsonl.3-of-3
exits 0
out 'r.jsonl: 10 results'   # 11 has the code of 10, and 12 has none
cp r.jsonl once.jsonl
run tune --merge r.jsonl r.jsonl.3-of-3 r.jsonl r.jsonl.1-of-3
cmp -s r.jsonl once.jsonl || bad "a merge in another order differs"
tune --show 20
exits 0
out_has '11 measured, 1 skipped'
out_has 'skipped: n = 12: '
out_has 'twelve is too many'
[ "$(grep -c 'measured before' out.txt)" = 11 ] || bad "all were measured before"
[ "$(head -n 1 out.txt | sed 's/.*us  //')" = 'n = 1  (measured before)' ] || bad "the fewest steps are the fastest"
cmp -s r.jsonl once.jsonl || bad "a search that has measured nothing has changed the file"
# What a shard measures is beside what all have.
tune --shard 1/3
[ "$(grep -c 'measured before' out.txt)" -gt 2 ] || bad "the shard knows what all have"

# A candidate that never ends, and one whose process dies: the others are measured, and a later search tries them again.
rm r.jsonl
export STUCK=3 KILLED=5
tune --timeout 5
exits 0
out_has '9 measured, 3 skipped'
out_has 'n = 3: it took longer than 5 s'
out_has 'n = 5: its process was killed by signal 9'
[ "$(wc -l <r.jsonl)" = 8 ] || bad "8 results expected"
unset STUCK KILLED
tune
out_has '11 measured, 1 skipped'
key_and_time() { sed 's/"options":"[^"]*"//' "$1" | sort; }
[ "$(key_and_time r.jsonl)" = "$(key_and_time once.jsonl)" ] || bad "the results differ from those of shards"

# A search that is killed loses nothing of what it had measured, and leaves no process.
rm r.jsonl built.txt
STUCK=7 "$WGRUN" tune --results r.jsonl --jobs 1 s.lua >out.txt 2>err.txt &
child=$!
ran="a search that is killed"
for _ in $(seq 300); do
    grep -q '^7$' built.txt 2>/dev/null && break
    sleep 0.1
done
worker=$(pgrep -P $child)
kill -9 $child
wait $child 2>/dev/null
[ "$(wc -l <r.jsonl)" = 6 ] || bad "6 results expected"
ended() { [ ! -d "/proc/$worker" ] || grep -q '^State:.*Z' "/proc/$worker/status"; }
for _ in $(seq 100); do
    ended && break
    sleep 0.1
done
ended || bad "the worker outlives the search"
tune
out_has '11 measured, 1 skipped'
[ "$(grep -c 'measured before' out.txt)" -ge 6 ] || bad "what was measured is measured again"
[ "$(key_and_time r.jsonl)" = "$(key_and_time once.jsonl)" ] || bad "the results differ from those of a search without an end"

# What is no file of results is not overwritten.
echo 'something else' >other
run tune --results other s.lua
exits 2
err_has 'other:1: this is no result of wgrun tune'
run tune --merge other r.jsonl
exits 2
[ "$(cat other)" = 'something else' ] || bad "the file has changed"
run tune --merge r.jsonl nothing.jsonl
exits 1
err_has 'nothing.jsonl: there is no such file'
for shard in 0/2 3/2 2 a/b 1/2x; do
    run tune --shard $shard s.lua
    exits 2
    err_has "--shard $shard: expected I/N"
done
