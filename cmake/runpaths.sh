#!/bin/sh
# runpaths.sh FILE...: refuses programs and libraries that look for others anywhere but beside themselves: each entry of
# their RUNPATH or RPATH has to begin with $ORIGIN. An empty entry, such as the padding of a build tree's, is the current
# directory (CWE-427). Files that are no ELF files are passed over.
bad=0
for file; do
    readelf -d "$file" 2> /dev/null | awk -F'[][]' -v file="$file" '
        /\((RUNPATH|RPATH)\)/ {
            n = split($2, entries, ":")
            if (n == 0) entries[n = 1] = ""
            for (i = 1; i <= n; ++i)
                if (entries[i] !~ /^\$ORIGIN(\/|$)/) {
                    printf "%s: its RUNPATH has the entry \"%s\"\n", file, entries[i]
                    exit 1
                }
        }' || bad=1
done
exit $bad
