-- Functions of attention's scores on a device beside the simulator: the forward pass of 16 and 8 bits, its gradients, decoding. And blocks
-- that are left out change nothing but the time. On the simulator (--backend=sim) the second alone is shown.
local wg = require "wgrun"
local on_chip = wg.backend ~= "sim"
local backends = on_chip and { "gpu", "gpu-cuda", "sim" } or { "sim" }

local function close(name, got, want, allowed)
  got, want = got:convert("f32"):totable(), want:convert("f32"):totable()
  local worst, size = 0, 0
  for i, x in ipairs(want) do
    if x > -math.huge or got[i] > -math.huge then worst, size = math.max(worst, math.abs(got[i] - x)), math.max(size, math.abs(x)) end
    if got[i] ~= got[i] then worst = math.huge end
  end
  if worst > allowed * size then
    io.stderr:write(("%s: off by %g of %g\n"):format(name, worst, size))
    os.exit(5)
  end
end

-- Documents of 100 places; a bias that falls with the distance, behind a bound: the slope is another one for each score.
local function document(k, x) return k:div(k:mov(x, { type = "u32" }), 100) end
local functions = {
  softcap = 4.0,
  score = function(k, x, at) return k:fma(k:cvt_rn_f32_s32(at.key - at.place), 0.03125, x) end,
  mask = function(k, at) return document(k, at.key):eq(document(k, at.place)) end,
}
local function blocks(k, at)
  return document(k, at.first_key):le(document(k, at.last_place)) & document(k, at.last_key):ge(document(k, at.first_place))
end

local queries, heads = on_chip and 400 or 150, 2
local function with(more)
  local out = { dim = 64, heads = heads, causal = true }
  for _, list in ipairs { functions, more } do
    for key, value in pairs(list) do out[key] = value end
  end
  return out
end
local function randn(dtype, seed, dim) return wg.randn { shape = { 1, queries, heads, dim }, dtype = dtype, seed = seed } end

-- Runs forward(options), which returns tensors by name, with and without block_mask on all back ends.
local function compare(name, allowed, run)
  local reference = run(backends[#backends], false)
  for _, backend in ipairs(backends) do
    for _, left_out in ipairs { true, false } do
      for tensor, got in pairs(run(backend, left_out)) do
        close(("%s on %s%s: %s"):format(name, backend, left_out and ", blocks left out" or "", tensor), got, reference[tensor], allowed)
      end
    end
  end
end

for _, dim in ipairs(on_chip and { 64, 128, 256 } or { 64 }) do
  for _, dtype in ipairs { "bf16", "e4m3" } do
    local Q, K, V = randn(dtype, 1, dim), randn(dtype, 2, dim), randn(dtype, 3, dim)
    compare(("forward of %d, %s"):format(dim, dtype), dtype == "e4m3" and 0.06 or 0.02, function(backend, left_out)
      local O, lse = wg.zeros("bf16", Q.shape), wg.zeros("f32", { 1, heads, queries })
      wg.attention(with { dim = dim, dtype = dtype, lse = true, block_mask = left_out and blocks or nil }):run(Q, K, V, O, { lse = lse, backend = backend })
      return { O = O, lse = lse }
    end)
  end
end
for _, dim in ipairs(on_chip and { 64, 96, 128, 192, 256 } or { 64 }) do
  local t = { Q = randn("bf16", 1, dim), K = randn("bf16", 2, dim), V = randn("bf16", 3, dim), dO = randn("bf16", 4, dim) }
  t.O, t.lse = wg.zeros("bf16", t.Q.shape), wg.zeros("f32", { 1, heads, queries })
  wg.attention(with { dim = dim, lse = true }):run(t.Q, t.K, t.V, t.O, { lse = t.lse, backend = "sim" })
  compare("gradients of " .. dim, 0.02, function(backend, left_out)
    local out = {}
    for _, name in ipairs { "dQ", "dK", "dV" } do
      out[name] = wg.zeros("bf16", t.Q.shape)
      t[name] = out[name]
    end
    t.backend = backend
    wg.attention_backward(with { dim = dim, block_mask = left_out and blocks or nil }):run(t)
    return out
  end)
end

-- What blocks that are left out cost no more.
if on_chip then
  local options = { dim = 128, heads = 16, causal = true, mask = function(_, at) return (at.key >> 10):eq(at.place >> 10) end }
  local Q = wg.randn { shape = { 2, 8192, 16, 128 }, dtype = "bf16", seed = 1 }:to "gpu"
  local O = wg.zeros("bf16", Q.shape):to "gpu"
  local every = wg.attention(options):time(Q, Q, Q, O)
  options.block_mask = function(_, at) return (at.first_key >> 10):le(at.last_place >> 10) & (at.last_key >> 10):ge(at.first_place >> 10) end
  local seen = wg.attention(options):time(Q, Q, Q, O)
  print(("2 x 8192 places, 16 heads, documents of 1024: %.0f us, without hidden blocks %.0f us"):format(every.median_us, seen.median_us))
end
