-- Kernels that TileLang and the CuTe DSL have compiled.
local wg = require "wgrun"
local kit = require "recipes.kit"
local kernel, random, product = kit.kernel, kit.random, kit.product

local recipes = {}

function recipes.tilelang_gemm()
  local m, n, k = 128, 256, 4096 -- k is in the text
  local a, b, d = random("bf16", { m, k }, 1), random("bf16", { k, n }, 2), wg.zeros("bf16", { m, n })
  local args = {}
  for i, tensor in ipairs { a, b, d } do args[i] = wg.tensor_map(tensor, { box = { 64, 64 }, swizzle = "128B" }) end
  return {
    kernel = kernel "tilelang/tl_gemm_bf16_64.ptx", out = d, tolerance = 1, -- half a unit of bf16 at 256 and above
    launch = { grid = { n // 128, m // 64 }, shared = 73728, args = args },
    places = product(a, b),
  }
end

function recipes.cute_dsl_gemm()
  local m, n, k = 128, 256, 4096 -- k is in the text
  local a, b, d = random("bf16", { m, k }, 1), random("bf16", { n, k }, 2), wg.zeros("f16", { m, n })
  local function map(tensor, box, swizzle) return wg.tensor_map(tensor, { box = box, swizzle = swizzle }) end
  return {
    kernel = kernel "cutedsl/hopper_dense_gemm_bf16_128x128.ptx", out = d, tolerance = 0.13, -- half a unit of f16 at 256
    launch = { grid = { m // 128, n // 128 }, cluster = 1, shared = 230400, args = {
      map(a, { 64, 128 }, "128B"), map(b, { 64, 128 }, "128B"), map(d, { 32, 64 }, "64B"), wg.struct { size = 1 },
    } },
    places = kit.product_of_rows(a, b, m, n),
  }
end

return recipes
