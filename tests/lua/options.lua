-- Option tables: unknown keys, wrong types, missing ones.
local check = require "check"
local wg = require "wgrun"

check.raises("unknown option `swizle` of wg.tile: did you mean `swizzle`? (legal: dtype, mn, k, major, swizzle, order)",
  wg.tile, { dtype = "bf16", mn = 64, k = 64, swizle = "128B" })
check.raises("unknown option `colour` of wg.tile (legal: ", wg.tile, { colour = 1 })
check.raises("wg.tile: option `mn` is missing", wg.tile, { dtype = "bf16", k = 64 })
check.raises('wg.tile: option `mn`: expected an integer, got string "64"', wg.tile, { dtype = "bf16", mn = "64", k = 64 })
check.raises("wg.tile: option `mn`: expected an integer, got number 64.5", wg.tile, { dtype = "bf16", mn = 64.5, k = 64 })
check.raises("wg.tile: option `dtype`: expected a string, got a layout", wg.tile, { dtype = wg.layout "1:0", mn = 64, k = 64 })
check.raises("wg.tile: options have names; got the key number 1", wg.tile, { 64, 64 })
check.raises("wg.tile: expected a table of options, got nothing", wg.tile)
check.raises("wg.tile: option `mn` is 0, must be 1..", wg.tile, { dtype = "bf16", mn = 0, k = 64 })
check.raises("did you mean `bf16`?", wg.tile, { dtype = "bf17", mn = 64, k = 64 })
check.raises("wg.randn: option `shape`: expected a list of extents, got nil", wg.randn, { dtype = "f32" })
check.raises("unknown option `abs` of wg.compare: tolerance", wg.compare, wg.zeros("f32", 1), wg.zeros("f32", 1), { abs = 1 })
check.equal(wg.tile { dtype = "bf16", mn = 64.0, k = 64 }.mn, 64)

-- Of several faults always the same one is named: an unknown option, then the first one of the comment.
local function faulty() wg.attention { layout = "x", heads = 0, window = 0, dim = 80 } end
check.refuses("wg.attention: unknown dim `80` (legal: 64, 96, 128, 192, 256)", faulty)
check.raises("unknown option `head` of wg.attention", wg.attention, { layout = "x", heads = 0, dim = 80, head = 1 })
