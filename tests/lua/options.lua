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
check.refuses("wg.attention: unknown dim `80` (legal: 64, 96, 128, 192, 256, 512)", faulty)
check.raises("unknown option `head` of wg.attention", wg.attention, { layout = "x", heads = 0, dim = 80, head = 1 })

-- Options of the library are compared with the comments that describe them (stdlib/arguments.lua).
check.refuses("wg.gemm: splits is 65, must be an integer from 1 to 64", function() wg.gemm { splits = 65 } end)
check.refuses("wg.gemm: splits is 2.0, must be an integer from 1 to 64", function() wg.gemm { splits = 2.0 } end)
check.refuses("wg.gemm: unknown schedule `pingpon`: did you mean `pingpong`? (legal: cooperative, pingpong)", function() wg.gemm { schedule = "pingpon" } end)
check.refuses("wg.gemm: option `tile`: expected a table, got number 128", function() wg.gemm { tile = 128 } end)
check.refuses("wg.gemm: halves must be true or false, not \"yes\"", function() wg.gemm { halves = "yes" } end)
check.refuses("wg.gemm, scales: unknown a `rows`: did you mean `row`? (legal: 1x128, row, tensor)", function() wg.gemm { dtype = "e4m3", scales = { a = "rows" } } end)
check.refuses("wg.attention: unknown dim `100` (legal: 64, 96, 128, 192, 256, 512)", function() wg.attention { dim = 100 } end)
check.refuses("wg.mainloop.dense: option `tile` is missing", function() wg.mainloop.dense {} end)
-- What may be left out may be false, as `wanted and "row"` is where it is not wanted.
check.equal(wg.gemm({ epilogue = { bias = false }, problem = false, sparse = false }).plan.epilogue.bias, nil)
check.equal(wg.scheduler.tiles().plan.group, 8)
