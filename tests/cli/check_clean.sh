# check: makes every kernel, runs none, says so in one line.
file kernel.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("empty", { threads = 128 }, function(k) end)
print(kernel:run { grid = { 1, 1, 1 } })
os.exit(5)
END
run check kernel.lua
exits 0
out "kernel.lua: 1 kernel, 0 errors, 0 remarks"
run check --json kernel.lua
exits 0
out_has '"findings": []'
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
