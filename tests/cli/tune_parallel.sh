# wgrun tune --launcher parallel, on this machine: a shard that fails once is started again.
parallel --version 2>/dev/null | grep -q '^GNU parallel' || { echo "skipped: no GNU parallel"; exit 77; }
export WGRUN_CACHE=off HOME="$WORK"
file "s pace.lua" <<'END'
local wg = require "wgrun"
local sizes = {}
for i = 1, tonumber(arg[1]) do sizes[i] = i end
if arg[2] ~= "it's" then error "the arguments of the script are lost" end
return wg.tuning { name = "steps", space = { n = sizes }, build = function(options)
  local marked = io.open "killed"
  if marked then marked:close() end
  if options.n == 3 and not marked then
    io.open("killed", "w"):close()
    os.execute "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)" -- the shard's process
  end
  return wg.kernel("steps", { threads = 32 }, function(k)
    local X = k:param("X", "f32*")
    local v = k:mov(0.0, { type = "f32" })
    for _ = 1, 10 * options.n do v = k:add(v, 1.0) end
    k:st_global_f32(k:element(X, k:special "tid.x"), v)
  end), { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
end }
END
run tune --launcher=parallel --shards 2 --jobs=1 --results="my results.jsonl" --show 20 --json "s pace.lua" 6 "it's"
exits 0
[ -e killed ] || bad "no shard was killed"
[ "$(wc -l <"my results.jsonl")" = 6 ] || bad "6 results expected"
python3 -c "
import json
r = json.load(open('out.txt'))
assert len(r['results']) == 6 and not r['skipped'] and r['file'] == 'my results.jsonl', r" || bad "the JSON"
[ "$(echo my*)" = "my results.jsonl" ] || bad "something is left: $(echo my*)"
run tune --launcher parallel "s pace.lua" 6 "it's"
exits 2
err_has '--launcher needs --results FILE'
PATH=/nowhere run tune --launcher parallel --results r "s pace.lua" 6 "it's"
exits 1
err_has 'parallel cannot be started'
