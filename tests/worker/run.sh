#!/bin/sh
# Worker processes, before a driver that is made up (fake_cuda.cpp): run.sh WGRUN FOLDER CASE NVRTC, where FOLDER holds
# the made-up libcuda.so.1, NVRTC a made-up libnvrtc.so.13, and CASE is a script beside this one or a function below.
WGRUN=$1
export LD_LIBRARY_PATH="$2"
CASE=$3
NVRTC=$4
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
export LUA_PATH="$HERE/?.lua;;" WGRUN_CACHE="$WORK/cache" XDG_CACHE_HOME="$WORK" LC_ALL=C
TOOLKIT=${CUDA_HOME-}
unset WGRUN_CUDA WGRUN_WORKER CUDA_HOME CUDA_PATH FAKE_CUDA_STUCK FAKE_CUDA_DEVICES FAKE_CUDA_FAULTY FAKE_CUDA_TEXTS
cd "$WORK" || exit 1

bad() {
    echo "$CASE: $*"
    cat out.txt err.txt 2>/dev/null
    exit 1
}
# The workers of a process, running or not yet reaped.
workers_of() { pgrep -P "$1" -x wgrun-gpu 2>/dev/null; }
alive() { [ -d "/proc/$1" ] && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
# Waits until the command is true, at most 20 s.
until_true() {
    for _ in $(seq 200); do
        if "$@"; then return 0; fi
        sleep 0.1
    done
    return 1
}
lacks_process() { ! alive "$1"; }

# A script that has a worker and waits in `$1`: its process is $child, that of the worker $worker.
start() {
    : >out.txt
    "$WGRUN" $MODE -e "$PRELUDE io.stdout:setvbuf 'no' print 'ready' $1" >out.txt 2>err.txt &
    child=$!
    until_true grep -q ready out.txt || bad "it did not start"
    worker=$(workers_of $child)
}
PRELUDE='local wg, kernels = require "wgrun", require "kernels"
kernels.add_one:run { args = { wg.zeros("f32", 1), 1 } }
local function named(n) return kernels.named(n) end'

exits() {
    code=0
    wait $child || code=$?
    [ "$code" = "$1" ] || bad "exit code $1 expected, not $code"
}

# What threads say comes back from a worker and from this process, also when the kernel has ended itself.
messages() {
    said='[messages.lua:7 cta 0 thread 3] first 0
[messages.lua:8 cta 0 thread 3] second {0}'
    last='[messages.lua:10 cta 0 thread 3] last'
    "$WGRUN" $MODE "$HERE/messages.lua" >out.txt 2>err.txt || bad "it should go on"
    printf '%s\n' "$said" "$last" "$said" "$last" started \
        "$said" '-3	assertion failed: tid = 0 (cta 0 thread 3)' "$said" '-3	assertion failed: tid = 0 (cta 0 thread 3)' \
        "$said" 'the kernel traps (cta 0 thread 3)' "$said" "$last" 3 >expected.txt
    cmp out.txt expected.txt || bad "expected: $(cat expected.txt)"
    "$WGRUN" --gpu=process "$HERE/messages.lua" once >out.txt 2>err.txt || bad "it should go on"
    head -n 10 expected.txt | cmp - out.txt || bad "expected: $(head -n 10 expected.txt)"
}

doctor() {
    "$WGRUN" doctor >out.txt 2>err.txt || bad "doctor failed"
    grep -q '^kernels run on  gpu' out.txt || bad "it should run on the gpu"
    grep -q '^device 0        Fake H100, sm_90' out.txt || bad "the device is missing"
    grep -q '^GPU runs in     a worker process of /' out.txt || bad "the worker is missing"
    WGRUN_WORKER=/nowhere "$WGRUN" doctor >out.txt 2>err.txt || bad "doctor failed"
    grep -q '^GPU runs in     this process: WGRUN_WORKER names /nowhere, which is not a program' out.txt || bad "the reason is missing"
    FAKE_CUDA_DEVICES=0 "$WGRUN" doctor >out.txt 2>err.txt || bad "doctor failed"
    grep -q '^device          none: the driver sees no device' out.txt || bad "the reason is missing"
}

# A parent that ends, in whatever way, leaves no worker behind.
orphans() {
    mkfifo go
    for end in 'os.exit(0)' 'os.exit(3, true)' 'os.execute "kill -9 $PPID"' 'os.execute "kill -TERM $PPID"' 'named("hang"):prepare {}:start() os.execute "kill -9 $PPID"'; do
        start "io.open('go'):read() $end"
        [ -n "$worker" ] || bad "no worker was seen: $end"
        echo >go
        wait $child 2>/dev/null
        until_true lacks_process "$worker" || bad "the worker outlives: $end"
    done
}

# Ctrl-C, wherever it meets the script. The worker does not see it, also where the terminal sends it to both.
interrupt() {
    for wait in 'named("hang"):run { timeout_ms = 100000 }' \
                'named("stuck"):run {}' \
                'local l = named("hang"):prepare { timeout_ms = 0 } while true do l:start() end' \
                'named("hang"):prepare {}:start() local t = wg.zeros("f32", 1 << 20):to "gpu"'; do
        start "$wait"
        sleep 0.3
        kill -INT $worker
        sleep 0.1
        alive $worker || bad "the worker took the signal"
        kill -INT $child
        exits 130
        grep -q 'interrupted' err.txt || bad "interrupted expected: $wait"
        until_true lacks_process $worker || bad "the worker outlives: $wait"
    done
    # While the worker starts.
    : >out.txt
    FAKE_CUDA_STUCK=init "$WGRUN" -e 'local wg = require "wgrun" print "ready" io.stdout:flush() print(wg.backend)' >out.txt 2>err.txt &
    child=$!
    until_true grep -q ready out.txt || bad "it did not start"
    sleep 0.3
    kill -INT $child
    exits 130
    grep -q 'interrupted' err.txt || bad "interrupted expected"
    # A session goes on after it.
    mkfifo lines
    "$WGRUN" <lines >out.txt 2>err.txt &
    child=$!
    exec 9>lines
    echo 'kernels = require "kernels" hang = kernels.named "hang" io.stdout:setvbuf "no" print "ready"' >&9
    echo 'hang:run { timeout_ms = 100000 }' >&9
    until_true grep -q ready out.txt || bad "no prompt"
    until_true eval 'workers_of $child >worker.txt'
    sleep 0.5
    kill -INT $child
    until_true grep -q 'interrupted' err.txt || bad "the session was not interrupted"
    echo 't = wg.zeros("f32", 1) kernels.add_one:run { args = { t, 1 } } print("then", t[0])' >&9
    exec 9>&-
    wait $child
    grep -q 'then.1.0' out.txt || bad "the session did not go on"
}

# The worker dies by itself, between launches.
killed() {
    mkfifo go
    start 'io.open("go"):read() local t = wg.zeros("f32", 1)
        local p = kernels.raised(kernels.add_one.run, kernels.add_one, { args = { t, 1 } })
        kernels.expect(p, "EFAULT", "the worker process was killed by signal 9")
        kernels.add_one:run { args = { t, 1 } } assert(t[0] == 1)'
    kill -9 $worker
    echo >go
    exits 0
}

# Many at once.
together() {
    pids=
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$WGRUN" "$HERE/session.lua" $i >out.$i 2>&1 &
        pids="$pids $!"
    done
    for pid in $pids; do wait $pid || { cat out.*; bad "one of them failed"; }; done
}

# A kernel that breaks the context of this process breaks it for good, and says so.
in_process() {
    "$WGRUN" --gpu=process -e '
        local wg, kernels = require "wgrun", require "kernels"
        local t = wg.zeros("f32", 1)
        kernels.add_one:run { args = { t, 1 } } assert(t[0] == 1)
        local hang, trap = kernels.named "hang", kernels.named "trap"
        kernels.expect(kernels.raised(trap.run, trap, {}), "EFAULT", "kernel `trap` failed")
        kernels.expect(kernels.raised(kernels.add_one.run, kernels.add_one, { args = { t, 1 } }), "EFAULT",
            "the CUDA context of this process is lost since kernel `trap` failed")' >out.txt 2>err.txt || bad "failed"
    "$WGRUN" --gpu=process -e '
        local wg, kernels = require "wgrun", require "kernels"
        local hang = kernels.named "hang"
        kernels.expect(kernels.raised(hang.run, hang, { timeout_ms = 50 }), "ETIMEDOUT", "and still runs")
        local add, t = kernels.add_one, wg.zeros("f32", 1)
        kernels.expect(kernels.raised(add.run, add, { args = { t, 1 }, timeout_ms = 100 }), "ETIMEDOUT",
            "did not end within 0.1 s, and still runs")' >out.txt 2>err.txt || bad "failed"
}

# NVRTC cannot be stopped: it runs in a process of its own, which can be killed, and whose end is no end of the script.
nvrtc() {
    export LD_LIBRARY_PATH="$NVRTC:$LD_LIBRARY_PATH" TMPDIR="$WORK"
    "$WGRUN" -e '
        local wg, kernels = require "wgrun", require "kernels"
        local t = wg.zeros("f32", 1)
        kernels.add_one:run { args = { t, 1 }, backend = "gpu-cuda" }
        local refused, suicide = kernels.named "refused", kernels.named "suicide"
        kernels.expect(kernels.raised(refused.run, refused, { backend = "gpu-cuda" }), "ECOMPILE", "a fake compiles nothing")
        kernels.expect(kernels.raised(suicide.run, suicide, { backend = "gpu-cuda" }), "EFAULT",
            "NVRTC: its process was ended by signal 9")
        kernels.add_one:run { args = { t, 1 }, backend = "gpu-cuda" }
        assert(t[0] == 2)' >out.txt 2>err.txt || bad "failed"
    # Of a kernel that was read from PTX each shape of launches has a build of its own, made once.
    FAKE_CUDA_TEXTS=$WORK "$WGRUN" -e '
        local wg = require "wgrun"
        local text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry add_one(.param .u64 data, .param .u32 count) { ret; }"
        local kernel, t = wg.ptx { name = "add_one.ptx", text = text }.add_one, wg.zeros("f32", 1)
        for _, backend in ipairs { "gpu-cuda", "gpu" } do
          for _, block in ipairs { 32, 64, 32, 64 } do
            kernel:run { grid = 1, block = block, args = { t, 1 }, backend = backend }
          end
        end
        assert(t[0] == 8)' >out.txt 2>err.txt || bad "failed"
    for block in 32 64; do
        [ "$(grep -l "__launch_bounds__($block," "$WORK"/*.ptx | wc -l)" = 1 ] || bad "one build for $block threads expected"
    done
    [ "$(ls "$WORK"/*.ptx | wc -l)" = 3 ] || bad "two builds of CUDA C++ and one of the text expected"
    start 'named("stuck"):run { backend = "gpu-cuda" }'
    until_true eval 'compilers_of $child >compiler.txt' || bad "no process of NVRTC"
    kill -INT $child
    exits 130
    grep -q interrupted err.txt || bad "interrupted expected"
    until_true lacks_process "$(cat compiler.txt)" || bad "the process of NVRTC outlives the script"
    # The end of the parent is its end too.
    start 'named("stuck"):run { backend = "gpu-cuda" }'
    until_true eval 'compilers_of $child >compiler.txt' || bad "no process of NVRTC"
    kill -9 $child
    wait $child 2>/dev/null
    until_true lacks_process "$(cat compiler.txt)" || bad "the process of NVRTC outlives the parent"
    # A program that does not compile is none that compiles nothing.
    WGRUN_CACHE=off WGRUN_WORKER=/bin/true "$WGRUN" --gpu=process -e '
        local wg, kernels = require "wgrun", require "kernels"
        local add = kernels.add_one
        kernels.expect(kernels.raised(add.run, add, { args = { wg.zeros("f32", 1), 1 }, backend = "gpu-cuda" }), "EFAULT",
            "NVRTC: its process ended with exit code 0")' >out.txt 2>err.txt || bad "failed"
}
compilers_of() { pgrep -P "$1" -x wgrun-nvrtc 2>/dev/null; }

# The traced builds that faults ask for, of all example scripts: ptxas takes them.
traced() {
    ptxas=$(CUDA_HOME=$TOOLKIT "$WGRUN" doctor | sed -n 's|^ptxas .* \(/.*\)$|\1|p')
    [ -n "$ptxas" ] || { echo "skipped: no ptxas"; exit 77; }
    export FAKE_CUDA_FAULTY=1
    for script in "$HERE"/../../scripts/*.lua; do
        FAKE_CUDA_TEXTS=$WORK "$WGRUN" "$script" >out.txt 2>err.txt
        for text in "$WORK"/*.ptx; do
            [ -e "$text" ] || continue
            "$ptxas" -arch=sm_90a -o /dev/null "$text" >out.txt 2>&1 || bad "$script: $ptxas refuses $text"
            ! grep -q param_guard_block "$text" || echo "$script" >>traced.txt
        done
        rm -f "$WORK"/*.ptx
    done
    for script in attention gemm gemm_fast hello_wgmma sparse_gemm; do
        grep -q "/$script.lua" traced.txt || bad "no traced build of $script"
    done
}

# The profiled builds of the example scripts: ptxas takes them.
profiled() {
    ptxas=$(CUDA_HOME=$TOOLKIT "$WGRUN" doctor | sed -n 's|^ptxas .* \(/.*\)$|\1|p')
    [ -n "$ptxas" ] || { echo "skipped: no ptxas"; exit 77; }
    for script in "$HERE"/../../scripts/*.lua; do
        grep -q ':run' "$script" || continue
        FAKE_CUDA_TEXTS=$WORK "$WGRUN" timeline --backend gpu "$script" >out.txt 2>err.txt
        for text in "$WORK"/*.ptx; do
            [ -e "$text" ] || continue
            grep -q param_profile "$text" || continue
            "$ptxas" -arch=sm_90a -o /dev/null "$text" >out.txt 2>&1 || bad "$script: $ptxas refuses $text"
            grep -qi 'serialized\|ill-formed' out.txt && bad "$script: stamps disturb the pipeline of wgmma"
            echo "$script" >>profiled.txt
        done
        rm -f "$WORK"/*.ptx
    done
    for script in attention gemm gemm_fast hello_wgmma sparse_gemm; do
        grep -q "/$script.lua" profiled.txt || bad "no profiled build of $script"
    done
}

# What cannot be a worker.
impostors() {
    for program in /bin/true /bin/false; do
        WGRUN_WORKER=$program "$WGRUN" -e 'print(require "wgrun".backend)' >out.txt 2>err.txt && bad "$program serves"
        grep -q 'the worker process ended with exit code' err.txt || bad "the reason is missing"
    done
    "$WGRUN" gpu-worker >out.txt 2>err.txt && bad "started by hand"
    grep -q 'started by wgrun itself' err.txt || bad "the reason is missing"
    "$WGRUN" gpu-worker another >out.txt 2>err.txt && bad "another version"
    grep -q 'of another version than its parent' err.txt || bad "the reason is missing"
}

# wgrun tune: what hangs or faults costs its candidate, is kept, and is not run again; two GPUs measure.
tune() {
    export WGRUN_CACHE=off FAKE_CUDA_DEVICES=2
    cat >t.lua <<'END'
local wg = require "wgrun"
return wg.tuning { name = "named", rounds = 2, space = { kind = { "fine", "hang", "trap" }, steps = { 1, 2 } }, build = function(o)
  local log = io.open("built.txt", "a")
  log:write(o.kind, " ", os.getenv "CUDA_VISIBLE_DEVICES" or "none", "\n")
  log:close()
  return wg.kernel(o.kind, { threads = 32 }, function(k)
    local data, v = k:param("data", "f32*"), k:mov(0.0, { type = "f32" })
    for _ = 1, o.steps do v = k:add(v, 1.0) end
    k:st_global_f32(k:element(data, k:special "tid.x"), v)
  end), { args = { wg.zeros("f32", { 32 }) }, timeout_ms = 300 }
end }
END
    "$WGRUN" tune --devices all --results r.jsonl t.lua >out.txt 2>err.txt || bad "failed"
    grep -q '2 measured, 4 skipped' out.txt || bad "2 measured, 4 skipped expected"
    grep -q 'hang, steps = 1: kernel `hang` did not end within' out.txt || bad "the reason is missing"
    [ "$(grep -c '"us":' r.jsonl)" = 2 ] && [ "$(grep -c '"failure":' r.jsonl)" = 4 ] || bad "$(cat r.jsonl)"
    for gpu in 0 1; do grep -q " $gpu\$" built.txt || bad "GPU $gpu has no worker"; done
    cp r.jsonl once.jsonl
    "$WGRUN" tune --results r.jsonl --timeout 100 t.lua >out.txt 2>err.txt || bad "failed"
    [ "$(grep -c 'measured before' out.txt)" = 2 ] || bad "all are known"
    cmp -s r.jsonl once.jsonl || bad "nothing was to be measured"
    "$WGRUN" tune --devices 2 t.lua >out.txt 2>err.txt && bad "there is no such GPU"
    grep -q 'there is no GPU 2: the last one is 1' err.txt || bad "the reason is missing"
}

# No descriptor, mapping or process stays of workers that are gone.
leaks() {
    "$WGRUN" -e '
        local wg, kernels = require "wgrun", require "kernels"
        local trap, t = kernels.named "trap", wg.zeros("f32", 1 << 20)
        local function count(what)
          local n, pipe = 0, io.popen(what)
          for _ in pipe:lines() do n = n + 1 end
          pipe:close()
          return n
        end
        -- The least of some looks: what a thread is about to close is no leak.
        local function state()
          local least = { math.huge, math.huge, math.huge }
          for _ = 1, 5 do
            collectgarbage() collectgarbage()
            local now = { count "ls /proc/$PPID/fd", count "grep -c . /proc/$PPID/maps; grep memfd /proc/$PPID/maps", count "pgrep -P $PPID" }
            for i, n in ipairs(now) do least[i] = math.min(least[i], n) end
            io.popen("sleep 0.05"):close()
          end
          return table.unpack(least)
        end
        local function lose()
          kernels.add_one:run { args = { t, 32 } }
          kernels.expect(kernels.raised(trap.run, trap, {}), "EFAULT", "trap")
        end
        lose()
        local f, m, p = state()
        for _ = 1, 20 do lose() end
        local f2, m2, p2 = state()
        assert(f2 == f and m2 == m and p2 == p, ("%d %d %d, then %d %d %d"):format(f, m, p, f2, m2, p2))' >out.txt 2>err.txt || bad "failed"
}

case "$CASE" in
    *.lua) timeout 100 "$WGRUN" --traceback "$HERE/$CASE" >out.txt 2>err.txt || bad "failed" ;;
    *) "$CASE" ;;
esac
