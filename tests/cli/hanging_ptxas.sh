# A ptxas that hangs, and has started others: Ctrl-C ends all of it, and nothing is left.
unset WGRUN_CUDA
export WGRUN_CACHE=off TMPDIR="$WORK/tmp" CUDA_HOME="$WORK"
mkdir bin tmp
file bin/ptxas <<'END'
#!/bin/sh
sleep 300 &
echo $! >grandchild
wait
END
chmod +x bin/ptxas
PATH="$WORK/bin:$PATH"
file kernel.lua <<'END'
local wg = require "wgrun"
wg.kernel("k", { threads = 32 }, function(k) end)
END
for signal in INT TERM; do
    rm -f grandchild
    "$WGRUN" check --assemble kernel.lua >out.txt 2>err.txt &
    child=$!
    wait_until test -s grandchild
    kill -$signal $child
    code=0
    wait $child || code=$?
    ran="wgrun check --assemble, $signal"
    [ $signal = INT ] && exits 130 || exits 143
    sleep 0.2
    state=$(sed 's/.*) //; s/ .*//' /proc/"$(cat grandchild)"/stat 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ] || bad "what ptxas has started still runs"
    [ -z "$(ls -A tmp)" ] || bad "left behind: $(ls -AR tmp)"
done
# One that fails.
printf '#!/bin/sh\necho "ptxas fatal   : no"\nexit 255\n' >bin/ptxas
run check --assemble kernel.lua
exits 3
