#!/bin/sh
# Every PTX text of a folder is read, and its check ends with findings or without: corpus.sh WGRUN FOLDER. WGRUN_PTX names
# another folder. It prints what is found, and how much of each text is read.
set -u
wgrun=$1
folder=${WGRUN_PTX:-$2}
files=$(find "$folder" -name '*.ptx' 2> /dev/null | sort)
[ -n "$files" ] || { echo "skipped: no PTX in $folder"; exit 0; }
bad=0 count=0
for file in $files; do
    report=$("$wgrun" check --budget 0.2 "$file" 2>&1)
    code=$?
    count=$((count + 1))
    echo "$report" | grep -E "error:|not checked" | cut -c1-200
    [ $code -le 1 ] || { echo "$file: exit code $code"; bad=1; }
done
echo "$count texts"
exit $bad
