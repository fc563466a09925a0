#!/bin/sh
# wgrun tune on a GPU: tune.sh WGRUN [CASE...]. A search is interrupted, resumed, and called once more, which measures nothing; then the
# best options are measured beside those that wg.gemm and wg.attention choose. Exit code 77 without an sm_90 device, 1 where something
# is wrong.
set -u
wgrun=$(realpath "$1")
shift
if ! "$wgrun" -e 'os.exit(require "wgrun".device() and 0 or 1)' > /dev/null 2>&1; then
    echo "skipped: no device"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
bad() {
    echo "FAILED  $*"
    failed=1
}

# A product of wg.gemm.
cat > gemm.lua <<'END'
return require "wgrun".tuning { gemm = { dtype = "bf16", problem = { 2048, 11008, 4096 } }, candidates = CANDIDATES }
END

# Any kernel, by `build`: a grouped product, whose groups' sizes are on the device.
cat > groups.lua <<'END'
local wg = require "wgrun"
local groups, N, K = 16, 2048, 2048
local ends, total = {}, 0
for i = 1, groups do
  total = total + 37 * i % 301
  ends[i] = total
end
local A = wg.randn { shape = { total, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { groups * N, K }, dtype = "bf16", seed = 2 }
local D, offsets = wg.zeros("bf16", { total, N }), wg.tensor("s32", { groups }, ends)
local candidates = { {} }
for _, schedule in ipairs { "cooperative", "pingpong" } do
  for _, m in ipairs { 64, 128, 192, 256 } do
    for _, n in ipairs { 128, 192, 256 } do
      for _, cluster in ipairs { 1, 2 } do candidates[#candidates + 1] = { tile = { m, n }, schedule = schedule, cluster = cluster } end
    end
  end
end
return wg.tuning {
  name = "grouped product", candidates = CANDIDATES or candidates,
  build = function(options)
    options.groups, options.problem = "contiguous", { total, N, K, groups }
    local gemm = wg.gemm(options)
    return gemm.kernel, gemm:launch(A, B, D, { offsets = offsets })
  end,
  verify = function()
    local row = ends[1] -- the first of the second group
    local want = wg.dot(A, row * K, 1, B, N * K, 1, K)
    return math.abs(D[{ row, 0 }] - want) <= 2 ^ -8 * math.abs(want) + 0.5, ("D is %g, not %g"):format(D[{ row, 0 }], want)
  end,
}
END

# The blocks of keys of wg.attention.
cat > attention.lua <<'END'
local wg = require "wgrun"
local shape = { 1, 4096, 16, 128 }
local function random(seed) return wg.randn { shape = shape, dtype = "bf16", seed = seed } end
local Q, K, V, O = random(1), random(2), random(3), wg.zeros("bf16", shape)
local candidates = { {} }
for block = 16, 256, 16 do candidates[#candidates + 1] = { block = block } end
return wg.tuning {
  name = "attention", candidates = CANDIDATES or candidates,
  build = function(options)
    local attention = wg.attention { dim = 128, heads = 16, causal = true, block = options.block }
    return attention.kernel, attention:launch(Q, K, V, O)
  end,
}
END

[ $# -gt 0 ] || set -- gemm groups attention
for case; do
    echo "== $case"
    { echo 'CANDIDATES = nil'; cat "$case.lua"; } > search.lua
    timeout -s INT 8 "$wgrun" tune --results "$case.jsonl" search.lua > first.txt 2>&1
    code=$?
    before=$(grep -c . "$case.jsonl" 2> /dev/null)
    echo "interrupted after 8 s (exit code $code): $before results"
    start=$(date +%s)
    "$wgrun" tune --show 4 --results "$case.jsonl" search.lua > out.txt 2> err.txt || bad "$case: $(cat out.txt err.txt)"
    cat out.txt err.txt
    echo "resumed: $(($(date +%s) - start)) s, $(wc -l < "$case.jsonl") results, $(grep -c failure "$case.jsonl") of them failures"
    [ "$(wc -l < "$case.jsonl")" -ge "${before:-0}" ] || bad "$case: results are gone"
    cp "$case.jsonl" once.jsonl
    start=$(date +%s)
    "$wgrun" tune --json --results "$case.jsonl" search.lua > out.json 2> err.txt || bad "$case: $(cat err.txt)"
    echo "once more: $(($(date +%s) - start)) s"
    cmp -s "$case.jsonl" once.jsonl || bad "$case: something was measured again"
    # The best beside the default, in a file of their own.
    best=$(sed -n 's/^ *"options": "\(.*\)",$/\1/p' out.json | head -1)
    if [ "$best" != "(none)" ]; then
        lua=$(echo "$best" | sed -E 's/([0-9]+)x([0-9]+)(x([0-9]+))?/{ \1, \2 }/; s/(schedule|raster) = ([a-z]+)/\1 = "\2"/g')
        { echo "CANDIDATES = { {}, { $lua } }"; cat "$case.lua"; } > both.lua
        for round in 1 2 3; do
            rm -f both.jsonl
            "$wgrun" tune --prune 0 --rounds 50 --results both.jsonl both.lua 2>&1 | sed "s/^/round $round: /"
        done
    fi
done
exit $failed
