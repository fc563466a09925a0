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

printf '\377\376l\0o\0c\0a\0l\0' >utf16.lua
run utf16.lua
exits 1
err_has "fix: a script is UTF-8"

# Lua's own `for` wants numbers, and not registers.
run -e 'require "wgrun".kernel("k", { threads = 32 }, function(k) for i = 0, k:param("n", "u32") do k:bar_sync(0) end end)'
exits 1
err "wgrun: (command line):1: bad 'for' limit (number expected, got a register) (fix: k:loop(count, function(i) ... end) is a loop in the kernel; Lua's \`for\` unrolls)"

run -e 'error({})'
exits 1
err_has "wgrun: (error object is a table value)"

run -e 'error()'
exits 1
err "wgrun: (error object is a nil value)"

run -e 'error(setmetatable({}, { __tostring = function() error "worse" end }))'
exits 1
err "wgrun: (command line):1: worse"

printf 'x = %s1%s' "$(printf '%0300d' 0 | tr 0 '(')" "$(printf '%0300d' 0 | tr 0 ')')" >levels.lua
run levels.lua
exits 1
err_has "wgrun: levels.lua: too many blocks, tables or parentheses inside each other"
run check levels.lua
exits 1
err_has "wgrun: levels.lua: too many blocks, tables or parentheses inside each other"
run -e "$(cat levels.lua)"
exits 1
err_has "wgrun: (command line): too many blocks"
