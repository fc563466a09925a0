-- epilogue.clamp of wg.gemm: the elements of D lie between two numbers.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local A, B = wg.randn { shape = { 64, 64 }, dtype = "f16", seed = 1 }, wg.randn { shape = { 128, 64 }, dtype = "f16", seed = 2 }
local bias, residual = wg.randn { shape = { 128 }, dtype = "f32", seed = 3 }, wg.randn { shape = { 64, 128 }, dtype = "f16", seed = 4 }

local function product(epilogue, values)
  local D = wg.zeros("f16", { 64, 128 })
  values.backend = "sim"
  wg.gemm({ dtype = "f16", epilogue = epilogue }):run(A, B, D, values)
  return D
end

-- The last of the operations, whatever else there is.
for _, more in ipairs { {}, { alpha = true }, { bias = "column", activation = "silu" }, { bias = "column", residual = true }, { row_sums = "squares" } } do
  local function values()
    return { alpha = more.alpha and 0.5 or nil, bias = more.bias and bias or nil, residual = more.residual and residual or nil,
      row_sums = more.row_sums and wg.zeros("f32", { 64 }) or nil }
  end
  local plain = product(more, values()):totable()
  local clamped = { clamp = { -2, 1.5 } }
  for key, value in pairs(more) do clamped[key] = value end
  local D, cut = product(clamped, values()):totable(), 0
  for i, x in ipairs(plain) do
    check.equal(D[i], math.min(math.max(x, -2.0), 1.5))
    if x < -2 or x > 1.5 then cut = cut + 1 end
  end
  assert(cut > 100, "elements lie outside")
end

-- NaN becomes the lower one.
local nan = wg.full("f16", { 64, 64 }, 0 / 0)
local D = wg.zeros("f16", { 64, 128 })
wg.gemm({ dtype = "f16", epilogue = { clamp = { -2, 1.5 } } }):run(nan, B, D, { backend = "sim" })
for _, x in ipairs(D:totable()) do check.equal(x, -2.0) end

check.raises("wg.gemm, epilogue: option `clamp`: expected a table, got number 3", wg.gemm, { epilogue = { clamp = 3 } })
for _, wrong in ipairs { { 2, 1 }, { 1 }, { 0, 1, 2 }, { least = 0, most = 1 }, { "0", 1 }, { 0 / 0, 1 } } do
  check.raises("wg.gemm, epilogue: clamp must be { least, most }, two numbers", wg.gemm, { epilogue = { clamp = wrong } })
end
check.raises("did you mean `clamp`?", wg.gemm, { epilogue = { clmp = { 0, 1 } } })
