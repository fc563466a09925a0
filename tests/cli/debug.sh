# wgrun debug: commands from a pipe and from a file, stops, going back, who wrote what.
file pair.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("pair", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local s = k:shared { bytes = 256, name = "s" }
  local tid = k:special "tid.x"
  local at = k:mov_u32(s) + tid * 4
  local value = tid * 3
  k:st_shared_u32(at, value)
  k:bar_sync(0)
  local other = k:ld_shared_u32(k:mov_u32(s) + (tid ~ 1) * 4)
  k:print("other %u", other, { guard = tid:eq(5) })
  k:st_global_u32(k:element(X, tid), other)
end)
local x = wg.zeros("u32", { 64 })
kernel:run { grid = { 2, 1, 1 }, args = { x } }
print(x[4], x[5])
END
input='break 8 cta=0,warp=1,nth=1
info
names
c
p value
p tid
warps
step
where
back
p other
watch 0x400:4
delete 3
break 12 cta=1
c
p other
who X[0,5]
who s
quux
p nothing
goto 5
back
'
run debug pair.lua
exits 0
out_has 'before the first step
pair.lua:3, cta 0 warp'
out_has 'stop 2: line 8, cta=0,warp=1,nth=1'
out_has 'stop 2
pair.lua:8, cta 0 warp 1'
out_has '    8 |   k:st_shared_u32(at, value)'
out_has 'value (u32)
  lane  0:  96  99 102 105 108 111 114 117'
out_has '> cta 0 warp 1: at line 8'
out_has 'value: a register (u32)'
out_has 's: 256 bytes of shared memory at 0'
out_has 'X: a parameter'
out_has 'step
pair.lua:9, cta 0 warp 1'
out_has 'other (u32) = ?: nothing was written to it'
out_has 'stop 4: line 12, cta=1'
out_has 'stop 4
pair.lua:12, cta 1 warp'
out_has 'X[0,5] was written
  time '
out_has 'pair.lua:12, cta 0 warp 0, thread 5: 0x00000000 -> 0x0000000c'
out_has 'no command `quux`'
out_has 'nothing is called `nothing`'
out_has '[pair.lua:11 cta 0 thread 5] other 12'
out_has '15	12'
[ "$(grep -c '^\[pair.lua:11' out.txt)" = 2 ] || bad "prints of runs that were begun again are not printed"

# The same commands from a file give the same; the time is the same in every run.
printf '%s' "$input" >commands.txt
cp out.txt piped.txt
input=
run debug -x commands.txt pair.lua
exits 0
cmp -s out.txt piped.txt || bad "commands from a file do the same"

# Where everybody is when nothing goes on.
file stuck.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("stuck", { threads = 64 }, function(k)
  local bar = k:shared { bytes = 8, align = 8, name = "full" }
  local tid = k:special "tid.x"
  local at = k:mov_u32(bar)
  k:if_(tid:eq(0), function() k:mbarrier_init(bar, 2) end)
  k:bar_sync(0)
  k:if_(tid:eq(0), function() k:mbarrier_arrive_expect_tx(bar, 16) end)
  k:while_(function() return ~k:mbarrier_try_wait_parity(bar, 0) end, function() end)
end)
kernel:run { grid = { 1, 1, 1 }, args = {}, unchecked = true }
END
sed -i 's/return ~k:mbarrier_try_wait_parity(bar, 0)/local p = k:mbarrier_try_wait_parity(bar, 0) return (k["not"](k, p))/' stuck.lua
input='c
barriers
warps
c
'
run debug stuck.lua
exits 1
out_has 'cta 0 `full`: phase 0 (parity 0), 1 of 2 arrivals has come, 16 bytes are outstanding'
out_has 'waits for phase 0 (parity 0) of the mbarrier `full`'
err_has 'the kernel hangs: warps 0, 1 wait'

# kernel:debug in a script; quit leaves the tensors as they were.
sed 's/threads = 64/threads = 64, names = true/
    s/^kernel:run.*/kernel:debug { grid = { 1, 1, 1 }, args = { x }, commands = { "break 12", "c", "p X[0,0]", "p value", "quit" } }/' pair.lua >inside.lua
run --backend=sim inside.lua
exits 0
out_has 'inside.lua:12, cta 0 warp'
out_has 'X[0,0] = 0'
out_has 'value (u32)'
out_has '0	0'

# A launch that was made ready is debugged at each start.
sed 's/^kernel:run \(.*\)/local launch = kernel:prepare \1\nlaunch:start()\nlaunch:start()\nlaunch:download()/' pair.lua >prepared.lua
grep -q 'launch:start()' prepared.lua || bad "the script has changed"
input='break 12 nth=1
c
p X[0,0]
c
'
run debug prepared.lua
exits 0
out_has 'before the first step'
out_has 'prepared.lua:12, cta 0 warp'
out_has 'X[0,0] = 0'
[ "$(grep -c 'before the first step' out.txt)" = 2 ] || bad "both starts are debugged"
input=
run run --dump X@12 --when cta=0,warp=0 prepared.lua
exits 0
[ "$(grep -c '^X@12 cta 0 warp 0' out.txt)" = 2 ] || bad "both starts have dumps"

# Stops that are added and taken away at a stop of a watch, while other watches change as well.
input='watch X[0,4]
watch X[0,4]
c
delete
watch X[0,2]
break 12
info
c
c
c
'
run debug pair.lua
exits 0
out_has 'stop 2: X[0,4] changed from'
out_has 'stop 3: X[0,4] changed from'
