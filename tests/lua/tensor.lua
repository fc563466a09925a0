-- Tensors: making, reading, writing, comparing, closing.
local check = require "check"
local wg = require "wgrun"

-- Values, flat or nested as the shape.
local t = wg.tensor("f32", { 2, 3 }, { 1, 2, 3, 4, 5, 6 })
check.equal({ t.dtype, t.shape, #t, t.bytes }, { "f32", { 2, 3 }, 6, 24 })
check.equal(tostring(t):match "[^\n]*", "f32 {2, 3}")
check.equal(tostring(t), "f32 {2, 3}\n  1 2 3\n  4 5 6")
check.equal(tostring(wg.zeros("f32", { 64, 2 })):match "%.%.%.", "...") -- of a large one the first and the last rows
check.equal(tostring(wg.tensor("s32", {}, { 7 })), "s32 {}\n  7")
check.equal(t[{ 0, 2 }], 3.0)
check.equal(t[{ 1, 0 }], 4.0)
check.equal(t:totable(), { 1, 2, 3, 4, 5, 6 })
check.equal(wg.tensor("f32", { 2, 3 }, { { 1, 2, 3 }, { 4, 5, 6 } }):totable(), t:totable())
check.raises("5 values, where f32 {2, 3} takes 6", wg.tensor, "f32", { 2, 3 }, { 1, 2, 3, 4, 5 })
check.raises("2 values, where f32 {2, 3} takes 3", wg.tensor, "f32", { 2, 3 }, { { 1, 2 }, { 3, 4 } })
check.raises("1 value, where f32 {2, 3} takes 2", wg.tensor, "f32", { 2, 3 }, { { 1, 2, 3 } })
check.raises("mix numbers and tables", wg.tensor, "f32", { 2, 1 }, { { 1 }, 2 })
check.raises("too deep", wg.tensor, "f32", { 1 }, { { 1 } })
check.raises("value 1 in row-major order: expected a number, got string", wg.tensor, "f32", { 1 }, { "1" })
check.raises("a table of numbers", wg.tensor, "f32", { 1 }, 7)

-- Coordinates count from 0.
t[{ 1, 2 }] = 60
check.equal(t[{ 1, 2 }], 60.0)
local v = wg.zeros("s32", 4)
v[3] = 7
check.equal(v[3], 7)
check.equal(math.type(v[3]), "integer")
check.raises("", function() return t[{ 2, 0 }] end)
check.raises("", function() return t[{ 0 }] end)
check.raises("", function() return v[-1] end)
check.raises("", function() v[4] = 1 end)
check.raises("", function() v[0] = 1.5 end)
check.raises("elements are numbers, got nil", function() v[0] = nil end)
check.raises("t.shape cannot be set", function() v.shape = {} end)
check.raises("index[2]: expected an integer, got string", function() return t[{ 0, "x" }] end)

-- 64-bit integers are exact.
local big = wg.tensor("s64", { 2 }, { math.maxinteger, math.mininteger })
check.equal(big:totable(), { math.maxinteger, math.mininteger })
check.raises("", function() wg.zeros("u64", 1)[0] = -1 end)

-- Shapes are looked at before memory is asked for.
check.raises("", wg.zeros, "f32", { -1 })
check.raises("", wg.zeros, "f32", { 1 << 40, 1 << 40 })
check.raises("shape: expected a list of integers, got nil", wg.zeros, "f32")
check.raises("did you mean `bf16`?", wg.zeros, "bf1", { 1 })

-- Random data repeat.
local a = wg.randn { shape = { 16, 16 }, dtype = "bf16", seed = 3 }
assert(wg.compare(a, wg.randn { shape = { 16, 16 }, dtype = "bf16", seed = 3 }, 0))
assert(not wg.compare(a, wg.randn { shape = { 16, 16 }, dtype = "bf16", seed = 4 }, 0))
local n = wg.randint { shape = { 100 }, dtype = "s8", lo = -2, hi = 2, seed = 1 }
for _, x in ipairs(n:totable()) do assert(-2 <= x and x <= 2) end

-- compare: ok, the worst error, where.
local b = a:copy()
check.equal({ wg.compare(a, b) }, { true, 0.0, { 0, 0, got = a[{ 0, 0 }], want = a[{ 0, 0 }], mismatches = 0 } })
b[{ 3, 5 }] = b[{ 3, 5 }] + 8
local ok, worst, where = wg.compare(b, a)
check.equal(ok, false)
check.near(worst, 8, 0.1)
check.equal({ where[1], where[2], where.mismatches }, { 3, 5, 1 })
check.equal(where.want, a[{ 3, 5 }])
assert(wg.compare(b, a, 9))
assert(wg.compare(b, a, { absolute = 9 }))
assert(not wg.compare(b, a, { absolute = 1 }))
check.raises("", wg.compare, a, wg.zeros("f32", { 16, 16 }))

-- Files.
local path = os.tmpname()
check.equal(a:save(path), true)
check.equal((wg.compare(assert(wg.load(path)), a, 0)), true)
check.equal(assert(wg.load(path)).dtype, "bf16")
os.remove(path)

check.equal(wg.tensor("f32", 2, { 1.5, 2.5 }):convert("bf16"):totable(), { 1.5, 2.5 })

-- Closing: once, twice, by <close>, and then every use is an error.
do
  local c <close> = wg.zeros("f32", { 4 })
  c:close()
end
t:close()
t:close()
check.equal(tostring(t), "closed tensor")
check.raises("this one is closed", function() return #t end)
check.raises("this one is closed", function() return t[{ 0, 0 }] end)
check.raises("this one is closed", wg.compare, t, t)
