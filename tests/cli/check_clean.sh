# check: makes every kernel, runs none, and says of each what is proved.
file kernel.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("empty", { threads = 128 }, function(k) end)
print(kernel:run { grid = { 1, 1, 1 } })
os.exit(5)
END
run check kernel.lua
exits 0
out_has "kernel.lua: 1 kernel, 0 errors, 0 remarks"
out "kernel.lua: 1 kernel, 0 errors, 0 remarks
empty: proved for all launches"
run check --json kernel.lua
exits 0
out_has '"findings": []'
out_has '"domain": "all launches"'
out_lacks '"undecided"'
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

# A run leaves verdicts as they are.
file ran.lua <<'L'
local wg = require "wgrun"
wg.kernel("empty", {}, function(k) end)
L
run check --dynamic --seeds 1 ran.lua
exits 0
out "ran.lua: 1 kernel, 0 errors, 0 remarks
empty: proved for all launches"

# What a launch decides is undecided, and the line says why. A branch that memory decides hides nothing else.
file memory_decides.lua <<'L'
local wg = require "wgrun"
wg.kernel("decided", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  k:if_(k:ld_global_u32(k:element(X, 0)):eq(0), function() k:st_global_u32(k:element(X, 1), 1) end)
end)
L
run check memory_decides.lua
exits 0
out_has "decided: proved for all launches but races in global memory"
out_has "  bounds: proved for all launches where X holds 8 bytes"
run check --json memory_decides.lua
out_has '"verdict": "undecided"'
out_has "\"reason\": \"two executions of it may meet in X: for all sizes that is open (tid.x)\""
out_lacks '"rules"'
out_lacks '"ended_ahead"'

# Kernels that are built alike, with the same verdict, are said once; what is wrong comes first, alone.
file alike.lua <<'L'
local wg = require "wgrun"
for _ = 1, 2 do wg.kernel("alike", {}, function(k) end) end
L
run check alike.lua
exits 0
out "alike.lua: 2 kernels, 0 errors, 0 remarks
alike: proved for all launches"
file wrong.lua <<'L'
local wg = require "wgrun"
wg.kernel("wrong", { threads = 64 }, function(k) k:bar_sync(1, { threads = 96 }) end)
L
run check wrong.lua
exits 1
out "wrong.lua: 1 kernel, 1 error, 0 remarks"

# A loop of a million turns ends.
file goes_on.lua <<'L'
local wg = require "wgrun"
wg.kernel("long", { threads = 32 }, function(k)
  local sum = k:mov(0, { type = "u32" })
  k:loop(1000000, function(i) k:add(sum, sum, i) end)
end)
L
run check goes_on.lua
exits 0
out_has "long: proved for all launches"
