-- Kernels of wg.gemm: a cluster, parts of K for few rows, two consumers in turns with all of the epilogue.
local wg = require "wgrun"
wg.gemm { name = "gemm_cluster", problem = { 4096, 4096, 4096 }, tile = { 128, 256, 64 }, schedule = "cooperative", cluster = 2 }
wg.gemm { name = "gemm_few_rows", problem = { 64, 4096, 4096 }, splits = 4 }
wg.gemm {
  name = "gemm_pingpong", problem = { 2048, 2048, 1024 }, schedule = "pingpong", raster = "hilbert",
  epilogue = { alpha = true, beta = true, bias = "column" },
}
