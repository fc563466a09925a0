# Without a file: a loop that prints values, goes on after errors and joins unfinished lines.
input='1 + 1
x = { 1, "two", y = 3 }
x
function f()
  return 7
end
f()
nil + 1
local z = 5
z + 1
wg.layout "(2,3):(3,1)"
"text", nil
.hlp
_
'
run
exits 0
out '2
{1, "two", y = 3}
7
6
(2,3):(3,1), mode 0 down, mode 1 to the right
  0 1 2
0 0 1 2
1 3 4 5
text	nil
text'
err_has "]:1: attempt to perform arithmetic on a nil value"
err_has 'unknown command `.hlp`: did you mean `.help`?'

# What the end of the input leaves unfinished is told.
input='1 + 1
function f(
'
run
exits 0
out 2
err_has "expected near <eof>"

# A script in the session, and the session as a script.
file part.lua <<'END'
#!/usr/bin/env wgrun
local kept = 20
function more() kept = kept + 1 return kept end
END
input='.load part.lua
more()
kept
.save all.lua
.load missing.lua
.save no/such/folder.lua
x = = 1
print "here"
.quit
print "never"
'
run
exits 0
out '21
21
here'
err_has 'cannot read missing.lua'
err_has 'no/such/folder.lua'
err_lacks never
grep -q 'local kept = 20' all.lua && grep -q 'more()' all.lua || bad "all.lua lacks what was run"

# Restricted, the commands that reach files are refused too.
input='.load part.lua
.save all2.lua
6 * 7
'
run --restricted
exits 0
out 42
err_has '.load'
[ ! -e all2.lua ] || bad "a restricted session wrote a file"

# Machine code: what the cubin of ptxas looks like to nvdisasm. Programs of that name stand in for them.
mkdir bin
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho made >"$2"\n' >bin/ptxas
printf '#!/bin/sh\necho "/*0000*/ EXIT; of $(cat "$2")"\n' >bin/nvdisasm
chmod +x bin/ptxas
unset WGRUN_CUDA
export WGRUN_CACHE=off CUDA_HOME="$WORK"
PATH="$WORK/bin:$PATH"
input='k = wg.kernel("k", { threads = 32 }, function(k) end)
.sass k
'
if "$WGRUN" doctor | grep -q '^nvdisasm *missing'; then
    run --backend=sim
    exits 0
    err_has 'nvdisasm was not found'
fi
chmod +x bin/nvdisasm
run --backend=sim
exits 0
out '/*0000*/ EXIT; of made'
printf '#!/bin/sh\necho no; exit 3\n' >bin/nvdisasm
run --backend=sim
exits 0
err_has 'nvdisasm failed (3): no'
