-- wg.attention of K and V in pages, which must give what the same sequences give one after another: of any lengths, from pages in any
-- order, whatever lies behind the ends.
local wg = require "wgrun"
local check = require "check"

-- lengths: queries and keys of each sequence.
local function attend(name, o, lengths)
  local kv_heads, value_dim, dtype = o.kv_heads or o.heads, o.value_dim or o.dim, o.dtype or "bf16"
  local bhsd = o.layout == "bhsd"
  local query_starts, key_starts, most, width = { 0 }, { 0 }, 1, 1
  for i, length in ipairs(lengths) do
    query_starts[i + 1], key_starts[i + 1] = query_starts[i] + length[1], key_starts[i] + length[2]
    most, width = math.max(most, length[1]), math.max(width, (length[2] + o.page - 1) // o.page)
  end
  local rows, keys = query_starts[#query_starts], key_starts[#key_starts]
  local Q = wg.randn { shape = { rows, o.heads, o.dim }, dtype = dtype, seed = 1 }
  local flat = {
    K = wg.randn { shape = { keys, kv_heads, o.dim }, dtype = dtype, seed = 2 },
    V = wg.randn { shape = { keys, kv_heads, value_dim }, dtype = dtype, seed = 3 },
  }
  -- Pages in a scattered order; what belongs to no sequence is NaN.
  local count, table_, used = 5, {}, {}
  for _, length in ipairs(lengths) do count = count + (length[2] + o.page - 1) // o.page end
  local paged = {}
  for key, tensor in pairs(flat) do
    local dim = tensor.shape[3]
    local pages = wg.full(dtype, bhsd and { count, kv_heads, o.page, dim } or { count, o.page, kv_heads, dim }, 0 / 0)
    local next_page = 0
    for s, length in ipairs(lengths) do
      for slot = 0, width - 1 do
        local page = 123456789 -- not to be used
        if slot * o.page < length[2] then
          page, next_page = next_page * 7 % count, next_page + 1
          while used[key .. page] do page = (page + 1) % count end
          used[key .. page] = true
        end
        table_[(s - 1) * width + slot + 1] = page
        for row = 0, math.min(o.page, length[2] - slot * o.page) - 1 do
          for h = 0, kv_heads - 1 do
            for c = 0, dim - 1 do
              local from = tensor[{ key_starts[s] + slot * o.page + row, h, c }]
              pages[bhsd and { page, h, row, c } or { page, row, h, c }] = from
            end
          end
        end
      end
    end
    paged[key] = pages
  end
  local function vector(values) return wg.tensor("s32", { #values }, values) end
  local options = { packed = true, lse = true }
  for key, value in pairs(o) do options[key] = value end
  local given = { backend = "sim", grid = { 2 }, max_queries = most, query_starts = vector(query_starts) }
  local function run(made, values, K, V)
    for key, value in pairs(given) do values[key] = values[key] or value end
    local O = wg.zeros(o.o or dtype, { rows, o.heads, value_dim })
    values.lse = wg.zeros("f32", { o.heads, rows })
    made:run(Q, K, V, O, values)
    return O, values.lse
  end
  local ends = {}
  for s, length in ipairs(lengths) do ends[s] = length[2] end
  local with_pages = wg.attention(options)
  assert(#with_pages.kernel:check() == 0, name)
  local values = { lengths = vector(ends), pages = wg.tensor("s32", { #lengths, width }, table_) }
  for seed = 1, 2 do
    values.seed = seed
    local O, lse = run(with_pages, values, paged.K, paged.V)
    options.page, options.layout = nil, nil
    local want, logarithms = run(wg.attention(options), { key_starts = vector(key_starts) }, flat.K, flat.V)
    assert(wg.compare(O, want, 0), name)
    assert(wg.compare(lse, logarithms, 0), name .. ": lse")
  end
end

attend("pages of 16", { dim = 64, heads = 2, page = 16, causal = true }, { { 200, 300 }, { 0, 40 }, { 1, 1 }, { 70, 0 }, { 193, 129 } })
attend("pages of a block", { dim = 128, heads = 2, kv_heads = 1, page = 128, causal = true }, { { 140, 140 }, { 30, 300 }, { 129, 100 } })
attend("pages of two blocks", { dim = 64, heads = 1, page = 256, window = 60, causal = true }, { { 200, 333 }, { 250, 250 } })
attend("pages of one key", { dim = 64, heads = 1, page = 1 }, { { 5, 200 }, { 3, 7 } })
attend("rows of pages", { dim = 128, heads = 2, kv_heads = 1, page = 4, causal = true }, { { 140, 140 }, { 30, 303 }, { 9, 0 } })
attend("rows, head sizes of MLA", { dim = 192, value_dim = 128, heads = 1, page = 2, window = 40, causal = true }, { { 70, 130 }, { 1, 1 } })
attend("pages of 24", { dim = 96, heads = 1, page = 24, dtype = "f16" }, { { 150, 290 }, { 30, 0 }, { 20, 24 } })
attend("head sizes of MLA", { dim = 192, value_dim = 128, heads = 1, page = 64, causal = true }, { { 130, 260 }, { 60, 129 } })
attend("256", { dim = 256, heads = 1, page = 32, softcap = 5.0 }, { { 70, 100 }, { 10, 65 } })

-- Without packing, every sequence has as many queries, also where heads come before keys; keys in parts.
for _, o in ipairs {
  { layout = "bhsd", heads = 2, kv_heads = 1, page = 32 }, { splits = 3, causal = true, heads = 1, page = 32 },
  { layout = "bhsd", heads = 2, kv_heads = 1, page = 4 }, { splits = 3, causal = true, heads = 1, page = 8 },
} do
  local page, kv_heads, bhsd = o.page, o.kv_heads or o.heads, o.layout == "bhsd"
  local lengths, width = { 250, 33 }, 256 // page
  local count, slots = check.page_table(lengths, page, width)
  local function random(rows, heads, seed) return wg.randn { shape = bhsd and { 2, heads, rows, 64 } or { 2, rows, heads, 64 }, dtype = "bf16", seed = seed } end
  local Q, K, V = random(40, o.heads, 1), random(256, kv_heads, 2), random(256, kv_heads, 3)
  local function paged(tensor)
    local out = wg.full("bf16", bhsd and { count, kv_heads, page, 64 } or { count, page, kv_heads, 64 }, 1 / 0)
    for b = 0, 1 do
      for slot = 0, (lengths[b + 1] - 1) // page do
        local there = slots[b * width + slot + 1]
        for row = 0, math.min(page, lengths[b + 1] - slot * page) - 1 do
          for h = 0, kv_heads - 1 do
            for c = 0, 63 do
              local key = slot * page + row
              out[bhsd and { there, h, row, c } or { there, row, h, c }] = tensor[bhsd and { b, h, key, c } or { b, key, h, c }]
            end
          end
        end
      end
    end
    return out
  end
  local table_ = wg.tensor("s32", { 2, width }, slots)
  local options = { dim = 64 }
  for key, value in pairs(o) do options[key] = value end
  local O = wg.zeros("bf16", Q.shape)
  wg.attention(options):run(Q, paged(K), paged(V), O, { lengths = wg.tensor("s32", { 2 }, lengths), pages = table_, backend = "sim" })
  options.page = nil
  for b = 0, 1 do
    local function of(tensor, rows)
      local heads = tensor.shape[bhsd and 2 or 3]
      local out = wg.zeros("bf16", bhsd and { 1, heads, rows, 64 } or { 1, rows, heads, 64 })
      for row = 0, rows - 1 do
        for h = 0, heads - 1 do
          for c = 0, 63 do out[bhsd and { 0, h, row, c } or { 0, row, h, c }] = tensor[bhsd and { b, h, row, c } or { b, row, h, c }] end
        end
      end
      return out
    end
    local want = wg.zeros("bf16", of(Q, 40).shape)
    wg.attention(options):run(of(Q, 40), of(K, lengths[b + 1]), of(V, lengths[b + 1]), want, { backend = "sim" })
    assert(wg.compare(of(O, 40), want, 0.02), "sequence " .. b)
  end
end

-- The keys of a page that there is not are 0, however pages are copied: the first of two pages has no part in O but for the
-- weights of its keys, which are those of scores of 0.
for _, page in ipairs { 4, 16 } do
  local Q, K, V = wg.zeros("bf16", { 1, 64, 1, 64 }), wg.ones("bf16", { 3, page, 1, 64 }), wg.ones("bf16", { 3, page, 1, 64 })
  local O = wg.full("bf16", { 1, 64, 1, 64 }, 9)
  for _, nowhere in ipairs { 3, 0x7FFFFFFF, -1 } do
    wg.attention { dim = 64, page = page }:run(Q, K, V, O, {
      lengths = wg.tensor("s32", { 1 }, { 2 * page }), pages = wg.tensor("s32", { 1, 2 }, { nowhere, 1 }), backend = "sim",
    })
    assert(wg.compare(O, wg.full("bf16", O.shape, 0.5), 0.001), ("page %d of %d keys"):format(nowhere, page))
  end
end

-- A sequence without keys, also where nothing else hides any: O is 0, and the logarithms are those of the sinks.
for _, o in ipairs { {}, { softcap = 2.0 }, { sink = true }, { splits = 2 } } do
  o.dim, o.page, o.lse, o.dtype = 64, 16, true, "f16"
  local O, lse = wg.full("f16", { 2, 70, 1, 64 }, 9), wg.full("f32", { 2, 1, 70 }, 9)
  local K = wg.full("f16", { 3, 16, 1, 64 }, 0 / 0)
  wg.attention(o):run(wg.randn { shape = { 2, 70, 1, 64 }, dtype = "f16" }, K, K, O, { backend = "sim", lse = lse, sink = o.sink and wg.full("f32", { 1 }, 3) or nil,
    lengths = wg.zeros("s32", { 2 }), pages = wg.full("s32", { 2, 2 }, -1) })
  assert(wg.compare(O, wg.zeros("f16", O.shape), 0), "no keys")
  for i = 0, 69 do assert(lse[{ 1, 0, i }] == (o.sink and 3 or -math.huge), lse[{ 1, 0, i }]) end
end

check.refuses("wg.attention: `page` excludes 8-bit elements: V of 8 bits is transposed, not cleared behind the end of a sequence", function() wg.attention { dtype = "e4m3", page = 16 } end)
check.refuses("wg.attention: page is 3, must be a multiple of 2 where rows are copied in lines of 64 bytes", function() wg.attention { dim = 96, page = 3 } end)
wg.attention { dim = 96, page = 2 }
local made = wg.attention { dim = 64, heads = 2, page = 16 }
local function zeros(...) return wg.zeros("bf16", { ... }) end
local Q, K, lengths, pages = zeros(1, 8, 2, 64), zeros(3, 16, 2, 64), wg.zeros("s32", { 1 }), wg.zeros("s32", { 1, 2 })
local function refuses(message, values, k)
  check.refuses(message, function() made:run(Q, k or K, k or K, Q, values) end)
end
refuses("attention: `lengths` is missing", { pages = pages })
refuses("attention: `pages` is missing", { lengths = lengths })
refuses("attention: lengths must be s32, 1, not 1 x 2", { lengths = pages, pages = pages })
refuses("attention: pages must be s32, 1 x any, not 1", { lengths = lengths, pages = lengths })
refuses("attention: `key_starts` is given, but K and V are in pages: `lengths` has the keys of each sequence", { lengths = lengths, pages = pages, key_starts = lengths })
refuses("attention: K and V have pages of 8 keys, and wg.attention was made for 16", { lengths = lengths, pages = pages }, zeros(3, 8, 2, 64))
check.refuses("attention: the number of pages is 3 in K, but 4 in V", function() made:run(Q, K, zeros(4, 16, 2, 64), Q, { lengths = lengths, pages = pages }) end)
local without = wg.attention { dim = 64, heads = 2 }
check.refuses("attention: `pages` is given, but wg.attention was made without `page`", function() without:run(Q, Q, Q, Q, { pages = pages }) end)
