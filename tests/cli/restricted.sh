# wgrun --restricted: what a script does not get, ways out that must be closed, and limits that hold.
refused() {
    run --restricted -e "$1"
    exits 1
    err_has "$2"
}
good() {
    run --restricted "$@"
    exits 0
}
for name in io debug package dofile loadfile string.dump os.execute os.exit os.remove os.rename os.tmpname os.getenv os.setlocale; do
    good -e "assert($name == nil, '$name')"
done
good -e 'assert(os.time() and os.clock() and os.date() and require "os" == os and os.difftime(2, 1) == 1)'
good -e 'assert(require "string".dump == nil and getmetatable("").__index.dump == nil and ("").dump == nil)'
for module in io debug package ffi x wgrun.nothing; do
    refused "require '$module'" "a restricted script cannot load the module \`$module\`"
done
good -e 'assert(not next { } and require "wgrun" and pcall(require, "wgrun.tune") ~= nil)'
# Bytecode, whole or in pieces, asked for or not.
"$WGRUN" -e 'io.open("chunk", "wb"):write(string.dump(function() return 1 end)):close()'
refused 'load("x", "x", "b")' 'can load only text'
refused 'assert(load("\27Lua"))' 'attempt to load a binary chunk'
refused 'assert(load("\27Lua", nil, nil, {}))' 'attempt to load a binary chunk'
refused 'local n = 0 assert(load(function() n = n + 1 return ({ "\27", "Lua" })[n] end))' 'attempt to load a binary chunk'
good -e 'assert(load("return x", "c", "t", { x = 7 })() == 7 and load("return _ENV", "c", "bt", nil)() == nil and load("return 1")() == 1)'
run --restricted chunk
exits 1
cat >other.lua <<'END'
return 1
END
refused 'require "other"' 'cannot load the module'
# What wgrun does with files and libraries.
refused 'require "wgrun".load "t.npy"' 'wg.load is not for restricted scripts'
refused 'require "wgrun".zeros("f32", {1}):save "t.npy"' 'tensor:save is not for restricted scripts'
refused 'require "wgrun".layout("8:1"):svg "x.svg"' 'svg is not for restricted scripts'
refused 'require "wgrun".mma_picture { shape = "m16n8k16" }:html "x.svg"' 'html is not for restricted scripts'
refused 'require "wgrun".from_dlpack(io)' 'wg.from_dlpack is not for restricted scripts'
refused 'require "wgrun".zeros("f32", {1}):to_dlpack()' 'tensor:to_dlpack is not for restricted scripts'
refused 'require "wgrun".kernel("k", {}, function(k) end):export "x"' 'kernel:export is not for restricted scripts'
refused 'require "wgrun".cublas {}' 'wg.cublas is not for restricted scripts'
refused 'local wg = require "wgrun" wg.tune { name = "n", build = print, candidates = { {} }, cache = "x" }' 'not for restricted scripts'
[ ! -e t.npy ] && [ ! -e x.svg ] && [ ! -e x ] || bad "a restricted script has written a file"
# The tile tier works.
cat >kernel.lua <<'END'
local wg = require "wgrun"
local gemm = wg.gemm { dtype = "bf16", problem = { 64, 64, 64 } }
local A, B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }
local D = wg.zeros("bf16", { 64, 64 })
gemm:run(A, B, D)
print "ran"
END
run --restricted --backend=sim kernel.lua
exits 0
out ran
run check --restricted --budget 0.1 kernel.lua
exits 0
