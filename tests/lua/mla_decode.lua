-- wg.mla_decode on the simulator, which watches every access, against binary64: lengths, pages, rows and shares of the work.
local wg = require "wgrun"
local check = require "check"

local function page_table(lengths, page, width)
  local count, list, order = #lengths * width + 2, {}, {}
  for i = 0, count - 1 do order[i + 1] = i end
  math.randomseed(5)
  for i = count, 2, -1 do
    local j = math.random(i)
    order[i], order[j] = order[j], order[i]
  end
  for b, length in ipairs(lengths) do
    for i = 0, width - 1 do list[#list + 1] = i * page < length and order[(b - 1) * width + i + 1] or -1 end
  end
  return count, list
end

local function compare(name, got, want, allowed)
  assert(got == want or math.abs(got - want) <= allowed * (math.abs(want) + 1), ("%s: %g, not %g"):format(name, got, want))
end

-- step: of the heads, those that are compared; the last one is.
local function attend(name, o, lengths, ctas)
  local options, longest, queries, dtype = { lse = true }, 1, o.queries or 1, o.dtype or "bf16"
  for key, value in pairs(o) do if key ~= "step" then options[key] = value end end
  for _, length in ipairs(lengths) do longest = math.max(longest, length) end
  local decode = wg.mla_decode(options)
  local findings = decode.kernel:check()
  assert(#findings == 0, name .. ": " .. tostring(findings[1]))

  local firsts, rows, width, list = #lengths, longest, nil, nil
  if o.page then
    width = (longest + o.page - 1) // o.page
    rows, firsts, list = o.page, page_table(lengths, o.page, width)
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
  for seed = 1, 2 do -- the second launch finds the counters as the first one left them
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
