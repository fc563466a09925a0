# help and explain take words: what they know of them, the rules, and names that mention them.

# knows WORDS RULE: both lead there.
knows() {
    run explain "$1"
    exits 0
    out_has "$2"
    run help "$1"
    exits 0
    out_has "$2"
}
knows C7510 WG-PERF-01
knows C7515 WG-PERF-01
knows C7504 WG-PERF-03
knows fp8 "14 significant bits"
knows "fp8 precision" docs/silicon.md
knows CUDA_ERROR_INVALID_VALUE "tensor map"
knows TMA WG-TMA-01
knows "misaligned address" WG-TMA-01
knows multicast WG-SYNC-05
knows metadata wgmma:metadata_layout
knows "sparse metadata" WG-SPARSE-01
knows phase WG-MBAR-06
knows deadlock WG-MBAR-05
knows "wait_group and other warpgroups" WG-RACE-02
knows transposition trans_a
knows "bank conflicts" WG-PERF-05
knows illegal WG-MEM-01
# Words that people bring: each leads somewhere, at the prompt as on the command line.
cat >words.txt <<'WORDS'
uncoalesced: WG-PERF-09
occupancy: wgrun report
__launch_bounds__: WG-REG-04
padding: docs/guide/transpose.md
double buffering: k:pipeline
layout algebra: wg.composition
triton: docs/foreign.md
flaky: --seeds
cache hint: k:createpolicy_fractional
debugger: docs/debugging.md
dynamic shared memory: WG-MEM-05
gpu not found: wgrun doctor
tcgen05: docs/limits.md
quantization: wg.gemm
convolution: k:cp_async_bulk_tensor_im2col
flash attention: docs/guide/08-attention.md
odd sizes: kernel:sizes
benchmark: wgrun bench
threadfence: WG-RACE-04
undecided: docs/verdicts.md
WORDS
sed 's/^\(.*\): .*/print "== \1"\nhelp "\1"/' words.txt >asked.txt
"$WGRUN" <asked.txt >told.txt 2>&1
while read -r words; do
    awk -v words="${words%%: *}" -v wanted="${words##*: }" \
        '$0 == "== " words { here = 1; next } /^== / { here = 0 } here && index($0, wanted) { found = 1 } END { exit !found }' told.txt ||
        bad "help of ${words%%: *} does not name ${words##*: }"
done <words.txt
# A word is not found within others: cute in cuTensorMapEncodeTiled.
run explain cute
out_has wg.composition
out_lacks "tensor map has laws"

# Names that mention the words come last.
run help multicast
out_has "k:"
run explain --json multicast
exits 0
out_has '"about": '

# Where no name mentions the words, options do. A type has the instructions that begin with its name.
run help multicast
out_has "wg.gemm cluster "
run help wgmma
out_has "k:wgmma_commit_group"
run help dsmem
out_has "docs/guide/10-clusters.md"

# Every term of the glossary finds something.
sed -n 's/^| \([^|]*\) |.*/\1/p' "$SOURCE/docs/glossary.md" | grep -v '^term$\|^---' | sed 's/[,:;] /\n/g' | sort -u >terms.txt
[ "$(wc -l <terms.txt)" -ge 80 ] || bad "only $(wc -l <terms.txt) terms found in glossary.md"
sed 's/.*/help "&"/' terms.txt | "$WGRUN" >told.txt 2>&1
! grep "nothing is called" told.txt || bad "terms of the glossary find nothing"

# What nobody knows, and what is nearly a name, is said as before.
run explain qqqq
exits 2
err_has "there is no rule"
run help k:wgmma_fense
exits 2
err_has "did you mean"

# Everything that topics name is there, and every method in their texts.
sed -n 's/^ *"\(\(WG-\|docs\/\|wg\.\|k:\|tile:\|tensor:\|wgmma:\|wgrun \)[^"]*\)"},$/\1/p; s/.*"see \(.*\)".*/\1/p' \
    "$SOURCE/engine/rules/topic_list.cpp" | tr ',' '\n' | sed 's/^ *//' >all.txt
grep -o '\bk:[a-z_0-9]*' "$SOURCE/engine/rules/topic_list.cpp" >>all.txt
sort -u all.txt >names.txt
[ "$(wc -l <names.txt)" -ge 40 ] || bad "only $(wc -l <names.txt) names found in topic_list.cpp"
while read -r name; do
    case $name in
    WG-*) grep -q "\"$name\"" "$SOURCE"/engine/rules/*.cpp || bad "there is no $name" ;;
    docs/*) [ -f "$SOURCE/$name" ] || bad "there is no $name" ;;
    wgrun*) ;;
    *) echo "help \"$name\"" ;;
    esac
done <names.txt >asked.txt
[ "$(wc -l <asked.txt)" -ge 40 ] || bad "only $(wc -l <asked.txt) functions found in topic_list.cpp"
"$WGRUN" <asked.txt >told.txt 2>&1
! grep "nothing is called" told.txt || bad "topics name what is not there"
