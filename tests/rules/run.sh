#!/bin/sh
# One case of tests/rules/ID/: run.sh WGRUN FILE
# Every finding of `wgrun check` must stand in FILE as a comment at its line, `-- EXPECT: ID`, and the other way
# round. Findings that only a run can make are `-- EXPECT IN RUN: ID`, those that only the assembler can make
# `-- EXPECT ASSEMBLED: ID` (`-- ASSEMBLED`: none; skipped where there is no ptxas), those of check --perf
# `-- EXPECT PERF: ID` (`-- PERF`: none), those of check --sass `// EXPECT SASS: ID`, those of check --sass --perf besides `// EXPECT SASS PERF: ID`. A file that expects nothing must also run clean on the simulator, unless it
# says CHECK ONLY. In texts of PTX the comments begin with //, and there is no run. WITH ptxas 13.0: what is assembled
# depends on that version.
set -u
wgrun=$1
file=$2
export WGRUN_CUDA=off

expected() { sed -n "/\(--\|\/\/\) $1: /{=;s/.*\(--\|\/\/\) $1: //;s/ --.*//;p}" "$file" | paste -d ' ' - - ; }
found() { sed -n 's/^[^ ]*:\([0-9][0-9]*\): \(error\|warning\|note\): .*\[\(WG-[A-Z0-9-]*\)\]$/\1 \3/p'; }
compare() {
    [ "$1" = "$2" ] && return
    printf '%s of %s\nexpected:\n%s\nfound:\n%s\n' "$3" "$file" "$1" "$2"
    exit 1
}

# What a rule finds it finds early: proofs that find nothing in two seconds would take ten.
compare "$(expected EXPECT)" "$("$wgrun" check --budget 2 "$file" 2>&1 | found)" "check"
if grep -q -e '-- EXPECT ASSEMBLED: ' -e '-- ASSEMBLED' "$file"; then
    said=$(env -u WGRUN_CUDA CUDA_VISIBLE_DEVICES= "$wgrun" check --budget 2 --assemble "$file" 2>&1)
    case $said in *"not assembled: "*) echo "skipped: $said"; exit 77 ;; esac
    wanted=$(sed -n 's/.*WITH \(ptxas [0-9.]*\)$/\1/p' "$file")
    case $said in *"($wanted"*) ;; *) [ -z "$wanted" ] || { echo "skipped: no $wanted"; exit 77; } ;; esac
    compare "$({ expected EXPECT; expected 'EXPECT ASSEMBLED'; } | sort -n)" "$(printf '%s\n' "$said" | found | sort -n)" "check --assemble"
fi
if grep -q -e '-- EXPECT PERF: ' -e '-- PERF' "$file"; then
    compare "$(expected 'EXPECT PERF')" "$("$wgrun" check --budget 2 --perf "$file" 2>&1 | found)" "check --perf"
fi
# A text of nvdisasm beside it is its machine code.
machine_code=${file%.*}.sass
if [ -e "$machine_code" ]; then
    compare "$(expected 'EXPECT SASS')" "$("$wgrun" check --budget 2 --sass "$file" "$machine_code" 2>&1 | found)" "check --sass"
    if grep -q -e 'EXPECT SASS PERF: ' -e '// SASS PERF' "$file"; then
        compare "$({ expected 'EXPECT SASS'; expected 'EXPECT SASS PERF'; } | sort -n)" \
            "$("$wgrun" check --budget 2 --sass --perf "$file" "$machine_code" 2>&1 | found | sort -n)" "check --sass --perf"
    fi
fi
case $file in *.ptx) exit ;; esac
in_run=$(expected 'EXPECT IN RUN')
if [ -n "$in_run" ]; then
    compare "$in_run" "$("$wgrun" --backend=sim "$file" 2>&1 | found)" "run"
elif ! grep -q -e '-- EXPECT: ' -e '-- CHECK ONLY' -e '-- EXPECT ASSEMBLED: ' "$file"; then
    compare "" "$("$wgrun" --backend=sim "$file" 2>&1)" "run"
fi
