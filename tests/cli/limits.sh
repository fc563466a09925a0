# Limits: each ends with its own words, and cannot be caught for good.
limited() { # OPTION VALUE CODE WORDS
    run --backend=sim "$1" "$2" -e "$3"
    exits 1
    err_has "$4"
}
slow='the script has run for more than 0.3 s'
loop='local function f() while true do end end '
for code in 'while true do end' "$loop while true do pcall(f) end" "$loop pcall(f)" \
    "$loop while true do coroutine.wrap(function() pcall(f) end)() end" \
    "$loop while true do local co = coroutine.create(f) coroutine.resume(co) end" \
    "$loop xpcall(f, function() while true do end end)" \
    "$loop xpcall(f, function() error 'again' end)" \
    "$loop while true do xpcall(f, f) end" \
    "$loop xpcall(error, f)" \
    'local function h() return xpcall(error, h) end while true do h() end' \
    'local function h() error(h) end while true do xpcall(error, h) end' \
    "$loop while true do pcall(function() local x <close> = setmetatable({}, { __close = f }) f() end) end" \
    "$loop setmetatable(_G, { __index = f }) while true do pcall(function() return x.y end) end" \
    "$loop local t = {} for i = 1, 100 do t[i] = i end while true do pcall(table.sort, t, f) end" \
    "$loop while true do pcall(string.gsub, 'aaa', 'a', f) end" \
    'local function g() return pcall(g) or g() end while true do pcall(g) end' \
    'while true do local good, e = pcall(error, setmetatable({}, { __tostring = function() while true do end end })) end'; do
    limited --max-seconds 0.3 "$code" "$slow"
done
limited --max-seconds 0.3 'setmetatable({}, { __gc = function() while true do end end })' 'cannot set finalizers (__gc)'
# In C, where nobody looks: the process ends.
limited --max-seconds 0.3 'string.find(("a"):rep(40000), (".-"):rep(40) .. "b")' 'the command has run for more than 0.3 s and did not stop'
limited --max-instructions 100000 'for i = 1, 1000000 do end' 'more than 100000 instructions'
limited --max-instructions 100000 'while true do pcall(function() while true do end end) end' 'more than 100000 instructions'
run --max-instructions 100000000 --max-seconds 60 --max-memory 100 -e 'assert(select(2, xpcall(error, function(e) return e .. "!" end, "x")) == "x!")
  local co = coroutine.wrap(function() xpcall(coroutine.yield, print, 1) return 2 end) assert(co() == 1 and co() == 2) print "good"'
exits 0
out good
# Memory.
few='may use 20 MiB (--max-memory'
for code in 'local s = ("x"):rep(1 << 30)' 'local t = {} for i = 1, 1e9 do t[i] = i end' \
    'local s = "x" while true do s = s .. s end' 'local t = {} while true do t = { t } end' \
    'collectgarbage "stop" local t = {} for i = 1, 1e9 do t[i] = {} end' \
    'local function f() return 1 + f() end local t = {} while true do t[#t + 1] = coroutine.create(f) coroutine.resume(t[#t]) end' \
    'table.concat(setmetatable({}, { __index = function() return ("x"):rep(1 << 20) end }), "", 1, 1000)' \
    'local t = {} for i = 1, 1e9 do pcall(string.rep, "x", 1 << 30) t[i] = ("x" .. i):rep(1 << 10) end'; do
    limited --max-memory 20 "$code" "$few"
done
run --max-memory 20 -e 'for i = 1, 100 do pcall(string.rep, "x", 1 << 30) end print "good"'
exits 0
out good
run --max-memory 100 -e 'local function f() return 1 + f() end f()'
exits 1
err_has 'stack overflow'
# Tensors, programs, simulations.
limited --max-tensors 10 'require "wgrun".zeros("u8", { 11 << 20 })' 'tensors may use 10 MiB, of which 0 MiB are in use'
limited --max-tensors 10 'local t = {} for i = 1, 100 do t[i] = require "wgrun".zeros("u8", { 1 << 20 }) end' 'of which 10 MiB are in use'
run --max-tensors 10 -e 'local wg = require "wgrun" for i = 1, 100 do local t <close> = wg.zeros("u8", { 9 << 20 }) end print "good"'
exits 0
out good
limited --max-program 1000 'local wg = require "wgrun" wg.kernel("k", {}, function(k) while true do k:mov(1, { type = "u32" }) end end)' 'the kernel has more than 1000 instructions, blocks and registers'
limited --max-program 1000 'local wg = require "wgrun" wg.kernel("k", {}, function(k) while true do k:regs("f32", 100) end end)' 'the kernel has more than 1000'
endless='local wg = require "wgrun"
local k = wg.kernel("spin", { threads = 32 }, function(k) k:loop(4000000000, function() end) end)'
limited --max-steps 10000 "$endless
k:run { grid = { 1, 1, 1 } }" '2: kernel spin took more than 10000 steps on the simulator'
limited --max-seconds 1 "$endless
k:run { grid = { 1, 1, 1 } }" 'the script has run for more than 1 s'
for call in 'k:run { grid = { 1, 1, 1 }, timeout_ms = 200 }' 'k:time { grid = { 1, 1, 1 }, timeout_ms = 200 }' \
    'local l = k:prepare { grid = { 1, 1, 1 }, timeout_ms = 200 } l:start()'; do
    run --backend=sim -e "$endless
$call"
    exits 1
    err_has '2: kernel spin did not end within 0.2 s on the simulator'
done
run --max-seconds -1 -e ''
exits 2
run --max-memory x -e ''
exits 2

# The time is that of the command, whatever it does with a script, and however often it runs that.
cat > slow.lua <<'LUA'
local wg = require "wgrun"
local spin = wg.kernel("spin", { threads = 32 }, function(k)
  local n, D = k:param("n", "u32"), k:param("D", "u32*")
  local x = k:mov(0, { type = "u32" })
  k:loop({ from = 0, to = n }, function(i) k:add(x, x, i) end)
  k:st_global_u32(k:element(D, k:special "tid.x"), x)
end)
spin:run { args = { 2000000000, wg.zeros("u32", { 32 }) }, backend = "sim" }
LUA
printf 'local wg = require "wgrun" local g = wg.gemm { dtype = "bf16", problem = { 4096, 4096, 4096 } }' > proof.lua
for words in "--dynamic slow.lua" "--budget 10000 proof.lua" "--perf --budget 10000 proof.lua"; do
    begun=$(date +%s)
    # shellcheck disable=SC2086
    run check --max-seconds 2 $words
    exits 1
    err_has 'has run for more than 2 s'
    [ "$(grep -c 'more than 2 s' err.txt)" = 1 ] || bad "$ran: said twice"
    [ $(($(date +%s) - begun)) -le 8 ] || bad "$ran: took $(($(date +%s) - begun)) s"
done
