#!/bin/sh
# The rows of rows.lua under two builds in turn: rows.sh OLD NEW [TURNS]. Prints for each row the medians of both, the speed of NEW, and
# whether the results have the same bits; the slowest first.
set -u
old=$1 new=$2 turns=${3:-4}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for turn in $(seq "$turns"); do
    # The second of two runs finds a warmer chip.
    [ $((turn % 2)) = 1 ] && builds="old new" || builds="new old"
    for build in $builds; do
        eval "tool=\$$build"
        "$tool" "$here/rows.lua" > "$work/$build.$turn" 2> "$work/$build.$turn.err" || { echo "$build failed:"; tail -n 5 "$work/$build.$turn.err"; }
    done
done
python3 - "$work" "$turns" <<'P'
import re, statistics, sys
work, turns = sys.argv[1], int(sys.argv[2])
rows = {}
for build in ("old", "new"):
    for turn in range(1, turns + 1):
        for line in open(f"{work}/{build}.{turn}"):
            found = re.match(r"(.+?)\s+([\d.]+) us  (\w+)$", line)
            if found:
                name, us, bits = found.groups()
                row = rows.setdefault(name, {"old": [], "new": [], "bits": set()})
                row[build].append(float(us))
                row["bits"].add(bits)
table = [(statistics.median(row["old"]) / max(statistics.median(row["new"]), 1e-9), name, row) for name, row in rows.items()
         if row["old"] and row["new"]]
for speed, name, row in sorted(table, key=lambda one: one[0]):
    print(f"{name:46} {statistics.median(row['old']):9.1f} us  {statistics.median(row['new']):9.1f} us  {speed:.3f}  "
          f"{'same bits' if len(row['bits']) == 1 else 'OTHER BITS'}")
print(f"{len(table)} rows; geometric mean {statistics.geometric_mean([max(one[0], 1e-9) for one in table]):.3f}" if table else "no rows")
for name, row in rows.items():
    if not row["old"] or not row["new"]:
        print(f"{name}: only in one build")
P
