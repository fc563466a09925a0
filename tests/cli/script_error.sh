# An error is one line on standard error, with the place in the script.
file bad.lua <<'END'
local x = 1

local y = x + nil
END
run bad.lua
exits 1
out ""
err "wgrun: bad.lua:3: attempt to perform arithmetic on a nil value"

file syntax.lua <<'END'
local = 3
END
run syntax.lua
exits 1
err "wgrun: syntax.lua:1: <name> expected near '='"

run -e 'error({})'
exits 1
err_has "wgrun: table"

run -e 'error()'
exits 1
err "wgrun: nil"

run -e 'error(setmetatable({}, { __tostring = function() error "worse" end }))'
exits 1
err "wgrun: (command line):1: worse"
