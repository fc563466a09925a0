-- Layouts, swizzles and their algebra, as scripts see them. What they compute is tested in tests/unit/layout.
local check = require "check"
local wg = require "wgrun"

local L = wg.layout "((8,2),(4,4)):((4,32),(1,64))"
check.equal(tostring(L), "((8,2),(4,4)):((4,32),(1,64))")
check.equal(L.shape, { { 8, 2 }, { 4, 4 } })
check.equal(L.stride, { { 4, 32 }, { 1, 64 } })
check.equal(#L, 256)
check.equal(L:size(), 256)
check.equal(L:cosize(), 256)
check.equal(L:rank(), 2)
check.equal(L:depth(), 2)
check.equal(L(0), 0)
check.equal(L(1), 4)
check.equal(L(9, 2), L { { 1, 1 }, { 2, 0 } })
check.equal(L(9, 2), 38)
check.equal(L:coordinate(9), { { 1, 1 }, { 0, 0 } })
check.equal(tostring(L:mode(1)), "(4,4):(1,64)")
check.raises("modes count from 0", L.mode, L, 2)
check.equal(L, wg.layout({ { 8, 2 }, { 4, 4 } }, { { 4, 32 }, { 1, 64 } }))
check.equal(tostring(wg.layout { 4, 8 }), "(4,8):(1,4)")
check.equal(tostring(wg.layout(8)), "8:1")
assert(wg.layout "8:1" ~= wg.layout "8:2")

-- Wrong arguments.
check.raises("wg.layout: shape: expected an integer or a table of them, got true", wg.layout, true)
check.raises("wg.layout: stride: expected an integer or a table of them, got string", wg.layout, { 8 }, { "1" })
local cycle = {}
cycle[1] = cycle
check.raises("64 levels", wg.layout, cycle)
local tower = wg.layout "8:1"
check.raises("more than 64 levels of nesting", function()
  for _ = 1, 1000 do tower = wg.logical_product(tower, wg.layout "1:0") end
end)
check.equal(tower:depth(), 64)
check.equal(wg.layout(tower.shape, tower.stride), tower)
check.equal(wg.layout(tostring(tower)), tower)
check.raises("at least 1", wg.layout, { 0, 4 })
check.raises("", wg.layout, { math.maxinteger, math.maxinteger })
check.raises("coordinate () does not fit the shape", function() return L() end)
check.raises("coordinate", L, "x")

-- Swizzles.
local sw = wg.swizzle(3, 4, 3)
check.equal(tostring(sw), "Swizzle<3,4,3>")
check.equal({ sw.bits, sw.base, sw.shift }, { 3, 4, 3 })
check.equal(sw(128), 144)
check.equal(sw(sw(12345)), 12345)
local S = wg.composition(sw, wg.layout "(8,128):(128,1)")
check.equal(tostring(S), "Swizzle<3,4,3> o (8,128):(128,1)")
check.equal(S, wg.layout(tostring(S)))
check.equal(S.swizzle, sw)
check.equal(S.offset, 0)
check.equal(L.swizzle, nil)
check.equal(tostring(S:unswizzled()), "(8,128):(128,1)")
check.equal(S(1, 0), 144)
check.raises("bad argument #3 to `swizzle`: expected an integer, got nothing", wg.swizzle, 3, 4)
check.raises("bits", wg.swizzle, 3, 4, 1 << 40)

-- Algebra.
local function same(got, want) check.equal(tostring(got), want) end
same(wg.coalesce(wg.layout "(2,(1,6)):(1,(6,2))"), "12:1")
same(wg.coalesce(wg.layout "(2,(1,6)):(1,(6,2))", { 1, 1 }), "(2,6):(1,2)")
same(wg.composition(wg.layout "(6,2):(8,2)", wg.layout "(4,3):(3,1)"), "((2,2),3):((24,2),8)")
same(wg.composition(wg.layout "(12,(4,8)):(59,(13,1))", { wg.layout "3:4", wg.layout "8:2" }), "(3,(2,4)):(236,(26,1))")
-- An integer n is the layout n:1.
local L48 = wg.layout "(4,8):(1,4)"
for _, f in ipairs { "composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product" } do
  assert(wg[f](L48, 2) == wg[f](L48, wg.layout "2:1"), f)
  assert(wg[f](8, 2) == wg[f](wg.layout "8:1", 2), f)
end
same(wg.coalesce(8), "8:1")
same(wg.complement(4, 24), "6:4")
same(wg.tile_to_shape(4, { 8, 2 }), "((4,2),(1,2)):((1,4),(0,8))")
same(wg.composition(wg.swizzle(1, 0, 2), 8), "Swizzle<1,0,2> o 8:1")
same(wg.upcast(8, 2), "4:1")
assert(wg.same_function(8, wg.layout "(4,2):(1,4)") and wg.max_common_vector(8, 4) == 4)
same(wg.complement(wg.layout "4:2", 24), "(2,3):(1,8)")
same(wg.complement(wg.layout "(2,2):(1,6)", 24), "(3,2):(2,12)")
same(wg.right_inverse(wg.layout "(4,8):(8,1)"), "(8,4):(4,1)")
same(wg.left_inverse(wg.layout "(4,8):(8,1)"), "(8,4):(4,1)")
same(wg.logical_divide(wg.layout "(4,2,3):(2,1,8)", wg.layout "4:2"), "((2,2),(2,3)):((4,1),(2,8))")
same(wg.zipped_divide(wg.layout "(8,8):(1,8)", { 4, 2 }), "((4,2),(2,4)):((1,8),(4,16))")
same(wg.tiled_divide(wg.layout "(8,8):(1,8)", { 4, 2 }), "((4,2),2,4):((1,8),4,16)")
same(wg.flat_divide(wg.layout "(8,8):(1,8)", { 4, 2 }), "(4,2,2,4):(1,8,4,16)")
same(wg.logical_divide(wg.layout "(8,8):(1,8)", { false, 2 }), "(8,(2,4)):(1,(8,16))")
same(wg.logical_product(wg.layout "(2,2):(4,1)", wg.layout "6:1"), "((2,2),(2,3)):((4,1),(2,8))")
same(wg.blocked_product(wg.layout "(2,5):(5,1)", wg.layout "(3,4):(1,3)"), "((2,3),(5,4)):((5,10),(1,30))")
same(wg.raked_product(wg.layout "(2,5):(5,1)", wg.layout "(3,4):(1,3)"), "((3,2),(4,5)):((10,5),(30,1))")
same(wg.tile_to_shape(wg.layout "(8,64):(64,1)", { 16, 64 }), "((8,2),(64,1)):((64,512),(1,0))")
same(wg.flatten(L), "(8,2,4,4):(4,32,1,64)")
assert(wg.same_function(wg.layout "(4,2):(1,4)", wg.layout "8:1"))
assert(not wg.same_function(wg.layout "(4,2):(1,5)", wg.layout "8:1"))
local rest, offset = wg.slice(wg.layout "(4,8):(1,4)", { false, 3 })
same(wg.coalesce(rest), "4:1")
check.equal(offset, 12)
check.raises("bad argument #2 to `zipped_divide`: expected a layout, an integer or a tiler, got string",
  wg.zipped_divide, L, "4:1")
-- Tilers of the modes inside a mode.
local nested = wg.layout "(8,(4,6)):(24,(1,4))"
same(wg.composition(nested, { 4, { 2 } }), "(4,(2)):(24,(1))")
same(wg.zipped_divide(nested, { 4, { 2, wg.layout "3:2" } }), "((4,(2,3)),(2,(2,2))):((24,(1,8)),(96,(2,4)))")
check.raises("composition of 8:24 by mode: the tiler has 2 modes, the layout 1", wg.composition, nested, { { 2, 2 } })
check.raises("a tiler: a list of layouts, integers, false and such lists", wg.zipped_divide, L, { "4" })
check.raises("bad argument #1 to `coalesce`: expected a layout, got string", wg.coalesce, "8:1")
