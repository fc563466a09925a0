-- Kernels of wg.gemm for registers.py: tiles, types, schedules, and what else changes their registers.
local wg = require "wgrun"

local k_of = { bf16 = 64, tf32 = 32, e4m3 = 128, s8 = 128 }
local function gemm(dtype, m, n, options)
  options.dtype, options.tile = dtype, { m, n, k_of[dtype] }
  options.name = table.concat({ options.name, dtype, m, n }, "_")
  wg.gemm(options)
end

for _, dtype in ipairs { "bf16", "tf32", "e4m3", "s8" } do
  for _, mn in ipairs { { 64, 64 }, { 64, 256 }, { 128, 64 }, { 128, 128 }, { 128, 192 }, { 128, 256 }, { 192, 96 }, { 192, 192 },
                        { 256, 128 }, { 256, 192 }, { 384, 128 } } do
    for _, schedule in ipairs { "cooperative", "pingpong" } do
      -- Not every schedule takes every tile.
      pcall(gemm, dtype, mn[1], mn[2], { name = schedule, schedule = schedule })
    end
  end
  gemm(dtype, 128, 128, { name = "splits", splits = 4 })
  gemm(dtype, 128, 128, { name = "cluster", cluster = 2 })
  gemm(dtype, 128, 128, { name = "stream_k", stream_k = true })
  gemm(dtype, 128, 128, { name = "hilbert", raster = "hilbert" })
end
local epilogue = { alpha = true, beta = true, bias = "row", activation = "gelu" }
for _, n in ipairs { 64, 128, 256 } do
  gemm("bf16", 128, n, { name = "gelu", epilogue = epilogue })
  gemm("bf16", 128, n, { name = "mn_major", a_major = "MN", b_major = "MN" })
end
