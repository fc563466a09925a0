-- wg.mla_decode on the simulator, which watches every access, against binary64: lengths, pages, rows and shares of the work.
local wg = require "wgrun"
local check = require "check"

local function compare(name, got, want, allowed)
  assert(got == want or math.abs(got - want) <= allowed * (math.abs(want) + 1), ("%s: %g, not %g"):format(name, got, want))
end

-- step: of the heads, those that are compared; the last one is. seeds: so many schedules of the simulator give the same bits.
local function attend(name, o, lengths, ctas, seeds)
  local options, longest, queries, dtype = { lse = true }, 1, o.queries or 1, o.dtype or "bf16"
  for key, value in pairs(o) do if key ~= "step" then options[key] = value end end
  for _, length in ipairs(lengths) do longest = math.max(longest, length) end
  local decode = wg.mla_decode(options)
  local findings = decode.kernel:check()
  assert(#findings == 0, name .. ": " .. tostring(findings[1]))

  local firsts, rows, width, list = #lengths, longest, nil, nil
  if o.page then
    width = (longest + o.page - 1) // o.page
    rows, firsts, list = o.page, check.page_table(lengths, o.page, width)
  end
  local function find(b, s)
    if not o.page then return b, s end
    return list[b * width + s // o.page + 1], s % o.page
  end
  local Q = wg.randn { shape = { #lengths, queries, o.heads, 576 }, dtype = dtype, seed = 1 }
  local cache = wg.randn { shape = { firsts, rows, 576 }, dtype = dtype, seed = 2 }
  -- Numbers that are none, and infinities, behind the end of a sequence.
  for b, length in ipairs(lengths) do
    local stop = o.page and (length + o.page - 1) // o.page * o.page or longest
    for s = length, math.min(stop, length + 20) - 1 do
      local first, row = find(b - 1, s)
      for c = 0, 575, 7 do cache[{ first, row, c }] = c % 2 == 0 and 0 / 0 or 1 / 0 end
    end
  end
  local scale = 1 / math.sqrt(192)
  local values = {
    lengths = wg.tensor("s32", { #lengths }, lengths), lse = wg.zeros("f32", { #lengths, o.heads, queries }), scale = scale,
    pages = o.page and wg.tensor("s32", { #lengths, width }, list) or nil, grid = ctas, backend = "sim",
  }
  local first
  for seed = 1, seeds or 2 do -- the second launch finds the counters as the first one left them
    local O = wg.randn { shape = { #lengths, queries, o.heads, 512 }, dtype = dtype, seed = 4 }
    values.seed = seed
    decode:run(Q, cache, O, values)
    first = first or O
    assert(wg.compare(O, first, 0), name .. ": the schedule changes the result")
  end

  local heads = { [o.heads - 1] = true }
  for head = 0, o.heads - 1, o.step or 1 do heads[head] = true end
  for b = 0, #lengths - 1 do
    for head in pairs(heads) do
      for i = 0, queries - 1 do
        local seen = math.max(0, lengths[b + 1] - (o.causal ~= false and queries - 1 - i or 0))
        local weights, top, total = {}, -math.huge, 0
        for s = 0, seen - 1 do
          local at, row = find(b, s)
          weights[s] = scale * wg.dot(Q, ((b * queries + i) * o.heads + head) * 576, 1, cache, (at * rows + row) * 576, 1, 576)
          top = math.max(top, weights[s])
        end
        for s = 0, seen - 1 do
          weights[s] = math.exp(weights[s] - top)
          total = total + weights[s]
        end
        local place = ("%s: O[%d, query %d, head %d]"):format(name, b, i, head)
        for c = 0, 511, 73 do
          local sum = 0
          for s = 0, seen - 1 do
            local at, row = find(b, s)
            sum = sum + weights[s] * cache[{ at, row, c }]
          end
          compare(place, first[{ b, i, head, c }], total > 0 and sum / total or 0, 2 ^ -7)
        end
        compare(place .. " lse", values.lse[{ b, head, i }], total > 0 and top + math.log(total) or -math.huge, 1e-4)
      end
    end
  end
end

attend("one key", { heads = 1 }, { 1 }, 1)
attend("lengths of all kinds", { heads = 16, step = 5 }, { 200, 1, 0, 65, 128 }, 3)
attend("one sequence in many parts", { heads = 8, step = 3 }, { 700 }, 7)
attend("two parts, of which one may find the other complete", { heads = 2 }, { 896, 128 }, 2, 8)
attend("more parts than are added up together", { heads = 3 }, { 1200 }, 19)
attend("a cluster, f16", { heads = 128, step = 41, dtype = "f16" }, { 330, 90 }, 4)
attend("two queries, pages of 64", { heads = 64, queries = 2, step = 21, page = 64 }, { 130, 1, 64, 66 }, 4)
attend("groups of clusters", { heads = 130, queries = 2, step = 43, page = 128 }, { 100, 300 }, 12)
attend("queries that see all keys", { heads = 4, queries = 3, causal = false }, { 70, 3 }, 2)
attend("many queries", { heads = 2, queries = 40 }, { 230, 20 }, 4)
attend("pages of 16", { heads = 8, page = 16, step = 3 }, { 300, 128, 0, 17 }, 5)
attend("pages of one key", { heads = 2, page = 1 }, { 100, 0, 3 }, 3)
attend("pages of 3, more than 64 rows", { heads = 70, page = 3, step = 23 }, { 70, 0, 130 }, 4)
attend("pages of 24", { heads = 2, page = 24 }, { 100, 3 }, 3)
attend("large pages by threads", { heads = 2, page = 64, copies = "rows" }, { 40, 70 }, 2)

-- Lengths that cannot be: cut to the keys that there are.
local all, query = wg.randn { shape = { 2, 40, 576 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 2, 1, 3, 576 }, dtype = "bf16", seed = 2 }
local whole = wg.mla_decode { heads = 3 }
local out, cut = wg.zeros("bf16", { 2, 1, 3, 512 }), wg.zeros("bf16", { 2, 1, 3, 512 })
whole:run(query, all, out, { backend = "sim", scale = 0.1 })
whole:run(query, all, cut, { backend = "sim", scale = 0.1, lengths = wg.tensor("s32", { 2 }, { 41, -1 }) })
assert(wg.compare(out, cut, 0))
assert(whole:flops(2, 40) == 2 * 2 * 3 * 40 * (576 + 512))

check.refuses("unknown option `dim` of wg.mla_decode (legal: dtype, heads, queries...", function() wg.mla_decode { dim = 576 } end)
check.refuses("wg.mla_decode: copies = `rows` is for pages", function() wg.mla_decode { copies = "rows" } end)
local made, big = wg.mla_decode { heads = 2, page = 16 }, wg.mla_decode { heads = 200 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local Q, O, pages, lengths = zeros(3, 1, 2, 576), zeros(3, 1, 2, 512), wg.zeros("s32", { 3, 4 }), wg.zeros("s32", { 3 })
local function refuses(message, q, k, o, values) check.refuses(message, function() made:run(q, k, o, values) end) end
local K, whole_call = zeros(5, 16, 576), { lengths = lengths, pages = pages, scale = 1 }
refuses("mla_decode: `lengths` is missing", Q, K, O, { pages = pages, scale = 1 })
refuses("mla_decode: pages must be s32, 3 x any, not no tensor", Q, K, O, { lengths = lengths, scale = 1 })
refuses("mla_decode: pages must be s32, 3 x any, not 3", Q, K, O, { lengths = lengths, pages = lengths, scale = 1 })
refuses("mla_decode: lengths must be s32, 3, not 4", Q, K, O, { lengths = wg.zeros("s32", { 4 }), pages = pages, scale = 1 })
refuses("mla_decode:run: option `scale` is missing", Q, K, O, { lengths = lengths, pages = pages })
refuses("mla_decode: scale is 0, must be positive", Q, K, O, { lengths = lengths, pages = pages, scale = 0 })
refuses("mla_decode: `lse` is given, but wg.mla_decode was made without `lse`", Q, K, O, { lengths = lengths, pages = pages, scale = 1, lse = Q })
refuses("mla_decode: Q must be bf16, any x 1 x 2 x 576, not 3 x 1 x 2 x 512", O, K, O, whole_call)
refuses("mla_decode: the cache must be bf16, any x 16 x 576, not 5 x 8 x 576", Q, zeros(5, 8, 576), O, whole_call)
refuses("mla_decode: O must be bf16, 3 x 1 x 2 x 512, not 3 x 1 x 2 x 576", Q, K, Q, whole_call)
check.refuses("mla_decode: grid is 3, must be a multiple of 2 from 4 to 132, the CTAs that run at a time",
  function() big:run(zeros(1, 1, 200, 576), zeros(1, 8, 576), zeros(1, 1, 200, 512), { scale = 1, grid = 3 }) end)
check.refuses("mla_decode: 12800 rows of queries and heads need 200 CTAs at a time, and 132 are possible",
  function() wg.mla_decode { heads = 200, queries = 64 }:run(zeros(1, 64, 200, 576), zeros(1, 8, 576), zeros(1, 64, 200, 512), { scale = 1 }) end)
check.refuses("mla_decode: 0 sequences of 8 keys leave nothing to compute",
  function() whole:run(zeros(0, 1, 3, 576), zeros(0, 8, 576), zeros(0, 1, 3, 512), { scale = 1 }) end)
check.refuses("mla_decode has no `runs`: did you mean `run`?", function() made:runs(Q, K, O) end)
