# wgrun bench: every launch of a script, once, on copies of its tensors.
file s.lua <<'END'
local wg = require "wgrun"
local k = wg.kernel("twice", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local x = k:element(X, k:special "ctaid.x" * 32 + k:special "tid.x")
  k:st_global_f32(x, k:ld_global_f32(x) * 2.0)
end)
local X = wg.zeros("f32", { 64 })
for i = 0, 63 do X[{ i }] = 1 end
for _ = 1, 2 do k:run { grid = { 2 }, args = { X } } end
k:run { grid = { 1 }, args = { X } }
assert(X[{ 0 }] == 8 and X[{ 63 }] == 4)
END
run bench s.lua
exits 0
out_has "kernel"
[ "$(grep -c '^twice' out.txt)" = 2 ] || bad "two rows are expected"
out_has "sim, 1 round"
run bench --json s.lua
exits 0
python3 -c "import json; r = json.load(open('out.txt')); assert r['launches'][0]['tensor_bytes'] == 256, r" || bad "the JSON"
echo 'print "nothing"' > e.lua
run bench e.lua
exits 1
err_has "e.lua runs no kernel, so there is nothing to measure"
echo 'error "no"' > e.lua
run bench e.lua
exits 1
err_has "e.lua:1: no"
