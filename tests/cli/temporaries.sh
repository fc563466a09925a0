# A signal leaves no temporary file, a full disk not half a file, and modes stay.
mkdir d
file loop.lua <<'END'
local wg = require "wgrun"
local t = wg.zeros("u8", { 50000000 })
t:save "d/t.npy"
io.stdout:setvbuf "no"
print "ready"
while true do t:save "d/t.npy" end
END
for signal in TERM HUP INT; do
    "$WGRUN" loop.lua >out.txt 2>err.txt &
    child=$!
    ran="wgrun loop.lua, ended by $signal"
    wait_until grep -q ready out.txt
    kill -$signal $child
    code=0
    wait $child || code=$?
    [ $signal = INT ] && exits 130
    [ $signal = TERM ] && exits 143
    [ "$(ls -A d)" = t.npy ] || bad "only t.npy expected in d: $(ls -A d)"
done
# What a SIGKILL leaves, the next writer clears.
mkdir killed
for _ in 1 2 3 4 5; do
    "$WGRUN" -e 'local t = require "wgrun".zeros("u8", { 400000000 }) while true do t:save "killed/t.npy" end' &
    child=$!
    sleep 0.4
    kill -KILL $child
    wait $child 2>/dev/null
    ls -A killed | grep -q tmp && break
done
run -e 'require "wgrun".zeros("u8", { 1 }):save "killed/t.npy"'
exits 0
[ "$(ls -A killed)" = t.npy ] || bad "only t.npy expected: $(ls -A killed)"

chmod 600 d/t.npy
run -e 'require "wgrun".zeros("u8", { 1 }):save "d/t.npy"'
exits 0
[ "$(stat -c %a d/t.npy)" = 600 ] || bad "mode 600 expected: $(stat -c %a d/t.npy)"

run layout 8:1 --svg picture.svg
exits 0
cp picture.svg good.svg
chmod 640 picture.svg
(ulimit -f 1 && "$WGRUN" layout '(64,64):(64,1)' --svg picture.svg >out.txt 2>err.txt)
code=$?
ran="wgrun layout --svg on a full disk"
exits 1
err_has "picture.svg: File too large"
cmp -s picture.svg good.svg || bad "the good picture is gone"
[ "$(ls -A | grep -c tmp)" = 0 ] || bad "temporary files: $(ls -A)"
[ "$(stat -c %a picture.svg)" = 640 ] || bad "mode 640 expected"
echo before >three.txt
"$WGRUN" layout 8:1 --svg /dev/fd/3 >out.txt 2>err.txt 3>>three.txt || bad "--svg /dev/fd/3"
has three.txt before
has three.txt "</svg>"
