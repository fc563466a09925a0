-- What the tests of wg.gemm share: operands, and D beside elements that are computed in binary64.
local wg = require "wgrun"
local multiplying = {}

--- A random matrix, of small numbers where these are whole.
function multiplying.random(dtype, shape, seed)
  if dtype == "s8" or dtype == "s32" then return wg.randint { shape = shape, dtype = dtype, lo = -9, hi = 9, seed = seed } end
  if dtype == "u8" then return wg.randint { shape = shape, dtype = dtype, lo = 0, hi = 9, seed = seed } end
  return wg.randn { shape = shape, dtype = dtype, seed = seed }
end

--- The element of A * B at i, j; both have rows of K elements.
function multiplying.dot(A, B, K, i, j) return wg.dot(A, i * K, 1, B, j * K, 1, K) end

--- Compares every `down`-th row of D, and of these every `across`-th element, with want(i, j): what it should be, and by how much it may
--- differ.
function multiplying.compare(name, D, down, across, want)
  for i = 0, D.shape[1] - 1, down do
    for j = 0, D.shape[2] - 1, across do
      local element, allowed = want(i, j)
      assert(math.abs(D[{ i, j }] - element) <= allowed, ("%s: D[%d, %d] is %.9g, not %.9g"):format(name, i, j, D[{ i, j }], element))
    end
  end
end

--- What a product of bf16 or of wider types may be wrong by, with K terms.
function multiplying.allowed(element, K) return 0.01 * (math.abs(element) + math.sqrt(K)) end

--- As compare, of D = run(seed) for the seeds 1 to `seeds` of the simulator's schedule: D is the same under all of them.
function multiplying.each_seed(name, seeds, run, want)
  local first
  for seed = 1, seeds do
    local D = run(seed)
    multiplying.compare(name, D, 7, 5, want)
    first = first or D
    assert(wg.compare(D, first, 0), name .. ": the schedule changes the result")
  end
end

local magnitudes = { [0] = 0, 0.5, 1, 1.5, 2, 3, 4, 6 }

--- The number that four bits are as e2m1.
function multiplying.e2m1(code) return (code & 8 ~= 0 and -1 or 1) * magnitudes[code & 7] end

--- What N x K weights of e2m1 stand for, of tensors of their bytes: scale(byte) is what the scale of `group` elements of K stands for.
function multiplying.fp4_weights(W, S, N, K, group, scale)
  local w, s, out = W:totable(), S:totable(), {}
  for i = 0, N * K - 1 do
    local byte = w[i // 2 + 1]
    out[i + 1] = multiplying.e2m1(i % 2 == 0 and byte & 15 or byte >> 4) * scale(s[i // group + 1])
  end
  return wg.tensor("f32", { N, K }, out)
end

return multiplying
