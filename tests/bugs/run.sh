#!/bin/sh
# A bug of the world, rebuilt: run.sh WGRUN FILE [SEEDS]
# FILE says with `-- bad: NAME ...` and `-- good: NAME ...` which variants of its kernel there are; a variant is the
# script's first argument. `wgrun check --dynamic` must find nothing in the good ones, and in each bad one what the
# comments say at their lines:
#   -- EXPECT: ID              must be found (in every bad variant)
#   -- EXPECT(NAME ...): ID    in these
#   -- MAYBE...: ID            may be found: the other side of a race; where nothing is expected, one of them must be
# ID is a rule, or `refused` for an argument that the builder does not take.
set -u
wgrun=$1
file=$2
seeds=${3:-3}
export WGRUN_CUDA=off

# "EXPECT 12 WG-RACE-01" for each comment that speaks of variant $1
wanted() {
    awk -v variant="$1" '
        {
            line = $0
            while (match(line, /-- (EXPECT|MAYBE)(\([^)]*\))?: [A-Za-z0-9-]+/)) {
                split(substr(line, RSTART + 3, RLENGTH - 3), part, ": ")
                line = substr(line, RSTART + RLENGTH)
                kind = part[1]
                names = ""
                if (open = index(kind, "(")) {
                    names = substr(kind, open + 1, length(kind) - open - 1)
                    kind = substr(kind, 1, open - 1)
                }
                if (names == "" || index(" " names " ", " " variant " ")) print kind, NR, part[2]
            }
        }' "$file"
}
checked() { "$wgrun" check --budget 2 --dynamic --seeds "$seeds" "$file" "$1" 2>&1; }
# "12 WG-RACE-01" for each finding of what check says
found() {
    sed -n -e 's/^[^ ]*:\([0-9][0-9]*\): \(error\|warning\): .*\[\(WG-[A-Z0-9-]*\)\]$/\1 \3/p' \
           -e 's/^wgrun: [^ ]*:\([0-9][0-9]*\): .*/\1 refused/p' | sort -u
}
fail() {
    printf '%s, variant %s: %s\nexpected:\n%s\nfound:\n%s\n' "$file" "$1" "$2" "$(wanted "$1")" "$(checked "$1" | found)"
    checked "$1"
    exit 1
}

bad=$(sed -n 's/^-- bad: //p' "$file")
good=$(sed -n 's/^-- good: //p' "$file")
for variant in $bad; do
    findings=$(checked "$variant" | found)
    [ -n "$findings" ] || fail "$variant" "nothing is found"
    wanted "$variant" | {
        left=$findings
        while read -r kind line id; do
            if echo "$findings" | grep -qx "$line $id"; then
                left=$(echo "$left" | grep -vx "$line $id")
            elif [ "$kind" = EXPECT ]; then
                exit 1
            fi
        done
        [ -z "$left" ]
    } || fail "$variant" "other findings than expected"
done
for variant in $good; do
    said=$(checked "$variant") || fail "$variant" "it must be clean"
    [ -z "$(printf '%s\n' "$said" | found)" ] || fail "$variant" "it must be clean"
done
[ -n "$good" ] || fail none "no good variant"
