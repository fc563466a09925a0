# check --replay: the launch of a finding runs once more on the simulator, and ends in the same finding.
# Prints the first finding of out.txt that names a launch, and facts.
first() {
    python3 - "$1" >"$1" <<'P' || bad "$ran: no finding with a launch"
import json
report = json.load(open("out.txt"))
one = next(one for one in report["findings"] if "launch" in one)
assert one["facts"], one
print(json.dumps(one))
P
}
fact() { python3 -c 'import json, sys; one = json.load(open(sys.argv[1])); assert eval(sys.argv[2], one), one' "$1" "$2" || bad "$1: $2"; }

# A text that hangs with some sizes: the proof has found it, and no run.
less="$SOURCE/tests/ptx/one_row_less.ptx"
run check --json "$less"
exits 1
first less.json
fact less.json 'launch["numbers"]["trips"] == 5 and launch["kernel"] == "sums" and launch["block"] == [64, 1, 1]'
fact less.json 'facts["phase"] == 2 and facts["parity"] == 0 and facts["arrivals"] == 0 and facts["who"] == "warp 1"'
run check --replay less.json "$less"
exits 1
err_has "one_row_less.ptx:78: error: the kernel hangs: warp 1 waits for phase 2"
out_has "one_row_less.ptx: 1 of 1 finding shown again"
run check --replay less.json --json "$less"
exits 1
fact out.txt 'findings[0]["rule"] == "WG-MBAR-05" and findings[0]["facts"]["phase"] == 2'
# The whole report, and a text that was mended: another number of rows.
run check --json "$less"
cp out.txt report.json
run check --replay report.json "$less"
exits 1
python3 - <<'P'
import json
one = json.load(open("less.json"))
one["launch"]["numbers"]["trips"] = 6
json.dump(one, open("other.json", "w"))
P
run check --replay other.json "$less"
exits 0
out_has "0 of 1 finding shown again"

# What is no finding of wgrun's is wrong usage, not a fault that has gone.
for change in 'one["rule"] = "WG-NO-99"' 'one["line"] = 2 ** 40' 'one["launch"]["seed"] = -1' 'one["launch"]["kernel"] = "other"' \
    'one["launch"]["numbers"] = {"other": 5}'; do
    python3 -c 'import json, sys; one = json.load(open("less.json")); exec(sys.argv[1]); json.dump(one, open("wrong.json", "w"))' "$change"
    run check --replay wrong.json "$less"
    exits 2
done

run check --replay less.json --fix "$less"
exits 2

# A launch that is synthetic as a whole.
sized="$SOURCE/tests/ptx/sized.ptx"
run check --json "$sized"
first sized.json
fact sized.json '"others" in launch and facts["access"] in ("read", "write")'
run check --replay sized.json "$sized"
exits 1

# A GPU shows hangs: without one that is an error of its own, and a race is none for it.
run check --replay less.json --backend gpu "$less"
exits 4
err_has "no GPU to run on"
run check --replay sized.json --backend gpu "$sized"
exits 2
err_has "is seen on the simulator alone: a GPU shows kernels that hang"

# Each hang of the scripts of rules shows again, whatever memory has to hold for it.
REPLAY_ON=sim "$SOURCE/tests/gpu/replay.sh" "$WGRUN" > all.txt 2>&1 || bad "tests/gpu/replay.sh: $(grep FAILED all.txt)"
