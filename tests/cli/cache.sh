# wgrun cache: what it says and what it removes; files of others stay; tuners at once lose nothing.
export WGRUN_CACHE=.
own=wgrun-cache-v1
echo text >thesis.tex
echo text >notes.tmp
touch -d 2001-01-01 thesis.tex notes.tmp
key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
run cache info
exits 0
out_has "./$own"
out_has "0 entries, 0.0 of 256 MiB"
mkdir -m 700 $own
echo nonsense >$own/$key.entry
mkfifo $own/$(echo $key | tr 0 1).entry
echo mine >$own/mine.txt
run cache verify
exits 1
out_has "$key.entry removed: it is damaged, or belongs to another key"
out_has "removed: it is not a regular file"
out_has "0 entries are intact, 2 were damaged"
run cache verify --json
exits 0
out_has '"good": 0'
echo nonsense >$own/$key.entry
run cache clear
exits 0
out "1 entry removed, 0.0 MiB"
[ "$(ls -A $own)" = mine.txt ] || bad "only mine.txt expected: $(ls -A $own)"
chmod 777 $own
run cache clear
exits 1
err_has "the cache ./$own cannot be used: others may write to it (mode 0777)"
chmod 700 $own
[ -f thesis.tex ] && [ -f notes.tmp ] || bad "files of others are gone"
WGRUN_CACHE=off run cache info
exits 0
out_has "nothing is cached: switched off by WGRUN_CACHE=off"
run cache
exits 2
run cache empty
exits 2

# Ten tuners at once.
file tune.lua <<'END'
local wg = require "wgrun"
local function build(o) return wg.kernel("k", { threads = 32 }, function(k) k:mov(o.n, { type = "u32" }) end), {} end
local candidates = {}
for i = 1, 8 do candidates[i] = { n = tonumber(arg[1]) * 100 + i } end
local _, report = wg.tune { name = "n", build = build, rounds = 1, candidates = candidates }
print(report.cache)
END
children=
for i in 1 2 3 4 5 6 7 8 9 10; do
    "$WGRUN" --backend=sim tune.lua $i >out$i.txt 2>err.txt &
    children="$children $!"
done
for child in $children; do wait $child || bad "a tuner failed"; done
results=$own/tune/results.txt
[ "$(wc -l <$results)" = 81 ] || bad "81 lines expected in $results: $(wc -l <$results)"
[ "$(stat -c %a $results)" = 600 ] || bad "mode 600 expected"
[ "$(ls -A $own/tune)" = results.txt ] || bad "only results.txt expected: $(ls -A $own/tune)"
# What others may have written is not believed.
chmod 666 $results
run --backend=sim tune.lua 11
exits 0
[ "$(wc -l <$results)" = 81 ] || bad "nothing is to be added to a file of others"
