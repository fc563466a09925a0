-- Kernels in CUDA C++, compiled by nvcc.
local wg = require "wgrun"
local kit = require "recipes.kit"
local kernel, random, product = kit.kernel, kit.random, kit.product

local recipes = {}

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
  -- The text has N, K, 4 groups, and 132 CTAs that take tiles in turn. Only the first group has rows, in five tiles, and only the
  -- first CTA runs: it makes tile 0, and tile 132, which is the third in M and the 27th in N.
  local m, n, k, blocks, valid = 320, 4096, 7168, 56, 310
  local a, b = random("e4m3", { m, k }, 1), random("e4m3", { n, k }, 2)
  local function map(tensor, box) return wg.tensor_map(tensor, { box = { 128, box }, swizzle = "128B" }) end
  local a_scales, b_scales = random("f32", { blocks, m }, 3), random("f32", { 4 * 32, blocks }, 4)
  local d = wg.zeros("bf16", { m, n })
  local rows = wg.tensor("s32", { 4 }):fill(0)
  rows[{ 0 }] = valid
  return {
    -- Lane 0 arrives for the others, whose reads of the scales nothing orders before that (WG-RACE-01).
    kernel = kernel("nvcc/dg_fp8_1d2d_masked.ptx", nil, function(text)
      return text:gsub("\twgmma%.wait_group%.sync%.aligned", "\tbar.warp.sync -1;\n%0")
    end),
    out = d, tolerance = 4, -- half a unit of bf16 at 512 and above
    launch = { grid = 1, shared = 200000, args = {
      b_scales, rows, m, n, k, map(a, 64), map(b, 128), wg.tensor_map(d, { box = { 64, 64 }, swizzle = "128B" }),
      wg.tensor_map(a_scales, { box = { 64, 1 } }),
    } },
    places = function(visit)
      for _, tile in ipairs { { 0, 0 }, { 128, 26 } } do
        for i = tile[1], tile[1] + 63, 7 do
          for j = 128 * tile[2], 128 * tile[2] + 127, 9 do
            local sum = 0
            for block = 0, blocks - 1 do
              sum = sum + a_scales[{ block, i }] * b_scales[{ tile[2], block }]
                * wg.dot(a, i * k + 128 * block, 1, b, j * k + 128 * block, 1, 128)
            end
            visit({ i, j }, sum)
          end
        end
      end
    end,
  }
end

local function fastcu_k12(steps)
  local m, n, k = 768, 256, 64 * steps
  local a, b, d = random("bf16", { m, k }, 1), random("bf16", { n, k }, 2), wg.zeros("bf16", { n, m }) -- column by column
  --- A matrix as columns of 64 elements: a box of 64 elements of each of its rows.
  local function map(tensor, box, swizzle)
    local rows, columns = tensor.shape[1], tensor.shape[2]
    return wg.tensor_map(tensor, { box = box, swizzle = swizzle, extents = { 64, rows, columns // 64 }, strides = { 2 * columns, 128 } })
  end
  local tiles = wg.tensor("s32", { 128 }):fill(-1) -- of each cluster, in turn: row << 16 | column
  for i = 0, m // 256 - 1 do tiles[{ i }] = i << 16 end
  return {
    kernel = kernel("public/fastcu_k12_sm90a.ptx", nil, function(text)
      -- The store of a tile: what one thread waits for is told to the others, and what they write to the copy.
      text = text:gsub("cp%.async%.bulk%.wait_group 0;", "%0 add.s32 %%r402, %%r4, 1; bar.sync %%r402, 128;")
      text = text:gsub("bar%.sync %%r402, 128;\n", "fence.proxy.async; %0")
      -- A CTA stays while the others arrive at its mbarriers.
      return (text:gsub("ret;\n}", "barrier.cluster.arrive; barrier.cluster.wait; %0"))
    end),
    known = "WG-MBAR-03", -- the CTA of rank 0 never learns that a stage of the other one is free (docs/foreign.md)
    out = d, tolerance = 0.3, -- half a unit of bf16 at 64 and above
    launch = { grid = 2, shared = 221744, args = {
      m, n, k, map(d, { 72, 256, 1 }), map(a, { 64, 128, 1 }, "128B"), map(b, { 64, 256, 1 }, "128B"), tiles,
    } },
    places = function(visit)
      kit.product_of_rows(a, b, m, n)(function(at, want) visit({ at[2], at[1] }, want) end)
    end,
  }
end

--- An even and an odd number of steps along K: the text has loops of its own for each.
function recipes.fastcu_k12() return fastcu_k12(6) end

function recipes.fastcu_k12_odd() return fastcu_k12(7) end

return recipes
