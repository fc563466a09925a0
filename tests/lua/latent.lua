-- What the tests of wg.mla_decode share: it runs on the simulator, which watches every access, and is compared with binary64.
local wg = require "wgrun"
local check = require "check"

local module = {}

local function compare(name, got, want, allowed)
  assert(got == want or math.abs(got - want) <= allowed * (math.abs(want) + 1), ("%s: %g, not %g"):format(name, got, want))
end

-- Caches of 8-bit floats by `cache_type`: the bf16 numbers that they stand for, the tensor that the kernel gets, and what
-- puts NaN or an infinity (of e4m3, NaN) into a row's column. Elements are those of all bytes that are numbers.
local quantized = {}

-- The number that a byte of e4m3 stands for; NaN counts as 480.
function module.number_of(byte)
  local exponent, mantissa = byte >> 3 & 15, byte & 7
  local size = exponent == 0 and mantissa * 2.0 ^ -9 or (8 + mantissa) * 2.0 ^ (exponent - 10)
  return byte < 128 and size or -size
end

function quantized.fp8_ds_mla(firsts, rows)
  local random, numbers, bytes = math.random, {}, {}
  math.randomseed(7)
  for _ = 1, firsts * rows do
    local scales = {}
    for tile = 0, 3 do scales[tile] = string.unpack("<f", string.pack("<f", 0.0005 + 0.008 * random())) end
    for c = 0, 511 do
      local byte = random() < 0.5 and 0 or 128
      byte = byte | math.floor(127 * random())
      bytes[#bytes + 1] = byte
      numbers[#numbers + 1] = module.number_of(byte) * scales[c // 128]
    end
    local more = string.pack("<ffff", scales[0], scales[1], scales[2], scales[3])
    for _ = 1, 64 do
      local bits = (random() < 0.5 and 0x3F00 or 0xBF00) + math.floor(256 * random())
      more = more .. string.pack("<I2", bits)
      numbers[#numbers + 1] = string.unpack("<f", string.pack("<I4", bits << 16))
    end
    for i = 1, #more do bytes[#bytes + 1] = more:byte(i) end
  end
  local given = wg.tensor("u8", { firsts, rows, 656 }, bytes)
  return wg.tensor("bf16", { firsts, rows, 576 }, numbers), given, function(first, row, c)
    if c < 512 then
      given[{ first, row, c }] = 0x7F
    else
      given[{ first, row, 528 + 2 * (c - 512) }], given[{ first, row, 529 + 2 * (c - 512) }] = 0xC0, 0x7F
    end
  end
end

local descale = 0.0071 -- of a cache of e4m3: what a launch gives

function quantized.e4m3(firsts, rows)
  local numbers = {}
  math.randomseed(7)
  for i = 1, firsts * rows * 576 do
    numbers[i] = module.number_of((math.random() < 0.5 and 0 or 128) | math.floor(127 * math.random()))
  end
  local given = wg.tensor("e4m3", { firsts, rows, 576 }, numbers)
  return wg.tensor("bf16", { firsts, rows, 576 }, numbers), given, function(first, row, c) given[{ first, row, c }] = 0 / 0 end
end

-- step: of the heads, those that are compared; the last one is. seeds: so many schedules of the simulator give the same bits.
function module.attend(name, o, lengths, ctas, seeds)
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
  local cache, set, given = wg.randn { shape = { firsts, rows, 576 }, dtype = dtype, seed = 2 }, nil, nil
  function set(first, row, c, value) cache[{ first, row, c }] = value end
  given = cache
  if o.cache_type then cache, given, set = quantized[o.cache_type](firsts, rows) end
  -- Numbers that are none, and infinities, behind the end of a sequence.
  for b, length in ipairs(lengths) do
    local stop = o.page and (length + o.page - 1) // o.page * o.page or longest
    for s = length, math.min(stop, length + 20) - 1 do
      local first, row = find(b - 1, s)
      for c = 0, 575, 7 do set(first, row, c, c % 2 == 0 and 0 / 0 or 1 / 0) end
    end
  end
  local scale = 1 / math.sqrt(192)
  local values = {
    lengths = wg.tensor("s32", { #lengths }, lengths), lse = wg.zeros("f32", { #lengths, o.heads, queries }), scale = scale,
    pages = o.page and wg.tensor("s32", { #lengths, width }, list) or nil, grid = ctas, backend = "sim",
  }
  local factor = o.cache_type == "e4m3" and descale or 1
  -- Scales are two parts: of some hundred elements one is the next bf16 number.
  local allowed = o.cache_type == "fp8_ds_mla" and 1e-3 or 1e-4
  if factor ~= 1 then values.descale = wg.tensor("f32", { 1 }, { factor }) end
  local first
  for seed = 1, seeds or 2 do -- the second launch finds the counters as the first one left them
    local O = wg.randn { shape = { #lengths, queries, o.heads, 512 }, dtype = dtype, seed = 4 }
    values.seed = seed
    decode:run(Q, given, O, values)
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
          weights[s] = factor * scale * wg.dot(Q, ((b * queries + i) * o.heads + head) * 576, 1, cache, (at * rows + row) * 576, 1, 576)
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
            sum = sum + weights[s] * factor * cache[{ at, row, c }]
          end
          compare(place, first[{ b, i, head, c }], total > 0 and sum / total or 0, 2 ^ -7)
        end
        compare(place .. " lse", values.lse[{ b, head, i }], total > 0 and top + math.log(total) or -math.huge, allowed)
      end
    end
  end
end

return module
