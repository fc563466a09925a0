-- Epilogues of your own (docs/guide/epilogues.md): what becomes of the sums of a product before they are stored, from
-- options to a function of the registers. Each result is compared with the same in Lua.
--   wgrun scripts/guide/epilogues.lua
local wg = require "wgrun"

local M, N, K = 192, 256, 128
local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
local sums = wg.matmul(A, B:transpose())                -- A * B, in f32
local failed = false

-- The largest difference of `got` from expected(i, j), as a share of the largest value.
local function report(name, got, columns, expected)
  local worst, most = 0, 0
  for i = 0, M - 1, 5 do
    for j = 0, columns - 1 do
      local value = expected(i, j)
      worst, most = math.max(worst, math.abs(got(i, j) - value)), math.max(most, math.abs(value))
    end
  end
  print(("%-22s worst error %.1g of the largest value"):format(name, worst / most))
  failed = failed or worst > 0.04 * most
end

-- 1. Options: D = gelu(A * B + bias) + residual.
local bias = wg.randn { shape = { N }, dtype = "f32", seed = 3 }
local residual = wg.randn { shape = { M, N }, dtype = "bf16", seed = 4 }
local D = wg.zeros("bf16", { M, N })
local options = wg.gemm { problem = { M, N, K }, epilogue = { bias = "column", activation = "gelu", residual = true } }
options:run(A, B, D, { bias = bias, residual = residual })

-- 2. A function of one register: D = max(x, 0)^2, and the sum of each row of D.
local functions = wg.gemm {
  problem = { M, N, K },
  epilogue = {
    activation = function(k, x)
      local positive = k:max(x, 0.0)
      return positive * positive
    end,
    row_sums = function(_, x) return x end,
  },
}
local D2, row_sums = wg.zeros("bf16", { M, N }), wg.zeros("f32", { M })
functions:run(A, B, D2, { row_sums = row_sums })

-- 3. A quantised D: e4m3 and a scale for each row and 128 columns.
local quantised = wg.gemm { problem = { M, N, K }, epilogue = { activation = "relu", quantize = "1x128" } }
local Q, scales = wg.zeros("e4m3", { M, N }), wg.zeros("f32", { N // 128, M })
quantised:run(A, B, Q, { d_scales = scales })

-- 4. A function of all registers of a block: the softmax of each row, as a router over N experts takes it. A tile has all
-- columns of its rows, so that the sums of a row meet in four lanes.
local panel = wg.panel { dtype = "bf16", n = N }
local loop = wg.mainloop.dense { tile = { 128, N, 64 }, shared = 2 * panel.bytes }
local router = wg.kernel("router", { threads = loop.threads, cluster = { loop.cluster } }, function(k)
  loop:parameters(k)
  local map = k:tensor_map("D", panel.box)
  local out = k:shared { bytes = 2 * panel.bytes, align = panel.align, name = "D" }
  loop:emit(k, {
    epilogue = function(me)
      local store, finish = k:epilogue { panel = panel, map = map, buffer = out, offset = me.number * panel.bytes, barrier = me.barrier }
      return function(acc, row, column)
        local block = k:fragment(acc)
        local most = block:row_max()                    -- of the thread's two rows
        block:map(function(x, at) return k:ex2_approx_f32((x - most[at.half]) * 1.4426950408889634) end)
        local total = block:row_sum()
        local share = { [0] = k:rcp_approx_f32(total[0]), k:rcp_approx_f32(total[1]) }
        block:map(function(x, at) return x * share[at.half] end)
        store(acc, row, column)
      end, finish
    end,
  })
end)
local P = wg.zeros("bf16", { M, N })
local launch = loop:launch(router, A, B)
launch.args[#launch.args + 1] = P
local backend = router:run(launch)

-- 5. Scores of attention: a bias that grows with the distance, and keys of the same document only.
local queries, dim = 96, 64
local attention = wg.attention {
  dim = dim,
  score = function(k, score, at) return k:fma(k:abs(at.distance), -0.125, score) end,
  mask = function(k, at)
    local document = at.tensors.document
    return k:ld_global_s32(k:element(document, at.query)):eq(k:ld_global_s32(k:element(document, at.key)))
  end,
  tensors = { document = "s32" },
}
local shape = { 1, queries, 1, dim }
local X = wg.randn { shape = shape, dtype = "bf16", seed = 5 }
local O, document = wg.zeros("bf16", shape), wg.zeros("s32", { queries })
for i = 40, queries - 1 do document[i] = 1 end
attention:run(X, X, X, O, { tensors = { document = document } })
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local function sum(i, j) return sums[{ i, j }] end
local function gelu(x) -- the approximation by tanh
  local t = math.exp(2 * 0.7978845608028654 * (x + 0.044715 * x ^ 3))
  return t == math.huge and x or x * (1 - 1 / (t + 1))
end
report("bias, gelu, residual", function(i, j) return D[{ i, j }] end, N,
  function(i, j) return gelu(sum(i, j) + bias[j]) + residual[{ i, j }] end)
report("a function of x", function(i, j) return D2[{ i, j }] end, N, function(i, j) return math.max(sum(i, j), 0) ^ 2 end)
report("sums of rows", function(i) return row_sums[i] end, 1, function(i)
  local total = 0
  for j = 0, N - 1 do total = total + math.max(sum(i, j), 0) ^ 2 end
  return total
end)
report("quantised", function(i, j) return Q[{ i, j }] * scales[{ j // 128, i }] end, N, function(i, j) return math.max(sum(i, j), 0) end)
local row, shares -- of the row that was computed last
report("softmax of rows", function(i, j) return P[{ i, j }] end, N, function(i, j)
  if row ~= i then
    row, shares = i, {}
    local most, total = -math.huge, 0
    for c = 0, N - 1 do most = math.max(most, sum(i, c)) end
    for c = 0, N - 1 do
      shares[c] = math.exp(sum(i, c) - most)
      total = total + shares[c]
    end
    for c = 0, N - 1 do shares[c] = shares[c] / total end
  end
  return shares[j]
end)
local function at(tensor, query, d) return tensor[{ 0, query, 0, d }] end
local function attended(q, d)
  local total, weighted = 0, 0
  for key = 0, queries - 1 do
    if document[q] == document[key] then
      local p = math.exp(wg.dot(X, q * dim, 1, X, key * dim, 1, dim) / math.sqrt(dim) - 0.125 * math.abs(q - key))
      total, weighted = total + p, weighted + p * at(X, key, d)
    end
  end
  return weighted / total
end
M = queries
report("scores and mask", function(q, d) return at(O, q, d) end, dim, attended)
if failed then os.exit(5) end
