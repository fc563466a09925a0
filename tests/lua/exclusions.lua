-- Choices that exclude each other: each row of stdlib/mainloop/exclusions.lua, of wg.gemm, and of stdlib/attention/exclusions.lua
-- refuses what it names.
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

-- Options that count as choices wherever they are given, and what the operations of an epilogue take.
for name, value in pairs { dtype = "f16", precision = "bf16x6", scales = {}, schedule = "cooperative", raster = "grouped", buffers = 2, registers = { 40, 232 }, heat = "hot",
  a_type = "f16", group_size = 64, next = true } do makes["given_" .. name] = { [name] = value } end
makes.a_major, makes.b_major, makes.given_swap_ab, makes.given_cluster = { a_major = "K" }, { b_major = "K" }, { swap_ab = true }, { cluster = 1 }
makes.given_halves, makes.given_last_splits, makes.constant_a = { halves = false }, { last_splits = 1 }, { constant = "A" }
makes.b_type, makes.weights_e4m3, makes.zeros = { b_type = "s4" }, { b_type = "e4m3" }, { zeros = true }
makes.weights_fp4, makes.f16 = { b_type = "mxfp4" }, { a_type = "f16" }
makes.a_e4m3, makes.weights_nvfp4, makes.scales_of_b = { a_type = "e4m3", b_type = "mxfp4" }, { b_type = "nvfp4" }, { scales = { b = "row" } }
makes.scales_of_blocks = { scales = of_blocks }
makes.emulated = { dtype = "f32", precision = "bf16x6" }
for _, collective in ipairs { "all_gather", "reduce_scatter" } do makes[collective] = { collective = collective, devices = 2 } end
makes.constant, makes.wide_sums = { constant = "B" }, { d = "e4m3" }
makes.alpha, makes.activation = { epilogue = { alpha = true } }, { epilogue = { activation = "relu" } }

local function refuses(name, others, text)
  for _, other in ipairs(others) do
    local options = {}
    for _, choice in ipairs { other, name } do
      for key, value in pairs(makes[choice]) do
        if key == "epilogue" then -- operations of both choices
          options.epilogue = options.epilogue or {}
          for operation, of in pairs(value) do options.epilogue[operation] = of end
        elseif options[key] == nil then
          options[key] = value
        end
      end
    end
    if other == "odd_blocks" then options.tile = makes.odd_blocks.tile end
    check.raises(text, wg.gemm, options)
  end
end

refuses("swap_ab", { "wide_d" }, "wg.gemm: `swap_ab` excludes a D of 8 or 32 bits: D is written transposed")
refuses("swap_ab", { "sparse", "block_scales", "groups" }, "only A has metadata, scales of rows and groups")
refuses("swap_ab", { "gate", "row_sums" }, "these go along rows of D")
refuses("swap_ab", { "quantize" }, "wg.gemm: `swap_ab` excludes")
refuses("splits", { "pingpong" }, "`splits` excludes the pingpong schedule")
refuses("stream_k", { "pingpong", "cluster" }, "CTAs that share a tile must not wait for others")
refuses("stream_k", { "splits" }, "`stream_k` excludes `splits`: both cut K")
refuses("stream_k", { "block_scales" }, "`stream_k` excludes block scales")
check.raises("`last_splits` requires block scales of A and B", wg.gemm, { last_splits = 2 })
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
check.raises("`sparse` excludes block scales: a main loop is of one kind", wg.gemm, { dtype = "e4m3", scales = of_blocks, sparse = "A" })
refuses("sparse", { "cluster_n" }, "each CTA copies the metadata of its own rows")
check.raises("block scales exclude the pingpong schedule", wg.gemm, { dtype = "e4m3", scales = of_blocks, schedule = "pingpong" })
refuses("block_scales", { "gate" }, "block scales exclude `epilogue.gate`")
refuses("groups", { "splits", "stream_k", "sparse", "hilbert" }, "the number of tiles is data of the device")
refuses("groups", { "a_mn", "b_mn" }, "a group is rows of A, and of B, in memory")
refuses("groups", { "row_scales", "beta", "bias", "residual", "row_sums" }, "they are the same for all groups")
refuses("gate", { "alpha", "beta", "activation" }, "`epilogue.gate` excludes `epilogue.")
refuses("residual", { "beta" }, "`epilogue.residual` excludes `epilogue.beta`: the epilogue reads one matrix")
refuses("quantize", { "beta", "residual" }, "these are of D's type, and would need scales, too")
refuses("all_gather", { "swap_ab" }, "`swap_ab` excludes `collective`: rows of A are those of a device")
refuses("all_gather", { "splits", "stream_k" }, "excludes `collective`: a tile is stored by one CTA of a device")
refuses("reduce_scatter", { "last_splits" }, "a device's rows of A come with nothing else")
refuses("all_gather", { "halves" }, "`halves` excludes `collective`: all tiles of a device's rows have one size")
refuses("reduce_scatter", { "sparse", "emulated", "groups", "block_scales" }, "a device's rows of A come with nothing else")
refuses("all_gather", { "hilbert" }, "tiles of a device's rows follow each other")
refuses("all_gather", { "constant" }, "a launch finds its number when the previous one has ended")
refuses("all_gather", { "row_sums", "quantize" }, "these are of rows of one device")
refuses("all_gather", { "a_mn" }, '`collective` = "all_gather" excludes an MN-major A: the rows of a device are contiguous memory')
refuses("all_gather", { "beta", "residual" }, "they are read by whole tiles, which may reach into the rows of two devices")
refuses("reduce_scatter", { "row_scales" }, "they belong to the product of one device; `alpha` to the sum")
refuses("reduce_scatter", { "gate" }, "the devices hand each other sums of one product")
refuses("reduce_scatter", { "wide_sums" }, "the devices hand each other sums of D's type")
check.raises("wg.gemm: `collective` and `devices` go together", wg.gemm, { collective = "all_gather" })
check.raises("wg.gemm: `collective` and `devices` go together", wg.gemm, { devices = 2 })
refuses("b_type", { "all_gather" }, "`b_type` excludes `collective`: a main loop is of one kind")
refuses("b_type", { "given_dtype" }, "`b_type` excludes `dtype`: `a_type` is the type of A")
refuses("b_type", { "a_major", "b_major" }, "A is K-major, and weights are packed")
refuses("b_type", { "sparse", "groups", "given_precision" }, "a main loop is of one kind")
refuses("b_type", { "given_scales" }, "`b_type` with an A of 16 bits excludes `scales`: its elements are not scaled")
refuses("a_e4m3", { "scales_of_b", "scales_of_blocks" }, "weights have scales of groups of their own")
refuses("a_e4m3", { "weights_nvfp4" }, '`a_type` = "e4m3" excludes weights of nvfp4: a weight times its scale has six significant bits')
refuses("a_e4m3", { "b_type" }, '`a_type` = "e4m3" requires weights of mxfp4')
refuses("b_type", { "given_swap_ab" }, "`b_type` excludes `swap_ab`: its kernel always swaps A and B")
refuses("b_type", { "given_schedule", "given_raster", "given_buffers", "given_registers" }, "its kernel has one tile at a time")
refuses("b_type", { "given_heat" }, "`b_type` excludes `heat`: its plan is the same for both")
refuses("b_type", { "given_cluster", "given_halves", "given_last_splits" }, "`splits` and `stream_k` share its tiles")
refuses("b_type", { "wide_d" }, "`b_type` excludes a D of 8 or 32 bits: D is written transposed")
refuses("b_type", { "gate", "row_sums" }, "these go along rows of D, which are columns of the tile")
check.raises("these go along rows of D", wg.gemm, { b_type = "s4", epilogue = { quantize = "1x128" } })
refuses("b_type", { "constant_a" }, "weights come before the previous launch has ended, and A after it")
refuses("emulated", { "sparse", "groups", "given_scales" }, "`precision` excludes")
refuses("emulated", { "a_mn", "b_mn" }, "parts have rows of K")
refuses("emulated", { "pingpong" }, "`precision` excludes the pingpong schedule: consumers add while others multiply")
refuses("emulated", { "given_halves" }, "`precision` excludes `halves`: a copy brings all rows of a part")
refuses("emulated", { "gate" }, "`precision` excludes `epilogue.gate`: no registers are left for a second product")
refuses("swap_ab", { "emulated" }, "`swap_ab` excludes")
refuses("zeros", { "weights_e4m3" }, "`zeros` excludes weights of e4m3: floats have no zero points")
refuses("zeros", { "weights_fp4" }, "`zeros` excludes a `b_type` of fp4: floats have no zero points")
refuses("weights_fp4", { "f16", "given_group_size" }, "a `b_type` of fp4 excludes")
for _, name in ipairs { "given_a_type", "given_group_size", "zeros", "given_next" } do
  check.raises("requires `b_type`: it is for weights of another type than A", wg.gemm, makes[name])
end

-- Attention.
local function any() end
check.raises('wg.attention: `packed` excludes `layout` = "bhsd": packed tensors are sequence x head x dim', wg.attention, { packed = true, layout = "bhsd" })
check.raises("wg.attention: `descale` requires 8-bit elements: others have no scales", wg.attention, { descale = "head" })
check.raises("wg.attention: `splits` excludes 8-bit elements: keys of 8 bits stay in one part", wg.attention, { splits = 2, dtype = "e4m3" })
check.raises("wg.attention: `block_mask` requires `mask`: it finds the blocks in which `mask` hides all keys", wg.attention, { block_mask = any })
check.raises("wg.attention_backward: `score_slope` requires `score`: it is the derivative of that function", wg.attention_backward, { score_slope = any })
