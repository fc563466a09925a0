# SIGTERM, SIGINT and SIGHUP at moments that a seed chooses, while files are written: what is there is whole, nothing
# lies beside it, and the code says what came. MOMENTS and SEED ask for others; docs/reliability.md has the figures.
moments=${MOMENTS:-32} seed=${SEED:-1}
export WGRUN_CACHE="$WORK/cache" TMPDIR="$WORK/tmp"
mkdir d tmp
file save.lua <<'END'
local wg = require "wgrun"
local t, L = wg.zeros("u8", { 300000 }), wg.layout "(16,16):(16,1)"
local function build(o) return wg.kernel("k", { threads = 32 }, function(k) k:mov(o.n, { type = "u32" }) end), {} end
for i = 1, 30 do
  t:save "d/t.npy"
  L:svg "d/picture.svg"
  wg.tune { name = "n", build = build, rounds = 1, candidates = { { n = i }, { n = i + 1 } }, backend = "sim" }
end
END
file kernels.lua <<'END'
local wg = require "wgrun"
for i = 1, 6 do wg.kernel("k" .. i, { threads = 64 }, function(k) k:st_global_u32(k:param("to", "u32*"), NUMBER) end) end
END
file whole.lua <<'END'
local wg = require "wgrun"
if io.open "d/t.npy" then assert(#wg.load "d/t.npy":totable() == 300000) end
local picture = io.open "d/picture.svg"
assert(not picture or picture:read "a":find "</svg>%s*$")
END
# The files of each manifest are those that it lists.
exported_whole() {
    for manifest in "$1"/*.json; do
        [ -f "$manifest" ] || continue
        sed -n '/"name": "k[0-9]\.\(ptx\|cu\|h\|c\)"/{s/.*"\(k.*\)".*/\1/p}; s/.*"sha256": "\(.*\)".*/\1/p' "$manifest" |
            while read -r name && read -r hash; do
                [ "$(sha256sum <"$1/$name" | cut -d' ' -f1)" = "$hash" ] || echo "$1/$name"
            done
    done
}
nothing_left() {
    left=$(find "$WORK" -name '.wgrun*' -o -name '*.tmp')
    [ -z "$left" ] && [ -z "$(ls -A tmp)" ] || bad "$ran: left behind: $left $(ls -A tmp)"
}
sed "s|^local kit = .*|local kit = dofile '$SOURCE/tests/rules/kit.lua'|" "$SOURCE/tests/rules/WG-FENCE-01/bad_excerpt.lua" >before.lua
cp before.lua mended.lua
run check --fix mended.lua
exits 0

# Starts one of the works in the background as $child.
start() {
    case $1 in
        save) "$WGRUN" --backend=sim save.lua >out.txt 2>err.txt & ;;
        export) "$WGRUN" export numbered.lua -o out >out.txt 2>err.txt & ;;
        fresh) rm -rf fresh; "$WGRUN" export numbered.lua -o fresh >out.txt 2>err.txt & ;;
        fix) cp before.lua unfenced.lua; "$WGRUN" check --fix unfenced.lua >out.txt 2>err.txt & ;;
    esac
    child=$!
}
# How long each work takes on this machine, in nanoseconds: a moment is a part of that.
number=0 ended=0
for work in save export fresh fix; do
    number=$((number + 1))
    sed "s/NUMBER/$number/" kernels.lua >numbered.lua
    began=$(date +%s%N)
    start $work
    wait $child || bad "$work ended with $?: $(cat err.txt)"
    echo "$work $(($(date +%s%N) - began))"
done >durations.txt

awk -v seed="$seed" -v count="$moments" '
    { works[NR] = $1; duration[NR] = $2 / 1e9 }
    END {
        srand(seed)
        split("TERM INT HUP", signals, " ")
        for (i = 0; i < count; ++i) {
            work = i % NR + 1
            print works[work], signals[int(rand() * 3) + 1], sprintf("%.4f", rand() * duration[work])
        }
    }' durations.txt >moments.txt
while read -r work signal moment; do
    number=$((number + 1))
    sed "s/NUMBER/$number/" kernels.lua >numbered.lua
    start $work
    sleep "$moment"
    kill -$signal $child 2>/dev/null
    code=0
    wait $child 2>/dev/null || code=$?
    ran="moment $number: $work, $signal after $moment s"
    case $signal$code in
        *[A-Z]0) ;; # it had ended, or had not begun to listen to SIGINT, which the shell ignores for it
        TERM143 | INT130 | HUP129) ended=$((ended + 1)) ;;
        *) bad "$ran: exit code $code" ;;
    esac
    nothing_left
    [ -z "$(exported_whole out)$(exported_whole fresh)" ] || bad "$ran: not what its manifest lists: $(exported_whole out)$(exported_whole fresh)"
    [ $work != fix ] || cmp -s unfenced.lua before.lua || cmp -s unfenced.lua mended.lua || bad "$ran: half of a script"
done <moments.txt
run whole.lua
exits 0
[ $ended -gt 0 ] || bad "none of $moments was ended by the signal"
[ -z "$MOMENTS" ] || echo "$moments moments, $ended of them ended by the signal"

# SIGKILL leaves what it leaves; the next export clears it, and neither stops at it nor loses anything.
awk -v seed="$seed" -v count=$((moments / 4)) '
    $1 == "export" { srand(seed + 1); while (count-- > 0) printf("%.4f\n", rand() * $2 / 1e9) }' durations.txt >moments.txt
while read -r moment; do
    number=$((number + 1))
    sed "s/NUMBER/$number/" kernels.lua >numbered.lua
    "$WGRUN" export numbered.lua -o out >out.txt 2>err.txt &
    child=$!
    sleep "$moment"
    kill -KILL $child 2>/dev/null
    wait $child 2>/dev/null
    ran="killed after $moment s, then export"
    run export numbered.lua -o out
    exits 0
    nothing_left
    [ -z "$(exported_whole out)" ] || bad "$ran: not what its manifest lists: $(exported_whole out)"
done <moments.txt
