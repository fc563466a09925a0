-- wg.attention_backward for packed sequences, which must give what each sequence gives alone: attention_backward_packed.lua [BACKEND].
local wg = require "wgrun"
local backend = ... or "sim"

-- Sequences of any lengths, one after another: each as if it stood alone. Also without queries, and without keys.
local function differentiate_packed(name, o, lengths)
  local query_starts, key_starts, queries, keys = { 0 }, { 0 }, 1, 1
  for i, length in ipairs(lengths) do
    query_starts[i + 1], key_starts[i + 1] = query_starts[i] + length[1], key_starts[i] + length[2]
    queries, keys = math.max(queries, length[1]), math.max(keys, length[2])
  end
  local total, kv_heads, options = query_starts[#query_starts], o.kv_heads or o.heads, {}
  local function random(rows, heads, seed) return wg.randn { shape = { rows, heads, o.dim }, dtype = "bf16", seed = seed } end
  local function filled(rows, heads) return random(rows, heads, 9) end -- what the launch must overwrite
  local t = { Q = random(total, o.heads, 1), K = random(key_starts[#key_starts], kv_heads, 2), V = random(key_starts[#key_starts], kv_heads, 3) }
  t.dO, t.O, t.lse = random(total, o.heads, 4), wg.zeros("bf16", t.Q.shape), wg.zeros("f32", { o.heads, total })
  t.dQ, t.dK, t.dV = filled(total, o.heads), filled(t.K.shape[1], kv_heads), filled(t.K.shape[1], kv_heads)
  local function starts(list) return wg.tensor("s32", { #list }, list) end
  local packed = { query_starts = starts(query_starts), key_starts = starts(key_starts), max_queries = queries, backend = backend }
  for key, value in pairs(o) do options[key] = value end
  options.lse, options.packed = true, true
  packed.lse = t.lse
  wg.attention(options):run(t.Q, t.K, t.V, t.O, packed)
  options.lse = nil
  local backward = wg.attention_backward(options)
  for _, kernel in ipairs { backward.before, backward.kernel, backward.after } do assert(#kernel:check() == 0, name) end
  packed.max_keys = keys
  for key, value in pairs(t) do packed[key] = value end
  assert(backward:run(packed) == backend)

  options.packed = nil
  local alone = wg.attention_backward(options)
  for i, length in ipairs(lengths) do
    if length[1] * length[2] > 0 then
      local one = { lse = wg.zeros("f32", { 1, o.heads, length[1] }), backend = backend }
      for key, tensor in pairs(t) do
        local of_queries = key == "Q" or key == "O" or key == "dO" or key == "dQ"
        local first, rows = (of_queries and query_starts or key_starts)[i], length[of_queries and 1 or 2]
        if key ~= "lse" then
          local part = tensor:rows(first, first + rows):reshape { 1, rows, tensor.shape[2], o.dim }
          one[key] = key:find "^d[QKV]" and wg.zeros("bf16", part.shape) or part
        end
      end
      for h = 0, o.heads - 1 do
        for row = 0, length[1] - 1 do one.lse[{ 0, h, row }] = t.lse[{ h, query_starts[i] + row }] end
      end
      alone:run(one)
      for key, starts_of in pairs { dQ = query_starts, dK = key_starts, dV = key_starts } do
        local got = t[key]:rows(starts_of[i], starts_of[i + 1]):reshape(one[key].shape)
        local same, worst = wg.compare(got, one[key], key == "dQ" and 0.01 or 0)
        assert(same, ("%s: %s of sequence %d differs by %g from that of the sequence alone"):format(name, key, i, worst))
      end
    else -- nothing is seen: the gradients are 0
      for key, starts_of in pairs { dQ = query_starts, dK = key_starts, dV = key_starts } do
        local got = t[key]:rows(starts_of[i], starts_of[i + 1])
        assert(#got == 0 or wg.compare(got, wg.zeros("bf16", got.shape), 0), ("%s: %s of sequence %d is not 0"):format(name, key, i))
      end
    end
  end
end

differentiate_packed("packed", { dim = 64, heads = 2 }, { { 130, 150 }, { 0, 40 }, { 1, 1 }, { 33, 0 }, { 70, 129 } })
differentiate_packed("packed, causal", { dim = 128, heads = 2, kv_heads = 1, causal = true }, { { 70, 70 }, { 30, 140 }, { 129, 60 } })
differentiate_packed("packed, a window", { dim = 64, heads = 1, causal = true, window = 60 }, { { 140, 140 }, { 200, 100 } })
differentiate_packed("packed, 96", { dim = 96, heads = 2 }, { { 70, 70 }, { 30, 140 } })
differentiate_packed("packed, 256", { dim = 256, heads = 2, kv_heads = 1, causal = true }, { { 70, 70 }, { 0, 20 }, { 65, 130 }, { 33, 0 }, { 150, 64 } })
differentiate_packed("packed, 192", { dim = 192, heads = 1, window = 60 }, { { 70, 129 }, { 30, 190 } })
