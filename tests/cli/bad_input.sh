# What scripts and users get wrong: one line with the script's file and line, exit code 1, 2 or 4, no output file.
first='local wg = require "wgrun"'
# bad EXIT TEXT CODE: CODE is line 2 of a script
bad_line() {
    printf '%s\n%s\n' "$first" "$3" >bad.lua
    run --backend="${backend:-sim}" bad.lua
    exits "$1"
    out ""
    err "wgrun: bad.lua:2: $2"
}

# The same of a rule's law: TEXT is the whole of what is said.
bad_law() {
    printf '%s\n%s\n' "$first" "$3" >bad.lua
    run --backend=sim bad.lua
    exits "$1"
    out ""
    err "bad.lua:2: error: $2"
}

printf '%s\nlocal x = = 1\n' "$first" >syntax.lua
run syntax.lua
exits 1
err "wgrun: syntax.lua:2: unexpected symbol near '='"

printf 'import triton\n' >kernel.py
run check kernel.py
exits 1
err "wgrun: kernel.py:1: syntax error near 'triton': it is taken for a Lua script, as it is no PTX, CUDA C++ or machine code"

bad_line 1 'unknown option `shapes` of wg.randn: did you mean `shape`? (legal: shape, dtype, seed)' 'wg.randn { shapes = { 1 } }'
bad_line 1 'unknown dtype `bf17`: did you mean `bf16`? (fix: one of f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, u8, s32, u32, s64, u64, b1)' 'wg.zeros("bf17", { 1 })'
bad_line 1 'wg.tensor: 3 values, where f32 {2, 2} takes 4' 'wg.tensor("f32", { 2, 2 }, { 1, 2, 3 })'
bad_line 1 'index {2} is outside f32 {2}' 'print(wg.zeros("f32", { 2 })[{ 2 }])'
bad_line 1 'cannot open wgrun.tensor: no such file' 'error "cannot open wgrun.tensor: no such file"'
bad_line 1 "attempt to call a tensor value (local 't')" 'local t = wg.zeros("f32", { 1 }) t()'
bad_law 1 'shared memory: 232449 bytes on top of 0 exceed the 232448 bytes (227 KiB) of a CTA [WG-FORM-03]
  fix: smaller tiles or fewer stages    (PTX ISA 5.1.7)' \
    'wg.kernel("k", {}, function(k) k:shared { bytes = 232449 } end)'
bad_law 1 'kernel k: threads = 2000, a CTA has 1 to 1024 [WG-FORM-03]
  (PTX ISA 5.1.7)' 'wg.kernel("k", { threads = 2000 }, function() end)'
bad_line 1 'option `grid`: entry 1 is 0, must be 1..2147483647' 'wg.kernel("k", {}, function() end):run { grid = { 0 } }'
bad_line 1 'layout: expected `(` or an integer, the text ends at column 3 of `((`' 'wg.layout "(("'
backend=gpu
bad_line 4 'no GPU to run on: switched off by WGRUN_CUDA=off (fix: use the simulator (backend = "sim"))' 'wg.kernel("k", {}, function() end):run {}'
backend=

# Files: missing, no .npy, truncated. assert gives the message of nil, message, code.
load='print(assert(wg.load(arg[1])))'
printf '%s\n%s\n' "$first" "$load" >load.lua
printf 'no array at all' >text.npy
printf '%s\nwg.zeros("f32", { 100 }):save "whole.npy"\n' "$first" >save.lua
run save.lua
exits 0
head -c 300 whole.npy >short.npy
: >empty.npy
for name in nowhere text short empty; do
    run load.lua $name.npy
    exits 1
    out ""
    err_has "$name.npy"
    [ "$(wc -l <err.txt)" = 1 ] || bad "one line on standard error"
done

# gemm.lua: one line about what it cannot multiply, and D is not written.
gemm() {
    want=$1
    shift
    run --backend=sim "$SOURCE/scripts/gemm.lua" "$@" --d D.npy
    exits "$want"
    out ""
    [ "$(wc -l <err.txt)" = 1 ] || bad "one line on standard error"
    [ ! -e D.npy ] || bad "D.npy was written"
}
gemm 2 --m 0
gemm 2 --n 16385
gemm 2 --k x
gemm 2 --colour red
gemm 2 --dtype f32
gemm 1 --a whole.npy
gemm 1 --a short.npy
gemm 1 --a nowhere.npy
