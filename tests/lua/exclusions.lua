-- Choices of wg.gemm that go without each other: each row of stdlib/mainloop/exclusions.lua refuses what it names.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local of_blocks = { a = "1x128", b = "128x128" }
-- What makes a choice, as options of wg.gemm; `dtype` goes with scales.
local makes = {
  swap_ab = { swap_ab = true, tile = { 128, 64 } }, pingpong = { schedule = "pingpong", tile = { 64, 128 } }, cluster = { cluster = 2 },
  cluster_n = { cluster = { 1, 2 } }, splits = { splits = 2 }, last_splits = { last_splits = 2 }, stream_k = { stream_k = true },
  halves = { halves = true, tile = { 256, 64 } }, sparse = { sparse = "A" }, groups = { groups = "masked" }, hilbert = { raster = "hilbert" },
  block_scales = { dtype = "e4m3", scales = of_blocks, tile = { 128, 64 } }, row_scales = { dtype = "e4m3", scales = { a = "row" } },
  a_mn = { a_major = "MN" }, b_mn = { b_major = "MN" }, odd_blocks = { tile = { 128, 64 } }, wide_d = { d = "f32" },
  beta = { epilogue = { beta = true } }, bias = { epilogue = { bias = "row" } }, residual = { epilogue = { residual = true } },
  gate = { epilogue = { gate = "silu" } }, row_sums = { epilogue = { row_sums = "rms" } },
  quantize = { dtype = "e4m3", epilogue = { quantize = "1x128" } },
}

local function refuses(name, others, text)
  for _, other in ipairs(others) do
    local options = {}
    for _, choice in ipairs { other, name } do
      for key, value in pairs(makes[choice]) do options[key] = options[key] or value end
    end
    if other == "odd_blocks" then options.tile = makes.odd_blocks.tile end
    check.raises(text, wg.gemm, options)
  end
end

refuses("swap_ab", { "wide_d" }, "wg.gemm: `swap_ab` goes without a D of 8 or 32 bits: D is written transposed")
refuses("swap_ab", { "sparse", "block_scales", "groups" }, "only A has metadata, scales of rows and groups")
refuses("swap_ab", { "gate", "row_sums" }, "these go along rows of D")
refuses("swap_ab", { "quantize" }, "wg.gemm: `swap_ab` goes without")
refuses("splits", { "pingpong" }, "`splits` goes without the pingpong schedule")
refuses("stream_k", { "pingpong", "cluster" }, "CTAs that share a tile must not wait for others")
refuses("stream_k", { "splits" }, "`stream_k` goes without `splits`: both cut K")
refuses("stream_k", { "block_scales" }, "`stream_k` goes without scales for blocks")
check.raises("`last_splits` requires scales for blocks of A and B", wg.gemm, { last_splits = 2 })
makes.last_splits.dtype, makes.last_splits.scales = "e4m3", of_blocks
refuses("last_splits", { "groups", "cluster" }, "one CTA has a tile of the last round")
check.raises("one CTA has a tile of the last round", wg.gemm, { dtype = "e4m3", scales = of_blocks, last_splits = 2, splits = 2, tile = { 64, 64 } })
refuses("halves", { "pingpong", "odd_blocks" }, "each consumer keeps half of its blocks of 64 rows")
refuses("halves", { "splits", "stream_k" }, "these share the last round by K")
refuses("halves", { "a_mn", "cluster_n" }, "a copy brings half of A's rows, and K-major rows alone")
for _, more in ipairs { { swap_ab = true }, { dtype = "e4m3", scales = of_blocks, tile = { 256, 64 } } } do
  more.halves, more.tile = true, more.tile or { 256, 64 }
  check.raises("a copy brings half of A's rows, and K-major rows alone", wg.gemm, more)
end
refuses("halves", { "row_sums" }, "the counters of row sums count whole tiles")
check.raises("`sparse` goes without scales for blocks: a main loop is of one kind", wg.gemm, { dtype = "e4m3", scales = of_blocks, sparse = "A" })
refuses("sparse", { "cluster_n" }, "each CTA copies the metadata of its own rows")
check.raises("scales for blocks go without the pingpong schedule", wg.gemm, { dtype = "e4m3", scales = of_blocks, schedule = "pingpong" })
refuses("block_scales", { "gate" }, "scales for blocks go without `epilogue.gate`")
refuses("groups", { "splits", "stream_k", "sparse", "hilbert" }, "the number of tiles is data of the device")
refuses("groups", { "cluster_n" }, "neighbours along N may be of different groups")
refuses("groups", { "a_mn", "b_mn" }, "a group is rows of A, and of B, in memory")
refuses("groups", { "row_scales", "beta", "bias", "residual", "row_sums" }, "they are the same for all groups")
