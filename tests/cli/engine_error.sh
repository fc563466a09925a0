# An error of the engine names the script's line and the fix, in no words of C++.
file tile.lua <<'END'
local wg = require "wgrun"
local function make(options)
  return wg.tile(options)
end
make { dtype = "bf16", mn = 128, k = 64,
  swizle = "128B" }
END
run tile.lua
exits 1
err "wgrun: tile.lua:3: unknown option \`swizle\` of wg.tile: did you mean \`swizzle\`? (legal: dtype, mn, k, major, swizzle, order)"
run --traceback tile.lua
exits 1
err_has "stack traceback:"
err_has "tile.lua:5"
