-- The time of the static check: the first kernel:check() of a fresh kernel, for the kernels of the standard library.
-- arguments: how many kernels of each are checked (the best counts), a part of the names, how many rows are printed.
local wg = require "wgrun"
local rounds, pattern, most = math.tointeger(arg[1] or 7), arg[2] or "", math.tointeger(arg[3] or 25)

local cases = {}
local function add(name, make) cases[#cases + 1] = { name = name, make = make } end

local function combine(into, options)
  local out = {}
  for _, one in ipairs(into) do
    for _, option in ipairs(options) do
      local values = {}
      for key, value in pairs(one.values) do values[key] = value end
      for key, value in pairs(option[2]) do values[key] = value end
      out[#out + 1] = { name = one.name .. option[1], values = values }
    end
  end
  return out
end

local function family(kind, ...)
  local list = { { name = kind, values = {} } }
  for _, options in ipairs { ... } do list = combine(list, options) end
  for _, one in ipairs(list) do add(one.name, function() return wg[kind](one.values) end) end
end

local function dims(...)
  local out = {}
  for _, dim in ipairs { ... } do out[#out + 1] = { " " .. dim, { dim = dim } } end
  return out
end
local heads = { { "", { heads = 8 } }, { " kv_heads", { heads = 8, kv_heads = 2 } } }
local masks = { { "", {} }, { " causal", { causal = true } }, { " window", { window = 256 } }, { " causal window", { causal = true, window = 256 } } }
local more = { { "", {} }, { " packed", { packed = true } }, { " lse softcap", { lse = true, softcap = 20 } } }
family("attention", dims(64, 96, 128, 192, 256), heads, masks, more)
family("attention", { { " e4m3", { dtype = "e4m3", descale = "head" } } }, dims(64, 128, 256), heads, masks, more)
family("attention_backward", dims(64, 128), heads, masks, { { "", {} }, { " packed", { packed = true } } })
family("attention_decode", dims(64, 128, 256), heads, { { "", {} }, { " causal", { queries = 4 } } },
  { { "", {} }, { " page 16", { page = 16 } }, { " page 1", { page = 1 } } })
family("mla_decode", { { " 16", { heads = 16 } }, { " 128", { heads = 128 } } }, { { "", {} }, { " queries 2", { queries = 2 } } },
  { { "", {} }, { " page 64", { page = 64 } }, { " page 1", { page = 1 } } })

local square = { problem = { 4096, 4096, 4096 } }
family("gemm", { { "", square } },
  { { " bf16", {} }, { " f16", { dtype = "f16" } }, { " tf32", { dtype = "tf32" } }, { " e4m3", { dtype = "e4m3" } }, { " s8", { dtype = "s8" } } },
  { { "", {} }, { " pingpong", { schedule = "pingpong" } }, { " cluster 2", { cluster = 2 } }, { " 256x192", { tile = { 256, 192 } } },
    { " stream_k", { stream_k = true } }, { " splits", { splits = 4 } }, { " sparse", { sparse = "A" } }, { " hilbert", { raster = "hilbert" } } })
family("gemm", { { "", square } },
  { { " epilogue", { epilogue = { alpha = true, beta = true, bias = "column", activation = "gelu" } } },
    { " gate", { epilogue = { gate = "silu", bias = "column" } } }, { " row_sums", { epilogue = { row_sums = "rms", epsilon = 1e-5 } } },
    { " quantize", { d = "e4m3", epilogue = { quantize = "1x128" } } } },
  { { "", {} }, { " pingpong", { schedule = "pingpong" } }, { " splits", { splits = 4 } } })
family("gemm", { { "", { dtype = "e4m3" } } }, { { " scales", { scales = { a = "1x128", b = "128x128" } } }, { " row scales", { scales = { a = "row", b = "row" } } } },
  { { "", { problem = { 4096, 4096, 4096 } } }, { " small", { problem = { 64, 4096, 7168 } } } })
for _, groups in ipairs { "contiguous", "masked", "batched" } do
  family("gemm", { { " " .. groups, { groups = groups, problem = { 8192, 4096, 4096, 16 } } } },
    { { " bf16", {} }, { " e4m3", { dtype = "e4m3" } }, { " scales", { dtype = "e4m3", scales = { a = "1x128", b = "128x128" } } }, { " halves", { halves = true, tile = { 128, 256 } } },
      { " gate", { epilogue = { gate = "silu" } } } })
end
for _, M in ipairs { 16, 4096 } do
  family("gemm", { { " mixed " .. M, { problem = { M, 4096, 4096 } } } },
    { { " s4", { b_type = "s4" } }, { " u4 zeros", { b_type = "u4", zeros = true, group_size = 64 } }, { " s8", { b_type = "s8" } }, { " e4m3", { b_type = "e4m3" } } },
    { { "", {} }, { " f16", { a_type = "f16" } }, M == 16 and { " splits", { splits = 4 } } or nil })
end

local rows = {}
for _, case in ipairs(cases) do
  if case.name:find(pattern, 1, true) then
    local best = math.huge
    for _ = 1, rounds do
      local kernel = case.make().kernel
      local start = os.clock()
      kernel:check()
      best = math.min(best, os.clock() - start)
    end
    rows[#rows + 1] = { best * 1e3, case.name }
  end
end
table.sort(rows, function(a, b) return a[1] > b[1] end)
for i = 1, math.min(#rows, most) do print(("%7.2f ms  %s"):format(rows[i][1], rows[i][2])) end
print(("%d kernels, the slowest first: CPU time of the first check, the best of %d"):format(#rows, rounds))
