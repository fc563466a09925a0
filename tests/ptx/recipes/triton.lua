-- Kernels that Triton and Gluon have compiled.
local wg = require "wgrun"
local kit = require "recipes.kit"
local kernel, random, product = kit.kernel, kit.random, kit.product

--- Appends what Triton passes for a tensor descriptor: the map, the extents and the strides.
local function describe(args, tensor, box)
  local rows, columns = tensor.shape[1], tensor.shape[2]
  for _, value in ipairs { wg.tensor_map(tensor, { box = box, swizzle = "128B" }), rows, columns, columns, 1 } do
    args[#args + 1] = value
  end
end

--- Triton appends two pointers of its own, which these kernels do not use.
local function finish(args, ...)
  for _, value in ipairs { ... } do args[#args + 1] = value end
  args[#args + 1], args[#args + 2] = 0, 0
  return args
end

local recipes = {}

function recipes.triton_softmax()
  local rows, columns = 3, 4000
  local x, y = random("f16", { rows, columns }, 1), wg.zeros("f16", { rows, columns })
  return {
    kernel = kernel "triton/tl_softmax_fp16.ptx", out = y, tolerance = 1e-5,
    launch = { grid = rows, shared = 64, args = { y, x, columns, columns, rows, columns, 0, 0 } },
    places = function(visit)
      for row = 0, rows - 1 do
        local most, total = -math.huge, 0
        for i = 0, columns - 1 do most = math.max(most, x[{ row, i }]) end
        for i = 0, columns - 1 do total = total + math.exp(x[{ row, i }] - most) end
        for i = 0, columns - 1, 3 do visit({ row, i }, math.exp(x[{ row, i }] - most) / total) end
      end
    end,
  }
end

function recipes.triton_matmul()
  local m, n, k = 208, 304, 192 -- multiples of 16, as the text takes for granted, and not of the tile
  local a, b, d = random("f16", { 256, k }, 1), random("f16", { k, 512 }, 2), wg.zeros("f16", { 256, 512 })
  return {
    kernel = kernel "triton/tl_matmul_fp16_128x256x64.ptx", out = d, tolerance = 0.04,
    launch = { grid = { 2, 2 }, shared = 160000, args = { a, b, d, m, n, k, k, 512, 512, 0, 0 } },
    places = function(visit)
      product(a, b)(function(at, want) visit(at, at[1] < m and at[2] < n and want or 0) end)
    end,
  }
end

function recipes.triton_attention()
  local n, size = 384, 128
  local q, k, v = random("f16", { n, size }, 1), random("f16", { n, size }, 2), random("f16", { n, size }, 3)
  local o, logs = wg.zeros("f16", { n, size }), wg.zeros("f32", n)
  local args = { 1 / math.sqrt(size), logs, 1, 1 }
  for _, tensor in ipairs { q, k, v, o } do describe(args, tensor, { 64, 128 }) end
  return {
    kernel = kernel "triton/tl_attn_fwd_hd128_causal.ptx", out = o, tolerance = 2e-3,
    launch = { grid = { n // 128, 1 }, shared = 220000, args = finish(args, n) },
    places = function(visit)
      for i = 0, n - 1, 13 do
        local score, most, total = {}, -math.huge, 0
        for j = 0, i do
          score[j] = wg.dot(q, i * size, 1, k, j * size, 1, size) / math.sqrt(size)
          most = math.max(most, score[j])
        end
        for j = 0, i do
          score[j] = math.exp(score[j] - most)
          total = total + score[j]
        end
        for column = 0, size - 1, 9 do
          local sum = 0
          for j = 0, i do sum = sum + score[j] * v[{ j, column }] end
          visit({ i, column }, sum / total)
        end
      end
    end,
  }
end

function recipes.gluon_mma()
  local a, b = random("f16", { 64, 128 }, 1), random("f16", { 128, 128 }, 2)
  local c, d = random("f32", { 64, 128 }, 3), wg.zeros("f32", { 64, 128 })
  local args = {}
  describe(args, a, { 64, 64 })
  describe(args, b, { 64, 128 })
  describe(args, c, { 32, 64 })
  describe(args, d, { 32, 64 })
  return {
    kernel = kernel "triton/gluon_small_mma_ss.ptx", out = d, tolerance = 1e-4,
    launch = { grid = 1, shared = 150000, args = finish(args) },
    places = product(a, b, c),
  }
end

return recipes
