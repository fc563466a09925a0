-- wg.try, and the words of wg.compare for what is wrong.
local check = require "check"
local wg = require "wgrun"

-- Every type and major-ness that wgmma reads.
for _, dtype in ipairs { "bf16", "f16", "tf32", "e4m3", "s8", "u8" } do
  local sixteen = dtype == "bf16" or dtype == "f16"
  for _, a in ipairs { "K", sixteen and "MN" or nil } do
    for _, b in ipairs { "K", sixteen and "MN" or nil } do
      local r = wg.try { a = wg.tile { dtype = dtype, mn = 64, k = 64, major = a }, b = wg.tile { dtype = dtype, mn = 64, k = 64, major = b } }
      assert(r.ok, tostring(r))
      assert(r.ptx:find("wgmma.mma_async", 1, true) and #r.findings == 0 and r.kernel.name == "try")
    end
  end
end
local r = wg.try { a = wg.eye("bf16", 128, 64), b = wg.arange("f32", 64 * 16):reshape(16, 64):convert "bf16", swizzle = "64B" }
assert(r.ok and r.D[{ 3, 2 }] == r.B[{ 2, 3 }] and r.D[{ 100, 0 }] == 0, tostring(r))
assert(tostring(r):find "A bf16 {128, 64}, B bf16 {16, 64}, D = A %* B%^T f32 {128, 16}")
check.refuses("wg.try: option `a` is missing", function() wg.try { b = wg.tile { dtype = "bf16", mn = 64, k = 64 } } end)
check.refuses("wg.try, a: 32 rows, must be a multiple of 64", function() wg.try { a = wg.zeros("bf16", { 32, 64 }), b = wg.zeros("bf16", { 64, 64 }) } end)

-- What is wrong, where, and why.
local want = wg.randn { shape = { 64, 64 }, seed = 3 }
local function said(got, expected)
  local ok, _, where = wg.compare(got, want)
  local report = tostring(where)
  assert(not ok and where.report == report)
  for _, text in ipairs(expected) do assert(report:find(text, 1, true), text .. " is not in:\n" .. report) end
  return report
end
local function with(change)
  local got = want:copy()
  change(got)
  return got
end
local ok, _, where = wg.compare(want, want)
assert(ok and tostring(where) == "f32 {64, 64}: equal (largest difference 0)")
said(with(function(t) t:put({ { 1, 64, 2 } }, 0) end), { "where: every second row, from 1 on", "they are 0: not written" })
said(with(function(t) t:put({ 5, 7 }, 9) end), { "1 of 4096 elements is wrong; the worst is at {5, 7}: got 9", "where: row 5, column 7" })
said(with(function(t) t:put({ { 48, 64 } }, want:slice { { 48, 64 } } * 2) end), { "where: the last 16 rows, from 48 on", "they are 2 times what they should be: accumulated more than once" })
said(with(function(t) t:put({ true, { 8, 16 } }, want:slice { true, { 8, 16 } } + 0.5) end), { "where: columns 8 to 15", "they are 0.5 too large: a bias" })
said(want:transpose(), { "they are the elements of the transpose" })
said(-want, { "where: all elements", "they have the opposite sign" })
said(want * 0 + 0 / 0, { "they are NaN" })
said(want:reshape(64, 8, 2, 4):slice { true, true, { 1, -1, -1 } }:reshape(64, 64), { "neighbouring blocks of 4 columns are swapped: two core matrices (16 bytes)" })
said(want:reshape(4, 2, 8, 64):slice { true, { 1, -1, -1 } }:reshape(64, 64), { "neighbouring blocks of 8 rows are swapped: two core matrices" })
said(with(function(t) t:put({ true, { 0, 63 } }, want:slice { true, { 1, 64 } }) end), { "where: columns 0 to 62", "they are 1 column too far to the left" })
for mode, f in pairs { ["128B"] = { 1, 8 }, ["64B"] = { 2, 4 }, ["32B"] = { 4, 2 } } do
  local got = want:copy()
  for row = 0, 63 do
    for chunk = 0, 15 do
      local from = 4 * (chunk ~ (row // f[1] % f[2]))
      got:put({ row, { 4 * chunk, 4 * chunk + 4 } }, want:slice { row, { from, from + 4 } })
    end
  end
  said(got, { "permuted as by swizzle " .. mode })
end
local blocks = with(function(t) for c = 0, 63, 16 do t:put({ true, { c + 8, c + 16 } }, 100) end end)
assert(said(blocks, { "where: columns 8 to 15 of each 16" }):find(("       0 ........########........########........########........########"), 1, true))
assert(said(with(function(t) for i = 1, 63 do t:put({ i, { 0, i } }, 3) end end), { "all below the diagonal" }):find "%+")

-- Without words for it: no cause is synthetic.
local noise = said(wg.randn { shape = { 64, 64 }, seed = 4 }, { "where: all elements" })
assert(not noise:find "it seems", noise)
-- Printed where that is asked for.
local printed, print_ = nil, print
print = function(text) printed = text end
wg.compare(want, -want, { report = true })
print = print_
assert(printed:find "4096 of 4096 elements are wrong")
