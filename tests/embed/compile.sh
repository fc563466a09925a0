#!/bin/bash
# A compiler for `build.sh folder`: what a host would compile of wgrun as this build has compiled it is taken from there.
# Only optimization, warnings and folders may differ in the command, and a generated source may not. All else is compiled.
# OWN_CXX is the compiler, OWN_BUILD the folder of this build, HOST_BUILD that of wgrun in the host's; TAKEN is a file
# that counts what is taken.
set -eu

out="" source="" dependencies=""
for ((i = 1; i < $#; ++i)); do
    next=$((i + 1))
    case ${!i} in
    -o) out=${!next} ;;
    -c) source=${!next} ;;
    -MF) dependencies=${!next} ;;
    esac
done
own=${out#wgrun/}
[[ $own = "$out" || $own != CMakeFiles/wgrun_*.o || ! -f $OWN_BUILD/$own ]] && exec "$OWN_CXX" "$@"

# What code depends on, a word a line: macros, the language, code generation, folders.
meaning() { tr ' ' '\n' | sed "s|$HOST_BUILD|$OWN_BUILD|g" | grep -E '^(-D|-std|-f|-I|/)' | grep -v -e '^-DNDEBUG$' -e "\.\(o\|d\|cxx\|cpp\|hxx\)$" -e "^$OWN_CXX$" | sort -u; }
generated=${source#"$HOST_BUILD"}
if [ "$generated" = "$source" ] || cmp -s "$source" "$OWN_BUILD$generated"; then
    if cmp -s <(echo "$@" | meaning) <(ninja -C "$OWN_BUILD" -t commands "$own" | tail -1 | meaning); then
        cp "$OWN_BUILD/$own" "$out"
        [ -z "$dependencies" ] || echo "$out: $source" > "$dependencies"
        echo "$own" >> "$TAKEN"
        exit 0
    fi
fi
exec "$OWN_CXX" "$@"
