# check: makes every kernel, runs none, says so in one line.
file kernel.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("empty", { threads = 128 }, function(k) end)
print(kernel:run { grid = { 1, 1, 1 } })
os.exit(5)
END
run check kernel.lua
exits 0
out_has "kernel.lua: 1 kernel, 0 errors, 0 remarks"
out_has "  not decided without a run (--dynamic): WG-SYNC-06; as far as runs ahead came: WG-MBAR-04, WG-MEM-01, -02, "
run check --json kernel.lua
exits 0
out_has '"findings": []'
out_has '"left_to_a_run": ['
run check --sarif kernel.lua
exits 0
out_has '"2.1.0"'

# What follows FILE is the script's, options too.
file arguments.lua <<'L'
print(table.concat(arg, " "))
L
run check arguments.lua --m 5 -x
exits 0
err_has "--m 5 -x"

# After a run everything is decided that can be, and where something is wrong that comes first.
file ran.lua <<'L'
local wg = require "wgrun"
wg.kernel("empty", {}, function(k) end)
L
run check --dynamic --seeds 1 ran.lua
exits 0
out "ran.lua: 1 kernel, 0 errors, 0 remarks"
run check --dynamic --seeds 1 --json ran.lua
out_lacks '"left_to_a_run"'

# A run ahead ends where memory decides, and says at which line.
file memory_decides.lua <<'L'
local wg = require "wgrun"
wg.kernel("decided", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  k:if_(k:ld_global_u32(k:element(X, 0)):eq(0), function() k:st_global_u32(k:element(X, 1), 1) end)
end)
L
run check memory_decides.lua
exits 0
out_has "the run ahead of decided ended at memory_decides.lua:4, where a value decides that is not known before a run"
run check --json memory_decides.lua
out_has '"limit": false'

# Or at its limit.
file goes_on.lua <<'L'
local wg = require "wgrun"
wg.kernel("long", { threads = 32 }, function(k)
  local sum = k:mov(0, { type = "u32" })
  k:loop(1000000, function(i) k:add(sum, sum, i) end)
end)
L
run check goes_on.lua
exits 0
out_has "the run ahead of long ended at goes_on.lua:4, after as many steps as such a run takes"
run check --json goes_on.lua
out_has '"limit": true'
