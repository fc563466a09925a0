# wgrun timeline --backend sim: the stamps of a profiled build, and the model beside them; kernels of all shapes.
script=$SOURCE/scripts/guide/06-pipeline.lua
run timeline "$script" --backend sim --both --svg both.svg --perfetto both.json
exits 0
err ""
out_has "gemm_pipeline: "
out_has "gemm_pipeline, recorded on the simulator: "
out_has "products"
out_has "products and copies: how many have begun and are not known to have ended"
[ "$(grep -c '<title>' both.svg)" -gt 10 ] || bad "a picture of both has spans with titles"
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON' || bad "both.json or both.svg is not well-formed"
import json, xml.dom.minidom
xml.dom.minidom.parse("both.svg")
events = json.load(open("both.json"))["traceEvents"]
assert {e["pid"] for e in events} == {1, 2}
assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"gemm_pipeline (model)", "gemm_pipeline (simulator)"}
PYTHON
    run timeline "$script" --backend sim --both --json
    exits 0
    python3 -c 'import json; a, b = json.load(open("out.txt")); assert a["source"] == "model" and b["source"] == "simulator" and b["memory_busy"] is None and b["dropped"] == 0' ||
        bad "--json of both is not well-formed"
fi
run timeline "$script" --backend sim --events 3
exits 0
out_has "more events, for which there was no room"
out_lacks "of the time"
run timeline "$script" --backend sim --events 0
exits 2

# One warp, a part of one, all 32, clusters, no mbarrier, no stamps at all; loops without end, traps, assertions.
file shapes.lua <<'END'
local wg = require "wgrun"
local shape = arg[1]
local kernel = wg.kernel("shape", { threads = ({ one = 32, part = 1, odd = 33, all = 1024 })[shape] or 64, cluster = shape == "cluster" and 2 or 1 }, function(k)
  local X = k:param("X", "u32*")
  local tid = k:special "tid.x"
  if shape == "cluster" then
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  if shape == "endless" then k:while_(function() return tid:ge(0) end, function() k:bar_sync(0) end) end
  if shape == "trap" then k:if_(tid:eq(3), function() k:trap("at %d", tid) end) end
  if shape == "assert" then k:assert(tid:lt(60), "not %d", tid) end
  if shape == "print" then k:print("here", { guard = tid:eq(0) }) end
  if shape ~= "bare" then k:bar_sync(0) end
  k:st_global_b32(k:element(X, tid), tid)
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", { 1024 }) }, unchecked = true }
END
for shape in one part odd all cluster bare print; do
    run timeline shapes.lua --backend sim --both $shape
    exits 0
    out_has "shape, recorded on the simulator: "
done
run timeline shapes.lua --backend sim all
out_has "warps 28 to 31"
run timeline shapes.lua --backend sim cluster
out_has "cta 1 warps 0 to 1"
run timeline shapes.lua --backend sim --clusters 2 cluster
out_has "cta 3 warps 0 to 1"
run timeline shapes.lua --backend sim trap
exits 1
err_has "shapes.lua:11: error: the kernel traps: at 3 (cta 0 thread 3) [WG-TRAP-01]"
run timeline shapes.lua --backend sim assert
exits 1
err_has "shapes.lua:12: error: assertion failed: not 60 (cta 0 thread 60)"
run timeline shapes.lua --backend sim --max-steps 100000 endless
exits 1
err_has "took more than 100000 steps"
run timeline shapes.lua --max-steps 100000 endless
exits 1
err_has "took more than 100000 steps"
input='c
'
for shape in one part odd all cluster bare print; do
    run debug shapes.lua $shape
    exits 0
    out_has "before the first step"
done
run debug shapes.lua trap
exits 1
err_has "the kernel traps"
run debug --max-steps 100000 shapes.lua endless
exits 1
err_has "took more than 100000 steps"
