-- Tensors computed with: literals, makers, shapes, parts, arithmetic, comparisons.
local check = require "check"
local wg = require "wgrun"

local function is(t, dtype, shape, values)
  check.equal({ t.dtype, t.shape, t:totable() }, { dtype, shape, values })
end

-- Literals.
is(wg.tensor { { 1, 2 }, { 3, 4 } }, "f32", { 2, 2 }, { 1, 2, 3, 4 })
is(wg.tensor { 1, 2, 3, dtype = "s32" }, "s32", { 3 }, { 1, 2, 3 })
is(wg.tensor { { { 1 }, { 2 } }, { { 3 }, { 4 } }, dtype = "bf16" }, "bf16", { 2, 2, 1 }, { 1, 2, 3, 4 })
is(wg.tensor {}, "f32", { 0 }, {})
check.refuses("wg.tensor: 1 value, where f32 {2, 2} takes 2", function() return wg.tensor { { 1, 2 }, { 3 } } end)
check.refuses("wg.tensor: the values mix numbers and tables for f32 {2, 1}", function() return wg.tensor { { 1 }, 2 } end)
check.refuses("wg.tensor: unknown option `dtyp` (legal: dtype, beside the values)", function() return wg.tensor { 1, dtyp = "f32" } end)
check.refuses("bad argument #1 to `tensor`: expected the dtype first, then the shape: (\"f32\", { 64, 64 }), got table", function() return wg.tensor({ 2, 2 }, { 1, 2, 3, 4 }) end)

-- Makers.
is(wg.ones("bf16", { 2, 2 }), "bf16", { 2, 2 }, { 1, 1, 1, 1 })
is(wg.full("s8", 3, -7), "s8", { 3 }, { -7, -7, -7 })
is(wg.arange("f32", 4), "f32", { 4 }, { 0, 1, 2, 3 })
is(wg.arange("s32", 10, 0, -3), "s32", { 4 }, { 10, 7, 4, 1 })
is(wg.arange("f32", 0, 1, 0.25), "f32", { 4 }, { 0, 0.25, 0.5, 0.75 })
is(wg.eye("f16", 2, 3), "f16", { 2, 3 }, { 1, 0, 0, 0, 1, 0 })
check.refuses("wg.arange: the step does not lead from the first value towards the last", function() return wg.arange("f32", 0, 4, -1) end)
check.refuses("wg.arange: the step does not lead from the first value towards the last", function() return wg.arange("f32", 0, 4, 0) end)

-- Shapes. A view shares its memory.
local t = wg.arange("f32", 6)
local matrix = t:reshape(2, -1)
is(matrix, "f32", { 2, 3 }, { 0, 1, 2, 3, 4, 5 })
matrix[{ 1, 0 }] = 30
check.equal(t[3], 30)
local row = matrix:rows(1, 2)
row:fill(7)
check.equal(t:totable(), { 0, 1, 2, 7, 7, 7 })
t:close()
collectgarbage()
check.equal(row:totable(), { 7, 7, 7 })
is(matrix:transpose(), "f32", { 3, 2 }, { 0, 7, 1, 7, 2, 7 })
is(wg.arange("u8", 8):reshape(2, 2, 2):transpose { 2, 0, 1 }, "u8", { 2, 2, 2 }, { 0, 2, 4, 6, 1, 3, 5, 7 })
check.refuses("f32 {2, 3} has 6 elements, but the shape {4} has 4", function() return matrix:reshape(4) end)
check.refuses("the 6 elements of f32 {2, 3} are not a multiple of 4", function() return matrix:reshape(4, -1) end)
check.refuses("rows 1 to 3 (excluded) of f32 {2, 3}", function() return matrix:rows(1, 3) end)
check.refuses("{0, 0} is not a permutation of the 2 dimensions of f32 {2, 3}, which count from 0", function() return matrix:transpose { 0, 0 } end)

-- Parts: { from, to, step }, an index, all. Copies.
local square = wg.arange("s32", 16):reshape(4, 4)
is(square:slice { { 1, 3 }, { 0, 4, 2 } }, "s32", { 2, 2 }, { 4, 6, 8, 10 })
is(square:slice { 2 }, "s32", { 4 }, { 8, 9, 10, 11 })
is(square:slice { true, 1 }, "s32", { 4 }, { 1, 5, 9, 13 })
is(square:slice { { 2 }, { 3, -1, -1 } }, "s32", { 2, 4 }, { 11, 10, 9, 8, 15, 14, 13, 12 })
square:put({ { 0, 2 }, { 0, 2 } }, -1)
square:put({ true, 3 }, wg.tensor { 1, 2, 3, 4 })
is(square, "s32", { 4, 4 }, { -1, -1, 2, 1, -1, -1, 6, 2, 8, 9, 10, 3, 12, 13, 14, 4 })
check.refuses("dimension 0 of s32 {4, 4} has indices 0 to 3, not 2 to 4", function() return square:slice { { 2, 5 } } end)
check.refuses("range { 0, 4, -1 } never reaches its end", function() return square:slice { { 0, 4, -1 } } end)
check.refuses("range: 9223372036854775807 is no index of 4 elements", function() return square:slice { { math.maxinteger, math.maxinteger } } end)
check.refuses("range: -9223372036854775808 is no index of 4 elements", function() return square:slice { { 3, math.mininteger, -1 } } end)
check.refuses("{8, 0} is not a permutation of the 2 dimensions of s32 {4, 4}, which count from 0", function() return square:transpose { 1 << 32, 0 } end)
check.equal(tostring(wg.zeros("f32", { 2, 0, 3 }):transpose()), "f32 {2, 3, 0}")
check.refuses("3 ranges for a tensor of 2 dimensions", function() return square:slice { 0, 0, 0 } end)
check.refuses("f32 {3} does not fit the slice {4} of s32 {4, 4}", function() square:put({ 0 }, wg.tensor { 1, 2, 3 }) end)

-- Arithmetic: the dtype of both, or the wider one; numbers take the tensor's.
local a, b = wg.tensor { { 1, 2 }, { 3, 4 } }, wg.tensor { 10, 20 }
is(a + b, "f32", { 2, 2 }, { 11, 22, 13, 24 })
is(a * 2 - 1, "f32", { 2, 2 }, { 1, 3, 5, 7 })
is(1 / a, "f32", { 2, 2 }, { 1, 0.5, wg.tensor { 1 / 3 }[0], 0.25 })
is(-a ^ 2, "f32", { 2, 2 }, { -1, -4, -9, -16 })
is(a:reshape(2, 2, 1) * b, "f32", { 2, 2, 2 }, { 10, 20, 20, 40, 30, 60, 40, 80 })
local s = wg.tensor { 7, -7, dtype = "s32" }
is(s % 4, "s32", { 2 }, { 3, 1 })
is(s / 2, "f32", { 2 }, { 3.5, -3.5 })
is(s * 0.5, "f32", { 2 }, { 3.5, -3.5 })
is(s + wg.tensor { 1, 1, dtype = "u32" }, "s64", { 2 }, { 8, -6 })
is(s + wg.tensor { 1, 1, dtype = "bf16" }, "bf16", { 2 }, { 8, -6 })
is(wg.ones("bf16", 1) + wg.ones("f16", 1), "f32", { 1 }, { 2 })
is(wg.ones("bf16", 1) + 2 ^ -9, "bf16", { 1 }, { 1 }) -- one rounding, to bf16
is(s:abs():max(9):sqrt(), "f32", { 2 }, { 3, 3 })
check.refuses("f32 {2, 2} and f32 {3} do not fit each other: aligned at their last dimensions, extents are equal or 1", function() return a + wg.ones("f32", 3) end)
check.refuses("add: 300 is not a value of u8", function() return wg.full("u8", 1, 150) + wg.full("u8", 1, 150) end)
check.refuses("tensor, add: expected a tensor or a number, got nil", function() return a + nil end)

-- Comparisons give 0 and 1; reductions give numbers.
is(a:lt(3), "u8", { 2, 2 }, { 1, 1, 0, 0 })
is(a:ge(wg.tensor { { 2 }, { 4 } }), "u8", { 2, 2 }, { 0, 1, 0, 1 })
check.equal({ a:sum(), a:min(), a:max(), a:eq(2):sum() }, { 10, 1, 4, 1 })
is(a:min(wg.tensor { 2, 3 }), "f32", { 2, 2 }, { 1, 2, 2, 3 })
local c = wg.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
is(c:sum { axis = 0 }, "f32", { 3 }, { 5, 7, 9 })
is(c:sum { axis = -1 }, "f32", { 2 }, { 6, 15 })
is(c:max { axis = 1 }, "f32", { 2 }, { 3, 6 })
is(c:min { axis = 0 }, "f32", { 3 }, { 1, 2, 3 })
is(c:reshape(1, 3, 2):sum { axis = 1 }, "f32", { 1, 2 }, { 9, 12 })
is(wg.full("u8", { 2, 3 }, 200):sum { axis = 0 }, "s32", { 3 }, { 400, 400, 400 })
is(wg.tensor { 1, 2 }:sum { axis = 0 }, "f32", {}, { 3 })
check.refuses("sum along axis 2 of f32 {2, 3}: it has axes 0 to 1", function() return c:sum { axis = 2 } end)
check.refuses("bad argument #1 to `sum`: expected nothing, or { axis = n } for one dimension, got number 1", function() return c:sum(1) end)
check.refuses("sum: option `axis` is missing", function() return c:sum {} end)
check.refuses("tensors cannot be compared by Lua's <, which gives one Boolean", function() return a < b end)

-- Products.
is(wg.matmul(a, wg.eye("f32", 2)), "f32", { 2, 2 }, { 1, 2, 3, 4 })
is(wg.matmul(wg.ones("s8", { 1, 3 }), wg.full("s8", { 3, 1 }, 100)), "s32", { 1, 1 }, { 300 })
check.refuses("matmul of f32 {2, 2} and f32 {3, 2}: expected {m, k} and {k, n}", function() return wg.matmul(a, wg.ones("f32", { 3, 2 })) end)

-- A view is an argument of a kernel like any other.
local kernel = wg.kernel("count", { threads = 32 }, function(k)
  local to, i = k:param("to", "u32*"), k:special "tid.x"
  k:st_global_u32(k:element(to, i), i + 100)
end)
local whole = wg.zeros("u32", { 3, 32 })
kernel:run { args = { whole:rows(1, 2) } }
check.equal({ whole[{ 0, 31 }], whole[{ 1, 0 }], whole[{ 1, 31 }], whole[{ 2, 0 }] }, { 0, 100, 131, 0 })

-- b1 has no element addresses.
check.refuses("b1 {8}: elements of less than a byte have no addresses of their own", function() return wg.zeros("b1", 8):reshape(2, 4) end)

-- == compares values: of the same type and shape.
do
  local a <const> = wg.tensor { { 1, 2 }, { 3, 4 } }
  assert(a == wg.tensor { { 1, 2 }, { 3, 4 } } and a == a)
  assert(a ~= wg.tensor { { 1, 2 }, { 3, 5 } })
  assert(a ~= wg.tensor { 1, 2, 3, 4 }, "another shape")
  assert(a ~= a:convert "f16", "another type")
  assert(a ~= 1 and a ~= nil)
  local large <const> = 1 << 53
  assert(wg.tensor("s64", { 1 }, { large }) ~= wg.tensor("s64", { 1 }, { large + 1 }), "no binary64 holds both")
  assert(wg.tensor("s64", { 1 }, { large + 1 }) == wg.tensor("s64", { 1 }, { large + 1 }))
  assert(wg.tensor("b1", { 64 }) == wg.tensor("b1", { 64 }))
  local function nan() return wg.full("f32", { 2 }, 0 / 0) end
  assert(nan() ~= nan(), "a NaN differs from every number")
  assert(wg.zeros("f32", { 0, 3 }) == wg.zeros("f32", { 0, 3 }))
  assert(wg.zeros("f32", { 2 }) == -wg.zeros("f32", { 2 }), "-0 is 0")
end

-- wg.compare names causes within the caller's tolerance, and through noise.
local function seems(got, want, tolerance) return tostring(select(3, wg.compare(got, want, tolerance))) end
local want = wg.randn { shape = { 64, 64 }, dtype = "f32", seed = 1 }
for _, size in ipairs { 1e-5, 1e-3, 1e-2 } do
  local near = want + wg.randn { shape = { 64, 64 }, dtype = "f32", seed = 2 } * size
  local said = seems(near:transpose(), want, 1e-4)
  assert(said:find("the transpose", 1, true), said)
  said = seems(near * 2, want, 1e-4)
  assert(said:find "they are [12][.0-9]* times" , said)
  said = seems(near, want, 1e-6) -- noise alone has no cause
  assert(not said:find "it seems", said)
end
local codes = (wg.randn { shape = { 10, 64 }, dtype = "f32", seed = 1 } * 100):convert "e4m3"
local swapped = codes:reshape(10, 32, 2):slice { true, true, { 1, -1, -1 } }:reshape(10, 64)
swapped[{ 3, 7 }] = swapped[{ 3, 7 }] * 1.125 -- one code off
local said = seems(swapped, codes, { relative = 0.13, absolute = 0.01 })
assert(said:find("neighbouring blocks of 1 column are swapped", 1, true), said)
