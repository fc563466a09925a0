# Ctrl-C ends a check wherever it is: exit code 130, and neither a verdict nor a changed file.

# interrupt COMMAND...: once the file `ready` is there
interrupt() {
    ran="wgrun $*"
    rm -f ready
    "$WGRUN" "$@" >out.txt 2>err.txt &
    child=$!
    wait_until test -e ready
    kill -INT $child
    code=0
    wait $child || code=$?
    exits 130
}

# script WHERE: hangs in Lua after a launch that gave results (run), or at a size that check looks at (size)
script() {
    cat >hangs.lua <<EOF
local wg = require "wgrun"
local kernel = wg.kernel("fill", { threads = 32 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local i = k:special "tid.x"
  k:if_(i:lt(n), function() k:st_global_f32(k:element(X, i), 1.0) end)
  k:bar_sync(0)
end)
local function hang()
  io.open("ready", "w"):close()
  while true do end
end
local function launch(n) return kernel:run { args = { wg.zeros("f32", { 32 }), n } } end
if "$1" == "size" then kernel:sizes { n = { 1, 32 }, run = function(size) launch(size.n) hang() end } end
if launch(32) ~= "none" and "$1" == "run" then hang() end
EOF
}

script run
interrupt check --dynamic hangs.lua
err_has 'interrupted'
interrupt check --perf hangs.lua
interrupt check --dynamic --json hangs.lua
interrupt check --fix --dynamic hangs.lua
err_has 'hangs.lua was not changed: interrupted'
script size
interrupt check hangs.lua
out_has 'hangs.lua: interrupted before all was checked'
interrupt check --dynamic hangs.lua
interrupt check --perf hangs.lua

# In a proof, which takes hundreds of seconds here.
cat >proof.lua <<EOF
dofile "$SOURCE/scripts/guide/07-gemm.lua"
io.open("ready", "w"):close()
EOF
ran="wgrun check --budget 1000 proof.lua"
rm -f ready
"$WGRUN" check --budget 1000 proof.lua >out.txt 2>err.txt &
child=$!
wait_until test -e ready
sleep 1
kill -INT $child
code=0
wait $child || code=$?
exits 130
err_has 'interrupted'
out_lacks 'proved'
