-- The module: no globals, strict about names, the standard library behind it.
local check = require "check"
local before = {}
for name in pairs(_G) do before[name] = true end
local wg = require "wgrun"
for name in pairs(_G) do assert(before[name], "a new global: " .. name) end

assert(wg == require "wgrun")
assert(type(wg.version) == "string")
assert(wg.backend == "sim")
check.raises("wg has no `layuot`: did you mean `layout`?", function() return wg.layuot end)
check.raises("wg cannot be indexed with number 1", function() return wg[1] end)
check.raises("a layout has no `shap`: did you mean `shape`?", function() return wg.layout("8:1").shap end)
check.raises("a layout cannot be indexed with number 1", function() return wg.layout("8:1")[1] end)
check.raises("a tile has no `discriptor`: did you mean `descriptor`?",
  function() return wg.tile { dtype = "bf16", mn = 64, k = 64 }.discriptor end)

-- Classes are closed: their metatables cannot be had and broken.
assert(getmetatable(wg.layout "8:1") == "wgrun.layout")

-- The library's files and what they have of C++ are not for scripts; opened again, the library is run anew.
for _, name in ipairs { "nothing", "native", "tile.tile" } do
  check.raises(("module 'wgrun.%s' not found"):format(name), require, "wgrun." .. name)
end
package.loaded.wgrun = nil
local again = require "wgrun"
assert(again ~= wg and again.gemm and again.gemm ~= wg.gemm)
package.loaded.wgrun = wg

-- Methods refuse other objects, by name.
local layout, tile = wg.layout "8:1", wg.tile { dtype = "bf16", mn = 64, k = 64 }
check.raises("expected a tile", tile.offset, layout, 0, 0)
check.raises("expected a layout, got table", layout.cosize, {})
check.raises("expected a layout, got nothing", layout.cosize)
