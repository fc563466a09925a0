-- What the Lua language server says of a script, with the annotations that the build has made: `--> CODE` is a warning that must come at
-- that line, and no other line has one. See ../annotations.py.
local wg = require "wgrun"

local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, swizzle = "128B" }
print(tile:offset(1, 2), tile.mn, tile.mm) --> undefined-field
print(tile:offfset(1, 2)) --> undefined-field
print(tile:offset("1", 2)) --> param-type-mismatch
print(wg.tyle) --> undefined-field
wg.tile { dtype = 3, mn = 64, k = 64 } --> assign-type-mismatch
wg.tile { dtype = "bf16", mn = 64 } --> missing-fields

local kernel = wg.kernel("sum", { threads = 32 }, function(k)
  local X, count = k:param("X", "f32*"), k:param("count", "u32")
  local acc = k:regs("f32", 4)
  k:loop({ from = 0, to = count, step = 2 }, function(i)
    local x = k:ld_global_f32(X, { offset = 4 })
    k:add(acc[#acc - 1], acc[0] * 2 + -x, (i + 1):set(0))
    print(i.tipe) --> undefined-field
  end)
  k:loop({ to = "four" }, function() end) --> assign-type-mismatch
  k:copy_tile { from = X, to = 1, ld = 64, line = 0, along = 0, lines = 64, length = 64 } --> assign-type-mismatch
  k:fragment(acc):map(function(x, at) return x * at.row end)
  k:fragment(acc, 1) --> redundant-parameter
end)

local X = wg.zeros("f32", { 4 })
X[0] = X[1] + #X
print(kernel:run { args = { X + 1, 4 }, backend = "sim" }, kernel:time { args = { X, 4 } }.median_us)
print(kernel:time { args = { X, 4 } }.median) --> undefined-field
kernel:run { args = { X, 4 }, backend = 7 } --> assign-type-mismatch
local gemm = wg.gemm { epilogue = { bias = "row" } }
gemm:run(X, X, X, { bias = X, backend = "sim", numerics = "h200" })
gemm:run(X, X, X, { timeout_ms = "4" }) --> assign-type-mismatch
print(wg.layout("(8,64):(64,1)")(1, 2) + 1, #wg.layout(8))
