# Every command that works in this process has limits of memory and time; those that read a script or a text have all limits.
of_scripts="--max-instructions --max-tensors --max-program --max-steps --restricted"
count=0
for command in $("$WGRUN" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p'); do
    count=$((count + 1))
    "$WGRUN" "$command" --help > help.txt 2> err.txt || bad "$command --help: $(cat err.txt)"
    case $command in
    record | serve | mcp | lsp) all="" none="--max-memory --max-seconds $of_scripts" ;; # they start other commands, with limits of their own
    bench | check | cuda | debug | export | layout | lua | ptx | report | run | sass | timeline | tune)
        all="--max-memory --max-seconds $of_scripts" none="" ;;
    *) all="--max-memory --max-seconds" none=$of_scripts ;;
    esac
    for option in $all; do grep -q -e "$option " help.txt || bad "wgrun $command has no $option"; done
    for option in $none; do ! grep -q -e "$option " help.txt || bad "wgrun $command has $option"; done
done
[ "$count" = 27 ] || bad "the help lists $count commands: is this test's pattern still right?"

# They are read.
for words in "cache info" "completion bash" "decode 0x4000004000010080" doctor "explain WG-FENCE-01" "help gemm" "isa wgmma" man new rules \
    "layout (8,64):(64,1)"; do
    # shellcheck disable=SC2086
    run $words --max-memory 500 --max-seconds 60
    exits 0
    # shellcheck disable=SC2086
    run $words --max-memory x
    exits 2
done

run doctor --max-seconds nan
exits 2
err_has "nan is no number"

# They hold.
awk 'BEGIN {
  print ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<100000>;\nmov.u32 %r0, %tid.x;"
  for (i = 1; i < 100000; i++) printf "add.s32 %%r%d, %%r%d, %d;\n", i, int(i / 2), i
  print "ret;\n}"
}' > large.ptx
run lua --max-memory 30 large.ptx
exits 1
err "wgrun: not enough memory: script, checker and simulator may use 30 MiB (--max-memory)"
run lua --max-seconds 0.1 large.ptx
exits 1
err_has 'the time for this work is over'
run lua --max-seconds 0.0001 large.ptx # which is no 0
exits 1
err_has 'the time for this work is over'
run lua --max-program 1000 large.ptx
exits 1
err_has 'large.ptx:4: the kernel has 100000 instructions, and is not translated: 1000 are allowed (fix: a higher limit (--max-program))'
run lua --max-memory 2000 --max-seconds 100 --max-program 200000 large.ptx -o large.lua
exits 0
has large.lua 'local kernel_1'
echo 'while true do end' > endless.lua
run layout --max-seconds 0.3 endless.lua NAME
exits 1
err_has 'the script has run for more than 0.3 s'
run layout --max-instructions 100000 endless.lua NAME
exits 1
err_has 'more than 100000 instructions'
echo 'local t = {} while true do t = { t } end' > growing.lua
run layout --max-memory 20 growing.lua NAME
exits 1
err_has 'may use 20 MiB (--max-memory'
echo 'io.write "written" return {}' > reading.lua
run layout --restricted reading.lua NAME
exits 1
err_has "attempt to index a nil value (global 'io')"
# What does not look at the time, as reading a file that nobody writes, ends with the process.
mkfifo unwritten.ptx
for words in "check unwritten.ptx" "lua unwritten.ptx" "sass unwritten.ptx" "layout unwritten.ptx NAME"; do
    # shellcheck disable=SC2086
    run $words --max-seconds 0.2
    exits 1
    err_has 'wgrun: the command has run for more than 0.2 s and did not stop: raise the limit: --max-seconds'
done

# Of the commands that a server starts.
input='{"id": 1, "command": "lua", "file": "large.ptx", "options": {"max-memory": 30}}'
run serve
exits 1
out_has 'not enough memory: script, checker and simulator may use 30 MiB (--max-memory)'
