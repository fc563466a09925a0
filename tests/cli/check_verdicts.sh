# check: what is proved of a kernel, what is refuted, and what is undecided and why.
ring="$SOURCE/tests/ptx/two_stages.ptx"
less="$SOURCE/tests/ptx/one_row_less.ptx"
properties="no-deadlock phases copy-bytes wgmma-registers groups proxy-order shared-races global-races bounds descriptors"
properties="$properties initialisation convergence cluster-end register-pool"

# Prints "PROPERTY VERDICT" for each verdict, and fails where a member is missing or too many.
cat >verdicts.py <<'P'
import json, sys
for kernel in json.load(open("out.txt"))["kernels"]:
    said = kernel["verdicts"]
    assert [one["property"] for one in said] == sys.argv[1].split(), said
    for one in said:
        members = {"property", "verdict"}
        if one["verdict"] == "proved":
            members |= {"domain"}
            assert one["domain"].startswith("all launches"), one
            assert one.get("assumption", "?"), one
        else:
            assert one["verdict"] in ("refuted", "undecided"), one
            members |= {"reason", "file", "line"}
            assert one["reason"] and one["file"] and one["line"] > 0, one
            assert "assumption" not in one or (one["assumption"] and one["verdict"] == "undecided"), one
        assert set(one) - {"assumption"} == members, one
        print(one["property"], one["verdict"])
P
judge() { python3 verdicts.py "$properties" >verdicts.txt 2>&1 || { cat verdicts.txt; bad "$ran: verdicts"; }; }
verdict() { grep -qx "$1 $2" verdicts.txt || { cat verdicts.txt; bad "$ran: $1 should be $2"; }; }
many() { [ "$(grep -c " $2\$" verdicts.txt)" = "$1" ] || { cat verdicts.txt; bad "$ran: $1 should be $2"; }; }

# A ring of any number of rows: what synchronises is proved, what memory and other CTAs decide is not.
run check "$ring"
exits 0
err ""
out_has "two_stages.ptx: 1 kernel, 0 errors, 0 remarks"
out_has "proved for all launches with trips >= 1 but races in global memory"
out_has "the kernel does not ask which CTA it is: those of a grid meet in totals (--grid 1 decides it for one)"
out_has "  bounds: proved for all launches with trips >= 1 where rows holds 128 * trips bytes, totals holds 128 bytes"
run check --json "$ring"
exits 0
judge
many 13 proved
out_has '"domain": "all launches with trips >= 1"'
run check --json --grid 1 "$ring"
exits 0
judge
many 14 proved

# It hangs with one number of eight: a finding says with which, and so does the verdict.
run check "$less"
exits 1
err_has "one_row_less.ptx:78: error: the kernel hangs: warp 1 waits for phase 2 (parity 0) of the mbarrier \`filled\`: 0 of 1 arrivals have come"
err_has "one_row_less.ptx:6: in launches with trips = 5, 13, 21, 29, ..."
out_has "one_row_less.ptx: 1 kernel, 1 error, 0 remarks"
out_lacks "proved"
run check --json "$less"
exits 1
judge
verdict no-deadlock refuted
verdict phases undecided
verdict shared-races undecided
many 1 refuted
out_has '"reason": "WG-MBAR-05"'
out_has '"message": "in launches with trips = 5, 13, 21, 29, ..."'

# Without the consumers' arrivals no row comes after the second: nothing of the protocol is proved.
sed '/mbarrier.arrive.shared/d' "$ring" >lost.ptx
run check lost.ptx
exits 1
err_has "lost.ptx:47: error: the kernel hangs: warp 0 waits for phase 0 (parity 0) of the mbarrier \`drained\`: 0 of 32 arrivals have come"
err_has "lost.ptx:6: in launches w"
run check --json lost.ptx
exits 1
judge
verdict no-deadlock refuted
verdict phases undecided
verdict copy-bytes undecided
verdict shared-races undecided

# Without the fence the copy that comes next is not ordered behind what the warp has read.
sed '/fence.proxy.async/d' "$ring" >unfenced.ptx
run check unfenced.ptx
out_lacks "proved for all launches with trips >= 1 but races in global memory, bounds"
run check --json unfenced.ptx
judge
verdict no-deadlock proved
! grep -qx "proxy-order proved" verdicts.txt || bad "$ran: a proof without the fence"

# What nobody knows decides nothing: each property is undecided, at the line of that instruction.
sed 's/^\$done:/  unheard.of.b32 %r1;\n&/' "$ring" >unheard.ptx
run check --json unheard.ptx
exits 0
judge
many 14 undecided
run check unheard.ptx
out_has "sums: nothing is proved"
out_has "unheard.ptx:94: nobody knows what this instruction does"

# How many threads a CTA has is open.
sed '/^.reqntid/d' "$ring" >open.ptx
run check --json open.ptx
exits 0
judge
verdict no-deadlock undecided

# Several texts, and scripts, each kernel with all properties.
run check --json "$ring" lost.ptx
judge
[ "$(wc -l <verdicts.txt)" = 28 ] || bad "$ran: two kernels have 28 verdicts"
file two.lua <<'L'
local wg = require "wgrun"
wg.kernel("nothing", { threads = 32 }, function(k) end)
wg.kernel("one", { threads = 32 }, function(k) k:st_global_u32(k:param("X", "u32*"), 1) end)
L
run check --json two.lua
exits 0
judge
[ "$(grep -c proved verdicts.txt)" = 27 ] || bad "$ran: 27 proofs"
verdict global-races undecided
out_has '"line": 3,'
run check two.lua
exits 0
out_has "nothing: proved for all launches"
out_lacks "nothing: proved for all launches but"
out_has "one: proved for all launches but races in global memory"

# --strict: 6 where something is undecided, 1 where something is refuted, also by a warning.
strict() { expected=$1; shift; run check --strict "$@"; exits "$expected"; }
strict 0 --grid 1 "$ring"
strict 6 --json two.lua
strict 6 --sarif two.lua
strict 1 "$less"
strict 1 "$less" "$ring"
strict 1 "$ring" "$less"
strict 6 two.lua
file nothing.lua <<'L'
local wg = require "wgrun"
wg.kernel("nothing", { threads = 32 }, function(k) end)
L
strict 0 nothing.lua
strict 0 --json nothing.lua
run check "$SOURCE/tests/ptx/sized.ptx"
exits 0
out_has "races in shared memory: refuted: $SOURCE/tests/ptx/sized.ptx:28: WG-RACE-01"
strict 1 "$SOURCE/tests/ptx/sized.ptx"
strict 2 --fix two.lua
run check --help
out_has "6 undecided (check --strict)"

# SARIF has the same: results of kind pass, open and fail, whose rules are the properties; and the input's hash.
cat >same.py <<'P'
import json, sys
report, [run] = json.load(open("report.json")), json.load(open("out.txt"))["runs"]
kinds = {"proved": "pass", "undecided": "open", "refuted": "fail"}
said = [dict(one["properties"], rule=one["ruleId"], kind=one["kind"]) for one in run["results"] if "verdict" in one.get("properties", {})]
told = [dict(kernel=kernel["name"], rule=one["property"], kind=kinds[one["verdict"]],
             **{key: one[key] for key in one if key in ("verdict", "domain", "reason", "assumption")})
        for kernel in report["kernels"] for one in kernel["verdicts"]]
assert said == told, (said, told)
assert [one["level"] for one in run["results"] if one.get("kind") in ("pass", "open")].count("none") == len([one for one in told if one["kind"] != "fail"])
hashes = [(one["location"]["uri"], one["hashes"]["sha-256"]) for one in run["artifacts"]]
assert hashes == [(one["file"], one["sha256"]) for one in report["inputs"]], hashes
assert report["version"] == run["tool"]["driver"]["version"]
P
same() {
    run check --json "$@"
    mv out.txt report.json
    run check --sarif "$@"
    python3 same.py >same.txt 2>&1 || { cat same.txt; bad "$ran: not what --json says"; }
}
cp "$less" less.ptx
same open.ptx
same less.ptx
same open.ptx less.ptx
same two.lua
[ "$(sha256sum two.lua | cut -c1-64)" = "$(python3 -c 'import json; print(json.load(open("report.json"))["inputs"][0]["sha256"])')" ] || bad "the hash of two.lua"
"$WGRUN" check --json - <two.lua >out.txt
out_has "$(sha256sum two.lua | cut -c1-64)"

# What a copy to another CTA takes is read: bytes that nothing has written are none that its receiver may read, with one size of many.
cat >padding.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32, cluster = 2 }, function(k)
  local Y, thread, n = k:param("Y", "f32*"), k:special "tid.x", k:param("n", "u32")
  local a, b = k:shared { bytes = 256, align = 16, name = "a" }, k:shared { bytes = 256, align = 16, name = "b" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local mine = (thread >> 2) * 32 + (thread & 3) * 4
  k:st_shared_f32(k:address(a, mine), 1.0)
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 256)
  end)
  k:fence_proxy_async()
  k:barrier_cluster_arrive_release()
  k:barrier_cluster_wait()
  local peer = k:special "cluster_ctarank" ~ 1
  k:if_(thread:eq(0), function() k:cp_async_bulk_cluster(k:mapa_u32(k:address(b), peer), a, 256, k:mapa_u32(k:address(full), peer)) end)
  k:mbarrier_wait(k:address(full), 0)
  k:if_(n:eq(100000), function()
  k:st_global_f32(k:element(Y, k:special "ctaid.x" * 32 + thread), k:ld_shared_f32(k:address(b, mine + 16)))
  end)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
END
run check padding.lua
exits 0
out_has "initialisation: undecided: padding.lua:17: the proof knows of nothing that has written what is read of \`a\`"

# Metadata of a sparse A are data: the proof takes them for legal, and looks at those that the script passes.
cat >sparse.lua <<'L'
local wg = require "wgrun"
local kernel = wg.kernel("sparse", { threads = 32, grid = 1 }, function(k)
  local words, D, lane = k:param("E", "const u32*"), k:param("D", "f32*"), k:special "laneid"
  local word, d, a, b, c = k:ld_global_b32(k:element(words, lane)), k:regs("f32", 4), k:regs("b32", 4), k:regs("b32", 4), k:regs("f32", 4)
  for i = 0, 3 do
    k:mov(a[i], 0)
    k:mov(b[i], 0)
    k:mov(c[i], 0)
  end
  k:mma_sp_sync(d, a, b, c, word, { k = 32, d = "f32", a = "bf16", b = "bf16", sp_sel = 0 })
  k:st_global_f32(k:element(D, lane), d[0])
end)
kernel:run { args = { wg.full("u32", { 32 }, WORD), wg.zeros("f32", { 32 }) } }
L
sed 's/WORD/0x44444444/' sparse.lua >legal.lua
run check --strict legal.lua
exits 0
out_has "descriptors and tiles: proved if every word of E is legal sparse metadata of bf16"
run check --json legal.lua
judge
out_has '"assumption": "every word of E is legal sparse metadata of bf16"'
sed 's/WORD/0x44444440/' sparse.lua >illegal.lua
run check --strict illegal.lua
exits 6
out_has "descriptors and tiles: undecided: illegal.lua:2: a launch passes 0x44444440, and the proof holds if every word of E is legal sparse metadata of bf16"
