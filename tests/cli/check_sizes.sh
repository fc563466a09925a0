# check --dynamic with kernel:sizes: kernels that are right for the launch at hand and wrong for other legal sizes.
file double.lua <<'L'
local wg = require "wgrun"
local which = ...
local double = wg.kernel("double", { threads = 64 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local i = k:special "ctaid.x" * 64 + k:special "tid.x"
  local function body()
    k:st_global_f32(k:element(X, i), k:ld_global_f32(k:element(X, i)) * 2.0)
  end
  if which == "no bound" then
    body()
  elseif which == "off by one" then
    k:if_(i:le(n), body)
  else
    k:if_(i:lt(n), body)
  end
end)
local function launch(n)
  local X = wg.ones("f32", { n })
  local grid = which == "no tail" and math.max(n // 64, 1) or (n + 63) // 64
  if double:run { grid = grid, args = { X, n } } == "none" then return end
  for i = 0, n - 1 do assert(X[i] == 2, "element " .. i .. " is not doubled") end
end
double:sizes { n = { 1, 300, multiple_of = which == "tiles" and 1 or nil }, run = function(size) launch(size.n) end }
launch(128)
L
run check --dynamic --seeds 1 double.lua
exits 0
out_has "double: looked at 14 of 300 sizes: n = 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 129, 257, 300"
out_has "double.lua: 1 kernel, 0 errors, 0 remarks"
run check --dynamic --seeds 1 --json double.lua
exits 0
out_has '"kernel": "double"'
out_has '"of": 300'
out_has '"n": 65'
out_has '"left_out": []'

# Only the sizes show it, at the line and with the first size that has it; the run of the script itself is right.
for which in "no bound" "off by one"; do
    run --backend=sim double.lua "$which"
    exits 0
    run check --dynamic --seeds 1 double.lua "$which"
    exits 1
    err_has "double.lua:7: error: "
    err_has "double.lua:23: with n = 1"
    out_has "1 kernel, 1 error, 0 remarks"
done
run check --dynamic --seeds 1 double.lua "no tail"
exits 1
err_has "double.lua:21: error: element 64 is not doubled"
err_has "with n = 65"

# Loops that are run no time, multiples of a tile, and the stages of a ring.
file sum.lua <<'L'
local wg = require "wgrun"
local which = ...
local sum = wg.kernel("sum", { threads = 32 }, function(k)
  local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "u32")
  local lane = k:special "tid.x"
  local total = k:mov(0.0, { type = "f32" })
  local from = 0
  if which == "peeled" then
    k:mov(total, k:ld_global_f32(k:element(X, lane)))
    from = 32
  end
  k:loop({ from = from, to = n, step = 32 }, function(i)
    k:mov(total, total + k:ld_global_f32(k:element(X, i + lane)))
  end)
  k:st_global_f32(k:element(Y, lane), total)
end)
local function launch(n)
  local X, Y = wg.ones("f32", { math.max(n, 1) }), wg.zeros("f32", { 32 })
  if sum:run { grid = 1, args = { X, Y, n } } ~= "none" then assert(Y[0] == n // 32) end
end
sum:sizes { n = { 0, 256, multiple_of = 32 }, run = function(size) launch(size.n) end }
launch(64)
L
run check --dynamic --seeds 1 sum.lua
exits 0
out_has "sum: looked at 9 of 9 sizes: n = 0-256"
run check --dynamic --seeds 1 sum.lua peeled
exits 1
err_has "sum.lua:9: error: "
err_has "with n = 0"

# What cannot be a size.
refuses() { # TEXT MESSAGE
    file wrong.lua <<L
local wg = require "wgrun"
local kernel = wg.kernel("k", {}, function(k) end)
kernel:sizes($1)
L
    run check wrong.lua
    exits 1
    err_has "wrong.lua:3: $2"
}
refuses '{ n = { 5, 4 }, run = print }' 'kernel:sizes: size `n`: { 5, 4 }: no size is in this range'
refuses '{ n = { 1, 64, multiple_of = 64 }, run = print }' 'kernel:sizes: size `n`: the limit 1 is no multiple of 64'
refuses '{ n = { 1, 64, multiple_of = 0 }, run = print }' 'kernel:sizes: size `n`: multiple_of = 0: it is 1 or more'
refuses '{ n = { 1, 64, of = 0 }, run = print }' 'kernel:sizes: size `n`: expected the least, the most'
refuses '{ n = 3, run = print }' 'kernel:sizes: size `n`: expected a table such as { 1, 4096 }, got number 3'
refuses '{ n = { 1.5 }, run = print }' 'kernel:sizes: size `n`: expected integers, got number 1.5'
refuses '{ n = { 1, 2 } }' 'kernel:sizes: option `run`: expected a function, got nil'
refuses '{ run = print }' 'kernel:sizes: there is no size'

# Without a run a few of them are looked ahead at, with memory that is synthetic; what the function says of results does not count.
file ahead.lua <<'END'
local wg = require "wgrun"
local double = wg.kernel("double", { threads = 128 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
  local at = k:element(X, i)
  if arg[1] then
    k:if_(i:lt(n), function() k:st_global_f32(at, k:ld_global_f32(at)) end)
  else
    k:st_global_f32(at, 1)
  end
end)
double:sizes { n = { 1, 300 }, run = function(size)
  local X = wg.zeros("f32", { size.n })
  double:run { grid = (size.n + 127) // 128, args = { X, size.n } }
  assert(X[0] == 1)
end }
local X = wg.zeros("f32", { 256 })
double:run { grid = 2, args = { X, 256 } }
END
run check ahead.lua
exits 1
out_has "double: looked ahead at 8 of 300 sizes: n = "
err_has "ahead.lua:9: error: thread 1 stores 4 bytes at"
err_has "with n = 1"
run check ahead.lua guarded
exits 0
out_has "double: looked ahead at 8 of 300 sizes: n = "

# Few sizes are all launched: this one goes wrong at none of the edges.
file odd.lua <<'END'
local wg = require "wgrun"
local odd = wg.kernel("odd", { threads = 32 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  k:if_((n * 5 & 63):eq(7), function() k:st_global_f32(k:element(X, n), 1) end) -- of 27, 91, ...
  k:if_(k:special "tid.x":lt(n), function() k:st_global_f32(k:element(X, k:special "tid.x"), 1) end)
end)
local most = tonumber(arg[1] or 100)
odd:sizes { n = { 1, most }, run = function(size)
  odd:run { grid = 1, args = { wg.zeros("f32", { size.n }), size.n } }
end }
END
run check --dynamic --seeds 1 odd.lua
exits 1
out_has "odd: looked at 100 of 100 sizes: n = 1-100"
err_has "with n = 27"
run check --dynamic --seeds 1 odd.lua 257
exits 0
out_has "of 257 sizes: n = 1"
