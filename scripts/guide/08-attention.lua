-- Step 8 of the guide (docs/guide/08-attention.md): O = softmax(Q * K^T / sqrt(d)) * V of one head, in one pass over
-- the keys: a running maximum and a running sum a row, and the probabilities stay in registers.
--   wgrun scripts/guide/08-attention.lua
local wg = require "wgrun"

local rows, block, d = 64, 64, 64 -- query rows of a CTA, keys of a step, extent of a head
local tile_q = wg.tile { dtype = "bf16", mn = rows, k = d, major = "K", swizzle = "128B" }
local tile_k = wg.tile { dtype = "bf16", mn = block, k = d, major = "K", swizzle = "128B" }
-- B of the second product: its K extent are the keys, its N extent the columns of V, which run with memory.
local tile_v = wg.tile { dtype = "bf16", mn = d, k = block, major = "MN", swizzle = "128B" }

local attention = wg.kernel("attention_step", { threads = 128 }, function(k)
  local Q, K, V = k:tensor_map("Q", { tile = tile_q }), k:tensor_map("K", { tile = tile_k }), k:tensor_map("V", { tile = tile_v })
  local O, queries, keys = k:param("O", "f32*"), k:param("queries", "u32"), k:param("keys", "u32")
  local q, ks, vs = k:shared(tile_q, "q"), k:shared(tile_k, "k"), k:shared(tile_v, "v")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local leader, barrier = k:special "tid.x":eq(0), k:address(full)
  local first_row = k:special "ctaid.x" * rows

  local function fetch(key) -- the block of K and V that begins at `key`; by one thread
    k:load_tile { tile = tile_k, map = K, to = k:address(ks), mn = key, k = 0, barrier = barrier }
    k:load_tile { tile = tile_v, map = V, to = k:address(vs), mn = 0, k = key, barrier = barrier }
  end

  k:if_(leader, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, tile_q.bytes + tile_k.bytes + tile_v.bytes)
    k:load_tile { tile = tile_q, map = Q, to = k:address(q), mn = first_row, k = 0, barrier = barrier }
    fetch(0)
  end)
  k:bar_sync(0)

  local scores, acc = k:regs("f32", block // 2), k:regs("f32", d // 2)
  local top, sum = k:regs("f32", 2), k:regs("f32", 2) -- a thread has parts of two rows; maxima in units of log2
  for i = 0, #acc - 1 do k:mov(acc[i], 0.0) end
  for half = 0, 1 do
    k:mov(top[half], -math.huge)
    k:mov(sum[half], 0.0)
  end
  local scale = math.log(math.exp(1), 2) / math.sqrt(d) -- exp(x / sqrt(d)) is 2^(x * scale)
  local phase = k:mov(0, { type = "u32" })

  k:loop({ from = 0, to = keys, step = block }, function(key)
    k:mbarrier_wait(barrier, phase)
    k:xor(phase, phase, 1)

    k:wgmma_fence()
    k:mma(scores, { a = q, b = ks, scale_d = 0 }) -- S = Q * K^T
    k:wgmma_wait_group(0)

    local s = k:fragment(scores)
    s:map(function(x, at) return k:selp(x * scale, -math.huge, (key + at.column):lt(keys)) end)
    local largest, shrink = s:row_max(), {}
    for half = 0, 1 do
      local new = k:max(top[half], largest[half])
      shrink[half] = k:ex2_approx_ftz(top[half] - new) -- what was summed so far is in units of the old maximum
      k:mov(top[half], new)
    end
    s:map(function(x, at) return k:ex2_approx_ftz(x - top[at.half]) end)
    local here = s:row_sum()
    for half = 0, 1 do k:fma(sum[half], sum[half], shrink[half], here[half]) end
    k:fragment(acc):map(function(x, at) return x * shrink[at.half] end)

    local probabilities = s:operand "bf16"
    k:wgmma_fence()                               -- acc and the probabilities were written by ordinary instructions
    k:mma(acc, { a = probabilities, b = vs })     -- O += P * V
    k:wgmma_wait_group(0)

    k:bar_sync(0)                                 -- all four warps are done with K and V
    local next_key = key + block
    k:if_(leader & next_key:lt(keys), function()
      k:mbarrier_arrive_expect_tx(full, tile_k.bytes + tile_v.bytes)
      fetch(next_key)
    end)
  end)

  for half = 0, 1 do k:rcp_approx(sum[half], sum[half]) end
  k:fragment(acc):map(function(x, at) return x * sum[at.half] end)
  k:store_accumulator(acc, { to = O, ld = d, row = first_row, col = 0, rows = queries, cols = d, vector = true })
end)

local queries, keys = 100, 150
local Q = wg.randn { shape = { queries, d }, dtype = "bf16", seed = 1 }
local K = wg.randn { shape = { keys, d }, dtype = "bf16", seed = 2 }
local V = wg.randn { shape = { keys, d }, dtype = "bf16", seed = 3 }
local O = wg.zeros("f32", { queries, d })
local backend = attention:run { grid = { (queries + rows - 1) // rows }, args = { Q, K, V, O, queries, keys } }
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

local P = (wg.matmul(Q, K:transpose()) / math.sqrt(d)):exp()
local want = wg.matmul(P, V:convert "f32") / wg.matmul(P, wg.ones("f32", { keys, 1 }))
local ok, worst, where = wg.compare(O, want, 2 ^ -8) -- the probabilities are rounded to bf16
print(("attention %d queries, %d keys, on %s: worst error %.1g"):format(queries, keys, backend, worst))
if not ok then
  print(where)
  os.exit(5)
end
