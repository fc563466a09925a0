# --watch: the script again, whenever it changes; Ctrl-C ends it.
echo 'print "one"' > s.lua
"$WGRUN" --watch s.lua > out.txt 2> err.txt &
watcher=$!
await() {
    for _ in $(seq 300); do grep -q "$1" "$2" && return; sleep 0.1; done
    kill $watcher 2> /dev/null; ran="wgrun --watch"; code=; bad "no '$1' in $2"
}
await one out.txt
await watching err.txt
echo 'print "two"' > s.lua
await two out.txt
await 's.lua again' err.txt
# A run without end makes way.
echo 'print "three"; io.stdout:flush(); while true do end' > s.lua
await three out.txt
echo 'print "four"' > s.lua
await four out.txt
kill -INT $watcher
code=0
wait $watcher || code=$?
exits 130
run --watch nowhere.lua
exits 2
err 'wgrun: --watch: there is no file `nowhere.lua`'
for words in "--watch" "--watch -" "check --watch -"; do
    run $words
    exits 2
    err "wgrun: --watch needs a script that is a file (wgrun --help)"
done
