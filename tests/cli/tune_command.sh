# wgrun tune: any kernel, as the script describes it.
export WGRUN_CACHE=$WORK/cache
file s.lua <<'END'
local wg = require "wgrun"
local function build(options)
  if options.threads == 64 and options.twice then return nil, "not both" end
  local kernel = wg.kernel("fill", { threads = options.threads }, function(k)
    local X = k:param("X", "f32*")
    k:st_global_f32(k:element(X, k:special "tid.x"), 1.0)
  end)
  return kernel, { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
end
return { name = "fill", space = { threads = { 32, 64 }, twice = { false, true } }, build = build, rounds = 1 }
END
run tune s.lua
exits 0
out_has "threads = 32, twice = true"
out_has "3 measured, 1 skipped"
out_has "skipped: threads = 64, twice = true: not both"
run tune --json s.lua
exits 0
python3 -c "
import json
r = json.load(open('out.txt'))
assert len(r['results']) == 3 and len(r['skipped']) == 1 and all(x['cached'] for x in r['results']), r" || bad "the JSON"
echo 'return 5' > e.lua
run tune e.lua
exits 1
err_has "e.lua does not return options to tune"
echo 'return { name = "x", space = { n = 5 }, build = function() end }' > e.lua
run tune e.lua
exits 1
err_has '`n` must be a list of values'
