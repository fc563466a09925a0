-- O = softmax(Q * K^T / sqrt(d)) * V of one head, as FlashAttention does it: one pass over the keys with a running
-- maximum and sum, the probabilities going from the first product to the second in registers.
--   wgrun scripts/attention.lua [--rows 128] [--keys 400] [--dim 64] [--seed 1] [--rounds 20]
-- Q is rows x dim, K and V are keys x dim, O is rows x dim, all bf16; dim is 64 or 128, rows and keys are any.
local wg = require "wgrun"

local o = { rows = 128, keys = 400, dim = 64, seed = 1, rounds = 20 }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  local value = math.tointeger(tonumber(arg[i + 1]))
  if not o[key] or not value or value < 1 or key == "dim" and value ~= 64 and value ~= 128 then
    io.stderr:write("attention.lua: ", arg[i], " ", arg[i + 1] or "", " (see the first lines of the script)\n")
    os.exit(2)
  end
  o[key] = value
end

local consumers, block = 2, 128 -- warpgroups of 64 query rows each; keys that are worked on at a time
local d = o.dim
local tile_q = wg.tile { dtype = "bf16", mn = 64 * consumers, k = d, major = "K" }
local tile_k = wg.tile { dtype = "bf16", mn = block, k = d, major = "K" }
-- B of the second product: keys are its K
local tile_v = wg.tile { dtype = "bf16", mn = d, k = block, major = "MN", order = "K" }
local panel = wg.panel { dtype = "bf16", n = d }

local attention = wg.kernel("attention", { threads = 128 * (1 + consumers) }, function(k)
  local Q, K = k:tensor_map("Q", { tile = tile_q, constant = true }),
    k:tensor_map("K", { tile = tile_k, constant = true })
  local V, O = k:tensor_map("V", { tile = tile_v, constant = true }), k:tensor_map("O", panel.box)
  local keys = k:param("keys", "u32")
  local q = k:shared(tile_q, "q")
  local ks, vs = k:shared { tile = tile_k, count = 2, name = "k" }, k:shared { tile = tile_v, count = 2, name = "v" }
  local out = k:shared { bytes = consumers * panel.count * panel.bytes, align = 1024, name = "o" }
  local once = k:pipeline { stages = 1, name = "query" } -- Q comes once and stays
  local ring = k:pipeline { stages = 2, arrivals = 4 * consumers }

  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    once:init()
    ring:init()
  end)
  k:bar_sync(0)
  local first_row = k:special "ctaid.x" * (64 * consumers)

  local function produce()
    local cursor = once:cursor()
    k:load_tile {
      tile = tile_q, map = Q, to = k:address(q), mn = first_row, k = 0, barrier = once:expect(cursor, tile_q.bytes),
    }
    cursor = ring:cursor()
    k:loop({ from = 0, to = keys, step = block }, function(key)
      ring:acquire(cursor)
      local barrier = ring:expect(cursor, tile_k.bytes + tile_v.bytes)
      k:load_tile {
        tile = tile_k, map = K, to = k:address(ks, cursor.stage * tile_k.bytes), mn = key, k = 0, barrier = barrier,
      }
      k:load_tile {
        tile = tile_v, map = V, to = k:address(vs, cursor.stage * tile_v.bytes), mn = 0, k = key, barrier = barrier,
      }
      ring:advance(cursor)
    end)
  end

  local function consume()
    local mine = (thread >> 7) - 1
    local rows_of_q = mine * ((tile_q:descriptor(0, 0, 64) - tile_q:descriptor(0)) << 4)
    local scores, acc = k:regs("f32", block // 2), k:regs("f32", d // 2)
    local top, sum = k:regs("f32", 2), k:regs("f32", 2) -- of the thread's two rows, so far; in units of log2
    for half = 0, 1 do
      k:mov(top[half], -math.huge)
      k:mov(sum[half], 0.0)
    end
    for i = 0, #acc - 1 do k:mov(acc[i], 0.0) end
    local scale = math.log(math.exp(1), 2) / math.sqrt(d)
    local cursor = ring:cursor()
    once:wait(once:cursor())

    k:loop({ from = 0, to = keys, step = block }, function(key)
      ring:wait(cursor)
      k:wgmma_fence()
      k:mma(scores, { a = q, b = ks, a_offset = rows_of_q, b_offset = cursor.stage * tile_k.bytes, scale_d = 0 })
      k:wgmma_wait_group(0)

      local s = k:fragment(scores)
      s:map(function(x, at) return k:selp(k:mul(x, scale), -math.huge, (key + at.column):lt(keys)) end)
      local largest, shrink = s:row_max(), {}
      for half = 0, 1 do
        local new = k:max(top[half], largest[half])
        shrink[half] = k:ex2_approx_ftz(top[half] - new)
        k:mov(top[half], new)
      end
      s:map(function(x, at) return k:ex2_approx_ftz(x - top[at.half]) end)
      local here = s:row_sum()
      for half = 0, 1 do k:fma(sum[half], sum[half], shrink[half], here[half]) end
      k:fragment(acc):map(function(x, at) return x * shrink[at.half] end)

      local probabilities = s:operand "bf16"
      k:wgmma_fence()
      k:mma(acc, { a = probabilities, b = vs, b_offset = cursor.stage * tile_v.bytes })
      k:wgmma_wait_group(0)
      ring:release(cursor, { lane = thread & 31 })
      ring:advance(cursor)
    end)

    for half = 0, 1 do k:rcp_approx(sum[half], sum[half]) end
    k:fragment(acc):map(function(x, at) return x * sum[at.half] end)
    local store, finish = k:epilogue {
      panel = panel, map = O, buffer = out, offset = mine * (panel.count * panel.bytes), buffers = panel.count,
      barrier = mine + 1,
    }
    store(acc, first_row + (mine << 6), k:mov(0, { type = "u32" }))
    finish()
  end

  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(40)
    k:if_(thread:eq(0), produce)
  end, function()
    k:setmaxnreg_inc(232)
    consume()
  end)
end)

local Q = wg.randn { shape = { o.rows, d }, dtype = "bf16", seed = o.seed }
local K = wg.randn { shape = { o.keys, d }, dtype = "bf16", seed = o.seed + 1 }
local V = wg.randn { shape = { o.keys, d }, dtype = "bf16", seed = o.seed + 2 }
local O = wg.zeros("bf16", { o.rows, d })
local launch = { grid = { (o.rows + 64 * consumers - 1) // (64 * consumers) }, args = { Q, K, V, O, o.keys } }
local backend = attention:run(launch)
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

-- The worst error of some rows against binary64, over what rounding the probabilities and O to bf16 may cost.
local worst = 0
for i = 0, o.rows - 1, math.max(1, o.rows // 16) do
  local p, total, top = {}, 0, -math.huge
  for j = 1, o.keys do
    p[j] = wg.dot(Q, i * d, 1, K, (j - 1) * d, 1, d) / math.sqrt(d)
    top = math.max(top, p[j])
  end
  for j = 1, o.keys do
    p[j] = math.exp(p[j] - top)
    total = total + p[j]
  end
  local row = wg.tensor("f64", { o.keys }, p)
  for c = 0, d - 1 do
    local want = wg.dot(row, 0, 1, V, c, d, o.keys) / total
    worst = math.max(worst, math.abs(O[{ i, c }] - want) / (2 ^ -8 * (math.abs(want) + 1)))
  end
end
launch.rounds, launch.flops = backend == "sim" and 1 or o.rounds, 4.0 * o.rows * o.keys * d
local t = attention:time(launch)
print(("attention %d x %d, dim %d, on %s: median %.1f us, %.3g TFLOP/s, error %.2f of what is allowed")
  :format(o.rows, o.keys, d, backend, t.median_us, t.tflops, worst))
if worst > 1 then os.exit(5) end
