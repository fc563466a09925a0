-- Kernels of other compilers, run: wgrun recipes.lua FOLDER. On the simulator each result must equal a reference in
-- binary64 within the output's precision; with a GPU the same text runs there, and its results must be near the simulator's.
local wg = require "wgrun"

local folder = arg[1] or "."
if not io.open(folder .. "/triton/tl_softmax_fp16.ptx") then
  print("skipped: no PTX in " .. folder)
  return
end

--- The kernel `name` of a text. Triton states a PTX version that current drivers do not know; the text is legal 9.0.
--- `mend` inserts what is known to be missing.
local function kernel(file, name, mend)
  local source = assert(io.open(folder .. "/" .. file)):read "a":gsub("%.version 9%.4", ".version 9.0")
  return wg.ptx { text = mend and mend(source) or source, name = file }[name or 1]
end

local function random(dtype, shape, seed) return wg.randn { dtype = dtype, shape = shape, seed = seed } end

--- Appends what Triton passes for a tensor descriptor: the map, the extents and the strides.
local function describe(args, tensor, box)
  local rows, columns = tensor.shape[1], tensor.shape[2]
  for _, value in ipairs { wg.tensor_map(tensor, { box = box, swizzle = "128B" }), rows, columns, columns, 1 } do
    args[#args + 1] = value
  end
end

--- Triton appends two pointers of its own, which these kernels do not use.
local function finish(args, ...)
  for _, value in ipairs { ... } do args[#args + 1] = value end
  args[#args + 1], args[#args + 2] = 0, 0
  return args
end

local recipes = {}

function recipes.triton_softmax()
  local rows, columns = 3, 4000
  local x, y = random("f16", { rows, columns }, 1), wg.zeros("f16", { rows, columns })
  return {
    kernel = kernel "triton/tl_softmax_fp16.ptx", out = y, tolerance = 1e-5,
    launch = { grid = rows, shared = 64, args = { y, x, columns, columns, rows, columns, 0, 0 } },
    places = function(visit)
      for row = 0, rows - 1 do
        local most, total = -math.huge, 0
        for i = 0, columns - 1 do most = math.max(most, x[{ row, i }]) end
        for i = 0, columns - 1 do total = total + math.exp(x[{ row, i }] - most) end
        for i = 0, columns - 1, 3 do visit({ row, i }, math.exp(x[{ row, i }] - most) / total) end
      end
    end,
  }
end

--- The places of D = A * B (+ C): A is M x K, B is K x N.
local function product(a, b, c)
  local m, k, n = a.shape[1], a.shape[2], b.shape[2]
  return function(visit)
    for i = 0, m - 1, 3 do
      for j = 0, n - 1, 5 do visit({ i, j }, wg.dot(a, i * k, 1, b, j, n, k) + (c and c[{ i, j }] or 0)) end
    end
  end
end

function recipes.triton_matmul()
  local m, n, k = 208, 304, 192 -- multiples of 16, as the text takes for granted, and not of the tile
  local a, b, d = random("f16", { 256, k }, 1), random("f16", { k, 512 }, 2), wg.zeros("f16", { 256, 512 })
  return {
    kernel = kernel "triton/tl_matmul_fp16_128x256x64.ptx", out = d, tolerance = 0.04,
    launch = { grid = { 2, 2 }, shared = 160000, args = { a, b, d, m, n, k, k, 512, 512, 0, 0 } },
    places = function(visit)
      product(a, b)(function(at, want) visit(at, at[1] < m and at[2] < n and want or 0) end)
    end,
  }
end

function recipes.triton_attention()
  local n, size = 384, 128
  local q, k, v = random("f16", { n, size }, 1), random("f16", { n, size }, 2), random("f16", { n, size }, 3)
  local o, logs = wg.zeros("f16", { n, size }), wg.zeros("f32", n)
  local args = { 1 / math.sqrt(size), logs, 1, 1 }
  for _, tensor in ipairs { q, k, v, o } do describe(args, tensor, { 64, 128 }) end
  return {
    kernel = kernel "triton/tl_attn_fwd_hd128_causal.ptx", out = o, tolerance = 2e-3,
    launch = { grid = { n // 128, 1 }, shared = 220000, args = finish(args, n) },
    places = function(visit)
      for i = 0, n - 1, 13 do
        local score, most, total = {}, -math.huge, 0
        for j = 0, i do
          score[j] = wg.dot(q, i * size, 1, k, j * size, 1, size) / math.sqrt(size)
          most = math.max(most, score[j])
        end
        for j = 0, i do
          score[j] = math.exp(score[j] - most)
          total = total + score[j]
        end
        for column = 0, size - 1, 9 do
          local sum = 0
          for j = 0, i do sum = sum + score[j] * v[{ j, column }] end
          visit({ i, column }, sum / total)
        end
      end
    end,
  }
end

function recipes.gluon_mma()
  local a, b = random("f16", { 64, 128 }, 1), random("f16", { 128, 128 }, 2)
  local c, d = random("f32", { 64, 128 }, 3), wg.zeros("f32", { 64, 128 })
  local args = {}
  describe(args, a, { 64, 64 })
  describe(args, b, { 64, 128 })
  describe(args, c, { 32, 64 })
  describe(args, d, { 32, 64 })
  return {
    kernel = kernel "triton/gluon_small_mma_ss.ptx", out = d, tolerance = 1e-4,
    launch = { grid = 1, shared = 150000, args = finish(args) },
    places = product(a, b, c),
  }
end

function recipes.tilelang_gemm()
  local m, n, k = 128, 256, 4096 -- k is in the text
  local a, b, d = random("bf16", { m, k }, 1), random("bf16", { k, n }, 2), wg.zeros("bf16", { m, n })
  local args = {}
  for i, tensor in ipairs { a, b, d } do args[i] = wg.tensor_map(tensor, { box = { 64, 64 }, swizzle = "128B" }) end
  return {
    kernel = kernel "tilelang/tl_gemm_bf16_64.ptx", out = d, tolerance = 1, -- half a unit of bf16 at 256 and above
    launch = { grid = { n // 128, m // 64 }, shared = 73728, args = args },
    places = product(a, b),
  }
end

function recipes.cutlass_tutorial()
  local m, n, k = 128, 128, 192
  local a, b, d = random("f16", { k, m }, 1), random("f16", { k, n }, 2), wg.zeros("f16", { n, m })
  local function leading(extent) return wg.struct { size = 4, [0] = extent } end
  local function empty() return wg.struct { size = 1 } end
  local function number(bits) return wg.struct { size = 2, [0] = { "u16", bits } } end
  return {
    -- What threads copied is read by wgmma without a barrier and without a fence (WG-RACE-01, WG-PROXY-01).
    kernel = kernel("nvcc/cute_tutorial_wgmma_sm90.ptx", nil, function(text)
      return text:gsub("cp%.async%.wait_%w+[^;]*;", "%0\n\tfence.proxy.async;\n\tbar.sync 0;")
    end),
    out = d, tolerance = 0.05, -- it accumulates in f16: units of 0.03 at 32
    launch = { grid = 1, shared = 98304, args = {
      wg.struct { size = 12, [0] = m, [4] = n, [8] = k }, empty(), a, leading(m), empty(), empty(), b, leading(n), empty(), empty(),
      d, leading(m), wg.struct { size = 8, [0] = 1 }, number(0x3C00), number(0),
    } },
    places = function(visit)
      for i = 0, m - 1, 3 do
        for j = 0, n - 1, 5 do visit({ j, i }, wg.dot(a, i, m, b, j, n, k)) end
      end
    end,
  }
end

--- A tile of ThunderKittens' gl: the address, the rows and the columns.
local function kittens(parts, offset, tensor)
  parts[offset], parts[offset + 16], parts[offset + 24] = tensor, { "u64", tensor.shape[1] }, { "u64", tensor.shape[2] }
end

function recipes.kittens_level_05()
  local n = 128
  local a, b, d = random("bf16", { n, n }, 1), random("bf16", { n, n }, 2), wg.zeros("bf16", { n, n })
  local globals = { size = 1280, [1152] = n }
  kittens(globals, 0, a)
  kittens(globals, 384, b)
  kittens(globals, 768, d)
  return {
    kernel = kernel "nvcc/tk_gemm_educational_h100_level_05.ptx", out = d, tolerance = 0.26,
    launch = { grid = { 2, 2 }, block = 128, shared = 100000, args = { wg.struct(globals) } },
    places = product(a, b),
  }
end

function recipes.deepgemm_fp8_masked()
  -- One of four groups has rows, and the first CTA the first tile; the text has N and K.
  local m, k, blocks = 64, 7168, 56
  local a, b = random("e4m3", { m, k }, 1), random("e4m3", { 128, k }, 2)
  local a_scales, b_scales = random("f32", { blocks, m }, 3), random("f32", { 4 * 32, blocks }, 4)
  local d = wg.zeros("bf16", { m, 4096 })
  local rows = wg.tensor("s32", { 4 }):fill(0)
  rows[{ 0 }] = 50
  return {
    -- Lane 0 arrives for the others, whose reads of the scales nothing orders before that (WG-RACE-01).
    kernel = kernel("nvcc/dg_fp8_1d2d_masked.ptx", nil, function(text)
      return text:gsub("\twgmma%.wait_group%.sync%.aligned", "\tbar.warp.sync -1;\n%0")
    end),
    out = d, tolerance = 4, -- half a unit of bf16 at 512 and above
    launch = { grid = 1, shared = 200000, args = {
      b_scales, rows, m, 4096, k, wg.tensor_map(a, { box = { 128, 64 }, swizzle = "128B" }),
      wg.tensor_map(b, { box = { 128, 128 }, swizzle = "128B" }), wg.tensor_map(d, { box = { 64, 64 }, swizzle = "128B" }),
      wg.tensor_map(a_scales, { box = { 64, 1 } }),
    } },
    places = function(visit)
      for i = 0, 49, 7 do
        for j = 0, 127, 9 do
          local sum = 0
          for block = 0, blocks - 1 do
            sum = sum + a_scales[{ block, i }] * b_scales[{ 0, block }] * wg.dot(a, i * k + 128 * block, 1, b, j * k + 128 * block, 1, 128)
          end
          visit({ i, j }, sum)
        end
      end
    end,
  }
end

local names = {}
for name in pairs(recipes) do names[#names + 1] = name end
table.sort(names)
local bad = 0
local gpu = wg.device() ~= nil
for _, name in ipairs(names) do
  local recipe = recipes[name]()
  local launch = recipe.launch
  launch.backend = "sim"
  launch.numerics = gpu and "h200" or nil
  local began = os.clock()
  local good, problem = pcall(recipe.kernel.run, recipe.kernel, launch)
  local worst = 0
  if good then
    recipe.places(function(at, want) worst = math.max(worst, math.abs(recipe.out[at] - want)) end)
    good = worst <= recipe.tolerance
    problem = ("largest error %g, at most %g is expected"):format(worst, recipe.tolerance)
  end
  local told = ""
  if good and gpu then
    local simulated = recipe.out:copy()
    recipe.out:fill(0)
    launch.backend = "gpu"
    good, problem = pcall(recipe.kernel.run, recipe.kernel, launch)
    if good then
      local same, difference = wg.compare(recipe.out, simulated, 0)
      good, problem = difference <= recipe.tolerance, ("the GPU differs by %g"):format(difference)
      told = same and ", the GPU's bits are the same" or (", the GPU differs by %g"):format(difference)
    end
  end
  if not good then bad = bad + 1 end
  print(good and ("%s: error %.2g, %.2f s%s"):format(name, worst, os.clock() - began, told)
    or ("%s: FAILED: %s"):format(name, problem))
end
os.exit(bad == 0)
