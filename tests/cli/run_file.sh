# A script runs with its arguments in `arg` and `...`; its folder is on package.path.
mkdir sub
file sub/helper.lua <<'END'
return { twice = function(x) return 2 * x end }
END
file sub/main.lua <<'END'
local helper = require "helper"
print(arg[0], arg[1], arg[2], #arg, select("#", ...), helper.twice(21))
END
run sub/main.lua one --two
exits 0
out "sub/main.lua	one	--two	2	2	42"
err ""
file -dash.lua <<'END'
print(arg[0], ...)
END
run -- -dash.lua -x
exits 0
out "-dash.lua	-x"
run check -- -dash.lua
exits 0
out_has "-dash.lua: 0 kernels"
run run -- -dash.lua -- a --json
exits 0
out "-dash.lua	--	a	--json"
run run ./-dash.lua -- a
exits 0
out "./-dash.lua	--	a"
