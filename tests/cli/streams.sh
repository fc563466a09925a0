# Standard streams that are closed, broken or full: an exit code says so, and no file takes their place.
closed() {
    ran="wgrun $* >&-"
    code=0
    : >out.txt
    "$WGRUN" "$@" >&- 2>err.txt </dev/null || code=$?
}
full() {
    ran="wgrun $* >/dev/full"
    code=0
    : >out.txt
    "$WGRUN" "$@" >/dev/full 2>err.txt </dev/null || code=$?
}
file save.lua <<'END'
local wg = require "wgrun"
print "before"
wg.zeros("f32", { 2 }):save "t.npy"
print "after"
END
file kernel.lua <<'END'
local wg = require "wgrun"
wg.kernel("k", { threads = 32 }, function(k) end)
END
closed save.lua
exits 1
err_has "cannot write the results: Bad file descriptor"
run -e 'assert(require "wgrun".load "t.npy".shape[1] == 2)'
exits 0
for command in --version --help doctor explain rules "isa wgmma" "layout 8:1" "decode 0x4000004000010080" \
    "check kernel.lua" "ptx kernel.lua" "cuda kernel.lua" "check --json kernel.lua" "explain --json"; do
    # shellcheck disable=SC2086  # words
    closed $command
    exits 1
    err_has "cannot write the results: Bad file descriptor"
    [ -w /dev/full ] || continue
    # shellcheck disable=SC2086
    full $command
    exits 1
    err_has "cannot write the results: No space left on device"
done
# Nothing at all is open.
code=0
"$WGRUN" save.lua <&- >&- 2>&- || code=$?
exits 1
run -e 'assert(require "wgrun".load "t.npy".shape[1] == 2)'
exits 0
# Whoever read has gone: the tool ends as others do, by the signal, and leaves no temporary file.
mkdir d
file loop.lua <<'END'
local wg = require "wgrun"
local t = wg.zeros("f32", { 1000 })
while true do
  t:save "d/t.npy"
  print "saved"
end
END
("$WGRUN" loop.lua 2>err.txt; echo $? >code.txt) | head -n 3 >out.txt
code=$(cat code.txt)
ran="wgrun loop.lua | head"
exits 141
[ "$(ls -A d)" = t.npy ] || bad "only t.npy expected in d: $(ls -A d)"
