-- wg.attention_decode on the simulator, which watches every access, against binary64: lengths, pages, packed rows and shares of the work.
local wg = require "wgrun"
local check = require "check"

-- Where K and V have key s of sequence b: the place in the first dimension, and the row there.
local function key_finder(o, list, width)
  return function(b, s)
    if not o.page then return b, s end
    return list[b * width + s // o.page + 1], s % o.page
  end
end

local function index_of(layout, first, row, head, c)
  return layout == "bhsd" and { first, head, row, c } or { first, row, head, c }
end

local function shape_of(layout, first, rows, heads, dim)
  return layout == "bhsd" and { first, heads, rows, dim } or { first, rows, heads, dim }
end

-- The index of the first element of a row.
local function offset_of(layout, rows, heads, dim, first, row, head)
  if layout == "bhsd" then return ((first * heads + head) * rows + row) * dim end
  return ((first * rows + row) * heads + head) * dim
end

-- Numbers that are none, and infinities, where nobody may look: behind the end of a sequence in its last page, or before its neighbour's.
local function spoil(o, K, V, lengths, keys, find)
  for b, length in ipairs(lengths) do
    local stop = o.page and (length + o.page - 1) // o.page * o.page or keys
    for s = length, math.min(stop, length + 20) - 1 do
      local first, row = find(b - 1, s)
      for head = 0, (o.kv_heads or o.heads) - 1 do
        for c = 0, o.dim - 1, 7 do
          K[index_of(o.layout, first, row, head, c)] = 0 / 0
          V[index_of(o.layout, first, row, head, c)] = 1 / 0
        end
      end
    end
  end
end

local function compare(name, got, want, allowed)
  assert(got == want or math.abs(got - want) <= allowed * (math.abs(want) + 1), ("%s: %g, not %g"):format(name, got, want))
end

--- Of functions: score(x, at) and seen(at) compute the same in Lua; tensors are what they read.
local function attend(name, o, lengths, ctas, score, seen_by, tensors)
  local layout, dtype, queries, kv_heads = o.layout or "bshd", o.dtype or "bf16", o.queries or 1, o.kv_heads or o.heads
  local options, longest = {}, 1
  for key, value in pairs(o) do if key ~= "step" then options[key] = value end end
  options.lse = true
  for _, length in ipairs(lengths) do longest = math.max(longest, length) end
  local decode = wg.attention_decode(options)
  assert(#decode.kernel:check() == 0, name)

  local firsts, rows, width, list = #lengths, longest, nil, nil
  if o.page then
    width = (longest + o.page - 1) // o.page
    rows, firsts, list = o.page, check.page_table(lengths, o.page, width)
  end
  local find = key_finder(o, list, width)
  local Q = wg.randn { shape = shape_of(layout, #lengths, queries, o.heads, o.dim), dtype = dtype, seed = 1 }
  local K = wg.randn { shape = shape_of(layout, firsts, rows, kv_heads, o.dim), dtype = dtype, seed = 2 }
  local V = wg.randn { shape = shape_of(layout, firsts, rows, kv_heads, o.dim), dtype = dtype, seed = 3 }
  spoil(o, K, V, lengths, longest, find)
  local values = {
    lengths = wg.tensor("s32", { #lengths }, lengths), lse = wg.zeros("f32", { #lengths, o.heads, queries }),
    pages = o.page and wg.tensor("s32", { #lengths, width }, list) or nil, grid = ctas, backend = "sim", tensors = tensors,
  }
  local first
  for seed = 1, 2 do -- the second launch finds the counters as the first one left them
    local O = wg.randn { shape = Q.shape, dtype = dtype, seed = 4 }
    values.seed = seed
    decode:run(Q, K, V, O, values)
    first = first or O
    assert(wg.compare(O, first, 0), name .. ": the schedule changes the result")
  end

  for b = 0, #lengths - 1 do
    for head = 0, o.heads - 1, o.step or 1 do
      local kv_head = head // (o.heads // kv_heads)
      for i = 0, queries - 1 do
        local seen = math.max(0, lengths[b + 1] - (o.causal ~= false and queries - 1 - i or 0))
        local probabilities, top, total = {}, -math.huge, 0
        for s = 0, seen - 1 do
          local at, row = find(b, s)
          probabilities[s] = wg.dot(Q, offset_of(layout, queries, o.heads, o.dim, b, i, head), 1,
            K, offset_of(layout, rows, kv_heads, o.dim, at, row, kv_head), 1, o.dim) / math.sqrt(o.dim)
          if score then
            local here = { query = i, key = s, place = lengths[b + 1] - queries + i, head = head, batch = b }
            probabilities[s] = (not seen_by or seen_by(here)) and score(probabilities[s], here) or -math.huge
          end
          top = math.max(top, probabilities[s])
        end
        for s = 0, seen - 1 do
          probabilities[s] = top > -math.huge and math.exp(probabilities[s] - top) or 0
          total = total + probabilities[s]
        end
        local place = ("%s: O[%d, head %d, query %d]"):format(name, b, head, i)
        for c = 0, o.dim - 1, 19 do
          local sum = 0
          for s = 0, seen - 1 do
            local at, row = find(b, s)
            sum = sum + probabilities[s] * V[index_of(layout, at, row, kv_head, c)]
          end
          compare(place, first[index_of(layout, b, i, head, c)], total > 0 and sum / total or 0, 2 ^ -7)
        end
        compare(place .. " lse", values.lse[{ b, head, i }], total > 0 and top + math.log(total) or -math.huge, 1e-4)
      end
    end
  end
end

attend("one key", { dim = 64, heads = 1 }, { 1 }, 1)
attend("lengths of all kinds", { dim = 64, heads = 4, kv_heads = 2 }, { 200, 1, 0, 65, 128 }, 3)
attend("a head in many parts", { dim = 128, heads = 8, kv_heads = 1, block = 64 }, { 700 }, 7)
attend("more CTAs than blocks", { dim = 64, heads = 1, block = 64 }, { 100 }, 5)
attend("the other layout", { dim = 128, heads = 2, layout = "bhsd", dtype = "f16" }, { 330, 90 }, 3)
attend("several queries", { dim = 128, heads = 4, kv_heads = 1, queries = 3 }, { 130, 2, 64, 66 }, 4)
attend("queries that see all keys", { dim = 64, heads = 2, kv_heads = 1, queries = 5, causal = false }, { 70, 3 }, 2)
attend("32 rows", { dim = 64, heads = 16, kv_heads = 1, queries = 2, step = 5 }, { 10, 150 }, 3)
attend("64 rows", { dim = 128, heads = 16, kv_heads = 1, queries = 4, step = 5 }, { 100, 133 }, 4)
attend("256 columns", { dim = 256, heads = 2, kv_heads = 1, page = 64 }, { 90, 120 }, 3)
attend("512 columns", { dim = 512, heads = 2, kv_heads = 1 }, { 90, 0, 1, 120 }, 3)
attend("512 columns, 16 rows in many parts", { dim = 512, heads = 8, kv_heads = 1, queries = 2, page = 64, step = 3 }, { 300 }, 5)
attend("512 columns, pages of one key", { dim = 512, heads = 3, kv_heads = 1, page = 1, layout = "bhsd" }, { 70 }, 2)
attend("256 columns, 64 rows", { dim = 256, heads = 64, kv_heads = 1, step = 21, layout = "bhsd" }, { 50 }, 2)
attend("pages of 16", { dim = 128, heads = 8, kv_heads = 2, page = 16 }, { 300, 128, 0, 17 }, 5)
attend("pages of one key", { dim = 64, heads = 2, kv_heads = 1, page = 1 }, { 100, 0, 3 }, 3)
attend("pages of 3, the other layout", { dim = 128, heads = 2, page = 3, layout = "bhsd", block = 64 }, { 70, 0, 130 }, 3)
attend("pages of 24: boxes of 8 by TMA", { dim = 64, heads = 8, kv_heads = 1, page = 24, copies = "boxes" }, { 100, 3 }, 3)
attend("rows of large pages", { dim = 256, heads = 2, kv_heads = 1, page = 32, copies = "rows" }, { 40, 70 }, 2)
attend("pages of blocks", { dim = 64, heads = 8, kv_heads = 1, page = 256, layout = "bhsd" }, { 400, 3 }, 3)
attend("teams of CTAs", { dim = 64, heads = 8, kv_heads = 4, block = 64, together = 4 }, { 70, 300, 20, 0, 190 }, 9)
attend("teams of two", { dim = 64, heads = 4, block = 64, together = 2, page = 16 }, { 70, 300, 20, 0, 190 }, 6)
local many = {}
for i = 1, 70 do many[i] = i * 7 % 90 end
attend("more sequences than lanes", { dim = 64, heads = 2, kv_heads = 1 }, many, 13)
local crowd = {}
for i = 1, 170 do crowd[i] = i * 7 % 5 end
attend("more sequences than are looked at together", { dim = 64, heads = 1 }, crowd, 14)
attend("stretches of whole heads, and a CTA without work", { dim = 64, heads = 4 }, { 200, 190, 129, 256 }, 12)
attend("rounds of whole heads, and halves of the last one", { dim = 64, heads = 1, block = 64 }, { 2100, 2100, 2050, 2112, 2100 }, 2)
attend("rounds of teams, lengths of all kinds", { dim = 64, heads = 4, block = 64, together = 2, page = 16 }, { 1000, 2050, 30, 2049 }, 5)
attend("more heads than rounds", { dim = 64, heads = 17, block = 64, layout = "bhsd", step = 4 }, { 1990 }, 1)
attend("nearly a head for each CTA", { dim = 64, heads = 1, block = 64 }, { 2100, 2048 }, 2)

-- Bounds, score functions and masks of one's own.
attend("a bound", { dim = 64, heads = 2, softcap = 2.0 }, { 100, 0, 3 }, 2, function(x) return 2 * (1 - 2 / (math.exp(x) + 1)) end)
local function alibi(k, x, at)
  return k:fma(k:ex2_approx_ftz(k:neg(k:cvt_rn_f32_u32(at.head + 1))), at.distance, x)
end
local function alibi_of(x, at) return x + 2.0 ^ -(at.head + 1) * (at.key - at.place) end
attend("ALiBi", { dim = 128, heads = 4, kv_heads = 1, queries = 3, score = alibi }, { 130, 2, 64, 66 }, 4, alibi_of)
attend("ALiBi, pages, 32 rows", { dim = 64, heads = 16, kv_heads = 1, queries = 2, step = 5, page = 16, score = alibi }, { 10, 150 }, 3, alibi_of)
attend("a mask", { dim = 64, heads = 2, queries = 2, causal = false, mask = function(_, at) return ((at.key + at.query) & 3):eq(0) & at.batch:ne(1) end },
  { 90, 20, 3 }, 3, function(x) return x end, function(at) return (at.key + at.query) % 4 == 0 and at.batch ~= 1 end)
attend("scores of -inf", { dim = 64, heads = 2, score = function(k, x, at) return k:selp_f32(x, -math.huge, at.key:ge(70)) end }, { 200, 60, 90 }, 3,
  function(x, at) return at.key >= 70 and x or -math.huge end)
local biases = {}
for i = 1, 3 * 40 do biases[i] = (i * 7 % 16) / 8 end
attend("tensors", { dim = 64, heads = 3, kv_heads = 1, softcap = 5.0, tensors = { bias = "f32" }, score = function(k, x, at)
  local key = k:mov(at.key, { type = "u32" })
  return k:add(x, k:ld_global_f32(k:element(at.tensors.bias, at.head * 40 + key)))
end }, { 40, 0, 7 }, 2, function(x, at) return 5 * (1 - 2 / (math.exp(2 * x / 5) + 1)) + biases[at.head * 40 + at.key + 1] end, nil, { bias = wg.tensor("f32", { 3 * 40 }, biases) })

-- Lengths that cannot be: cut to the keys that there are.
local all = wg.randn { shape = { 2, 40, 1, 64 }, dtype = "bf16", seed = 1 }
local whole = wg.attention_decode { dim = 64 }
local out, cut = wg.zeros("bf16", { 2, 1, 1, 64 }), wg.zeros("bf16", { 2, 1, 1, 64 })
local query = wg.randn { shape = out.shape, dtype = "bf16", seed = 2 }
whole:run(query, all, all, out, { backend = "sim" })
whole:run(query, all, all, cut, { backend = "sim", lengths = wg.tensor("s32", { 2 }, { 41, -1 }) })
assert(wg.compare(out, cut, 0))

check.refuses("unknown option `head` of wg.attention_decode: did you mean `heads`? (legal: dtype, dim, heads...", function() wg.attention_decode { head = 2 } end)
check.refuses("wg.attention_decode: unknown dim `96` (legal: 64, 128, 256, 512)", function() wg.attention_decode { dim = 96 } end)
check.refuses("wg.attention_decode: 3 queries of 32 heads that share K and V are 96 rows, and at most 64 are possible (wg.attention takes any number)",
  function() wg.attention_decode { heads = 32, kv_heads = 1, queries = 3 } end)
check.refuses("wg.attention_decode: 1 queries of 17 heads that share K and V are 17 rows, and at most 16 are possible (wg.attention takes any number)",
  function() wg.attention_decode { dim = 512, heads = 17, kv_heads = 1 } end)
check.refuses("wg.attention_decode: block is 80, must be a multiple of 64: 16 keys for each of 4 warps that share the keys", function() wg.attention_decode { block = 80 } end)
check.refuses("wg.attention_decode: page is 300, must be an integer from 1 to 256", function() wg.attention_decode { page = 300 } end)
check.refuses("wg.attention_decode: copies = `rows` is for pages", function() wg.attention_decode { copies = "rows" } end)
check.refuses("wg.attention_decode: together is 3, must divide the 4 heads of K and V", function() wg.attention_decode { heads = 4, together = 3 } end)
check.refuses("wg.attention_decode: 2 blocks of 256 keys take 262144 bytes of shared memory, and there are 228192", function() wg.attention_decode { block = 256 } end)

local function zeros(...) return wg.zeros("bf16", { ... }) end
local plain, no_queries, no_keys = wg.attention_decode { dim = 64, heads = 2 }, zeros(0, 1, 2, 64), zeros(0, 8, 2, 64)
check.refuses("attention_decode: 0 sequences of 8 keys leave nothing to compute", function() plain:run(no_queries, no_keys, no_keys, no_queries) end)

local made = wg.attention_decode { dim = 64, heads = 2, page = 16 }
local Q, K, pages = zeros(3, 1, 2, 64), zeros(5, 16, 2, 64), wg.zeros("s32", { 3, 4 })
local lengths = wg.zeros("s32", { 3 })
local function refuses(message, k, values) check.refuses(message, function() made:run(Q, k, k, Q, values) end) end
refuses("attention_decode: `pages` is missing", K, { lengths = lengths })
refuses("attention_decode: `lengths` is missing", K, { pages = pages })
refuses("attention_decode: K has page = 8, and wg.attention_decode was made for 16", zeros(5, 8, 2, 64), { lengths = lengths, pages = pages })
refuses("attention_decode: lengths must be s32, 3, not 4", K, { lengths = wg.zeros("s32", { 4 }), pages = pages })
refuses("attention_decode: pages must be s32, 3 x any, not 3", K, { lengths = lengths, pages = lengths })
refuses("attention_decode: `lse` is given, but wg.attention_decode was made without `lse`", K, { lengths = lengths, pages = pages, lse = Q })
refuses("attention_decode: scale is 0, must be positive", K, { lengths = lengths, pages = pages, scale = 0 })
check.refuses("attention_decode: O has dim = 32, and wg.attention_decode was made for 64",
  function() made:run(Q, K, K, zeros(3, 1, 2, 32), { lengths = lengths, pages = pages }) end)
check.refuses("attention_decode has no `runs`: did you mean `run`?", function() made:runs(Q, K, K, Q) end)
