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
# Words that people bring: each leads somewhere, and the explanation is about it.
while read -r words; do
    knows "${words%%: *}" "${words##*: }"
done <<'WORDS'
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

# What nobody knows, and what is nearly a name, is said as before.
run explain qqqq
exits 2
err_has "there is no rule"
run help k:wgmma_fense
exits 2
err_has "did you mean"

# Everything that topics name is there.
sed -n 's/^ *"\(\(WG-\|docs\/\|wg\.\|k:\|tile:\|tensor:\|wgmma:\|wgrun \)[^"]*\)"},$/\1/p; s/.*"see \(.*\)".*/\1/p' \
    "$SOURCE/engine/rules/topic_list.cpp" | tr ',' '\n' | sed 's/^ *//' | sort -u >names.txt
[ "$(wc -l <names.txt)" -ge 40 ] || bad "only $(wc -l <names.txt) names found in topic_list.cpp"
while read -r name; do
    case $name in
    WG-*) run explain "$name" ;;
    docs/*) code=0; [ -f "$SOURCE/$name" ] || code=1 ;;
    wgrun*) continue ;;
    *) run help "$name" ;;
    esac
    exits 0
done <names.txt
