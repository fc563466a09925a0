# wgrun timeline: texts for people, files for programs; the example scripts have timelines.
script=$SOURCE/scripts/guide/06-pipeline.lua
run timeline "$script" --svg picture.svg --perfetto trace.json
exits 0
err ""
out_has "gemm_pipeline: "
out_has "tensor core"
out_has "waits for full stages (full)"
grep -q '^<svg' picture.svg && grep -q 'prefers-color-scheme' picture.svg || bad "picture.svg is no SVG for both kinds of pages"
if command -v python3 >/dev/null; then
    python3 - <<'PYTHON' || bad "trace.json or picture.svg is not well-formed"
import json, xml.dom.minidom
xml.dom.minidom.parse("picture.svg")
events = json.load(open("trace.json"))["traceEvents"]
opened = {}
for event in events:
    if event["ph"] == "b":
        opened[event["id"]] = event["ts"]
    elif event["ph"] == "e":
        assert event["ts"] >= opened.pop(event["id"])
assert not opened and any(event["ph"] == "X" and event["dur"] >= 0 for event in events)
PYTHON
    run timeline "$script" --json
    exits 0
    python3 -c 'import json; t = json.load(open("out.txt")); assert t["kernel"] == "gemm_pipeline" and t["spans"] and t["verdict"]' ||
        bad "--json is not well-formed"
fi

# Every line of the picture has 80 columns at most, or those that are asked for.
run timeline "$script"
awk '/^warp|^tensor|^memory|^copies/ { if (length($0) > 80 * 3) exit 1 }' out.txt || bad "rows are too long"
run timeline "$script" --from 1000 --to 1200
exits 0
out_has "1100"

run timeline "$SOURCE/scripts/gemm_fast.lua" --m 256 --n 512 --k 512
exits 0
out_has "producer"
out_has "consumer"

file nothing.lua <<'LUA'
print "no kernel"
LUA
run timeline nothing.lua
exits 1
err_has "nothing.lua launches no kernel"
run timeline "$script" --kernel other
exits 1
err_has 'launches no kernel called `other`'
run timeline "$script" --launch 7
exits 1
err_has "has 1 such launch, but no launch 7"
run timeline missing.lua
exits 2
run timeline "$script" --svg nowhere/picture.svg
exits 1
err_has "wgrun: cannot write nowhere/picture.svg: No such file or directory"
