-- Attention with sinks, with dropout, and of head size 512 on a device beside the simulator: the forward pass, its gradients, decoding.
-- On the simulator (--backend=sim) alone it shows that two runs agree.
local wg = require "wgrun"
local on_chip = wg.backend ~= "sim"
local backends = on_chip and { "gpu", "gpu-cuda" } or { "sim" }

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

-- Runs run(backend), which returns tensors by name, on all back ends.
local function compare(name, allowed, run)
  local reference = run "sim"
  for _, backend in ipairs(backends) do
    for tensor, got in pairs(run(backend)) do close(("%s on %s: %s"):format(name, backend, tensor), got, reference[tensor], allowed) end
  end
end

local queries, heads = on_chip and 300 or 100, 2
local function randn(dtype, seed, dim) return wg.randn { shape = { 1, queries, heads, dim }, dtype = dtype, seed = seed } end
local sink, state = wg.tensor("f32", { heads }, { 0.5, 3.0 }), wg.tensor("s64", { 2 }, { 1234567890123, 5 })
local function given(options, more)
  if options.sink then more.sink = sink end
  if options.dropout then more.dropout_p, more.dropout_state = 0.3, state end
  return more
end

for _, dim in ipairs(on_chip and { 64, 128, 256, 512 } or { 64, 512 }) do
  for name, options in pairs { sink = { sink = true }, dropout = { dropout = true, sink = true }, ["8 bits"] = dim < 512 and { dtype = "e4m3", sink = true } or {} } do
    options.dim, options.heads, options.causal, options.lse = dim, heads, true, true
    local dtype = options.dtype or "bf16"
    compare(("forward of %d, %s"):format(dim, name), dtype == "e4m3" and 0.06 or 0.02, function(backend)
      local O, lse = wg.zeros("bf16", { 1, queries, heads, dim }), wg.zeros("f32", { 1, heads, queries })
      wg.attention(options):run(randn(dtype, 1, dim), randn(dtype, 2, dim), randn(dtype, 3, dim), O, given(options, { lse = lse, backend = backend }))
      return { O = O, lse = lse }
    end)
  end
end

for _, dim in ipairs(on_chip and { 64, 96, 128, 192, 256 } or { 64 }) do
  local options = { dim = dim, heads = heads, causal = true, sink = true, dropout = true, lse = true }
  local t = { Q = randn("bf16", 1, dim), K = randn("bf16", 2, dim), V = randn("bf16", 3, dim), dO = randn("bf16", 4, dim) }
  t.O, t.lse = wg.zeros("bf16", t.Q.shape), wg.zeros("f32", { 1, heads, queries })
  wg.attention(options):run(t.Q, t.K, t.V, t.O, given(options, { lse = t.lse, backend = "sim" }))
  options.lse = nil
  compare("gradients of " .. dim, 0.02, function(backend)
    local out = { dsink = wg.zeros("f32", { heads }) }
    for _, name in ipairs { "dQ", "dK", "dV" } do out[name] = wg.zeros("bf16", t.Q.shape) end
    local all = given(options, { backend = backend })
    for _, list in ipairs { t, out } do
      for key, tensor in pairs(list) do all[key] = tensor end
    end
    wg.attention_backward(options):run(all)
    return out
  end)
end

for _, dim in ipairs { 64, 512 } do
  compare("decoding of " .. dim, 0.02, function(backend)
    local Q = wg.randn { shape = { 3, 1, heads, dim }, dtype = "bf16", seed = 1 }
    local K, V = wg.randn { shape = { 3, 200, 1, dim }, dtype = "bf16", seed = 2 }, wg.randn { shape = { 3, 200, 1, dim }, dtype = "bf16", seed = 3 }
    local O, lengths = wg.zeros("bf16", Q.shape), wg.tensor("s32", { 3 }, { 200, 0, 77 })
    wg.attention_decode({ dim = dim, heads = heads, kv_heads = 1, sink = true }):run(Q, K, V, O, { lengths = lengths, sink = sink, backend = backend })
    return { O = O }
  end)
end
