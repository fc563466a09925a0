-- Which choices of a product exclude which others, and why: those of its main loop, scheduler and reduction, of the
-- operations of its epilogue, and of weights of another type than A (`b_type`). Plans look here when they choose, and
-- where two options contradict each other. What depends on numbers, such as those of a tile, stands with the plans.

local exclusions = require "wgrun.exclusions"
local block_scaled = require "wgrun.mainloop.block_scaled"
local native = require "wgrun.native"

local function operation(name) return { "`epilogue." .. name .. "`", function(p) return p.epilogue[name] end } end

-- An option that is given, whatever its value is.
local function option(name)
  return { ("`%s`"):format(name), function(_, given) return given and given[name] ~= nil end }
end

local choices = {
  swap_ab = { "`swap_ab`", function(p) return p.swapped and not p.b_type end },
  pingpong = { "the pingpong schedule", function(p) return p.pingpong end },
  cluster = { "`cluster`", function(p) return p.cluster and p.cluster > 1 end },
  cluster_n = { "a cluster along N", function(p) return p.cluster_n and p.cluster_n > 1 end },
  splits = { "`splits`", function(p) return p.splits and p.splits > 1 end },
  last_splits = { "`last_splits`", function(p) return p.last_splits and p.last_splits > 1 end },
  stream_k = { "`stream_k`", function(p) return p.stream_k end },
  halves = { "`halves`", function(p) return p.tail_m end },
  emulated = { "`precision`", function(p) return p.emulated end },
  sparse = { "`sparse`", function(p) return p.sparse end },
  groups = { "`groups`", function(p) return p.groups end },
  hilbert = { '`raster` = "hilbert"', function(p) return p.raster == "hilbert" end },
  block_scales = { "block scales", function(p)
    return p.kind == block_scaled or p.scales and p.scales.a_scales == "block"
  end },
  no_block_scales = { lacks = "block scales of A and B", function(p) return p.kind ~= block_scaled end },
  row_scales = { "scales of rows", function(p)
    for _, along in pairs(p.scales or {}) do if along == "row" or along == "column" then return true end end
  end },
  a_mn = { "an MN-major A", function(p) return p.a_major == "MN" end },
  b_mn = { "an MN-major B", function(p) return p.b_major == "MN" end },
  odd_blocks = {
    "tiles of 64 rows, or three times 64, for each consumer", function(p) return p.blocks and p.blocks % 2 == 1 end,
  },
  wide_d = { "a D of 8 or 32 bits", function(p) return p.d and native.element_bytes[p.d] ~= 2 end },
  collective = { "`collective`", function(p, given) return p.collective or given and given.collective end },
  all_gather = { '`collective` = "all_gather"', function(p) return p.gather end },
  reduce_scatter = { '`collective` = "reduce_scatter"', function(p) return p.scatter end },
  constant = { "`constant`", function(p) return p.constant end },
  sums_of_d = { "a D of another type than bf16, f16 and f32", function(p)
    return p.d ~= "bf16" and p.d ~= "f16" and p.d ~= "f32"
  end },
  b_type = { "`b_type`", function(p) return p.b_type end },
  no_b_type = { lacks = "`b_type`", function(p) return not p.b_type end },
  weights_e4m3 = { "weights of e4m3", function(p) return p.b_type == "e4m3" end },
  weights_fp4 = { "a `b_type` of fp4", function(p) return p.fp4 end },
  weights_nvfp4 = { "weights of nvfp4", function(p) return p.b_type == "nvfp4" end },
  no_mxfp4 = { lacks = "weights of mxfp4", function(p) return p.b_type ~= "mxfp4" end },
  f16 = { '`a_type` = "f16"', function(p) return p.dtype == "f16" end },
  a_e4m3 = { '`a_type` = "e4m3"', function(p) return p.b_type and p.dtype == "e4m3" end },
  a_of_16_bits = { "`b_type` with an A of 16 bits", function(p) return p.b_type and p.dtype ~= "e4m3" end },
  scales_of_b = { "scales of B", function(_, given) return given and given.scales and given.scales.b end },
  zero_points = { "`zeros`", function(p) return p.zeros end },
  constant_a = { '`constant` = "A"', function(p) return p.constant == "A" end },
}
for _, name in ipairs { "alpha", "beta", "bias", "activation", "residual", "gate", "row_sums", "quantize" } do
  choices[name] = operation(name)
end
local of_weights = { "a_type", "group_size", "zeros", "next" }
local not_of_weights = {
  "dtype", "precision", "scales", "a_major", "b_major", "schedule", "raster", "buffers", "registers", "heat",
}
for _, list in ipairs { of_weights, not_of_weights } do
  for _, name in ipairs(list) do choices[name] = option(name) end
end
choices.given_swap_ab, choices.given_cluster = option "swap_ab", option "cluster"
choices.given_halves, choices.given_last_splits = option "halves", option "last_splits"

local rows = {
  { "swap_ab", { "emulated" }, "D of f32 is not written transposed" },
  { "swap_ab", { "wide_d" }, "D is written transposed by stmatrix, which moves 16 bits" },
  { "swap_ab", { "sparse", "block_scales", "groups" }, "only A has metadata, scales of rows and groups" },
  { "swap_ab", { "gate", "row_sums", "quantize" }, "these go along rows of D, which are columns of the tile then" },
  { "splits", { "pingpong" }, "consumers with tiles of their own do not share the sums of one" },
  { "stream_k", { "pingpong", "cluster" }, "CTAs that share a tile must not wait for others" },
  { "stream_k", { "splits" }, "both cut K" },
  { "stream_k", { "block_scales" }, "a work unit may begin inside a block; `last_splits` does this for block scales" },
  { "last_splits", { "no_block_scales" }, "`stream_k` does this for other products" },
  { "last_splits", { "groups", "cluster", "splits" }, "one CTA has a tile of the last round" },
  { "halves", { "pingpong", "odd_blocks" }, "each consumer keeps half of its blocks of 64 rows" },
  { "halves", { "splits", "stream_k" }, "these share the last round by K" },
  {
    "halves", { "swap_ab", "block_scales", "a_mn", "cluster_n" },
    "a copy brings half of A's rows, and K-major rows alone",
  },
  { "halves", { "row_sums" }, "the counters of row sums count whole tiles" },
  { "sparse", { "block_scales" }, "a main loop is of one kind" },
  { "sparse", { "cluster_n" }, "each CTA copies the metadata of its own rows" },
  { "block_scales", { "pingpong" }, "consumers add while others multiply, for the same tile" },
  { "block_scales", { "gate" }, "no registers are left for a second product" },
  { "emulated", { "sparse", "groups", "scales" }, "a main loop is of one kind" },
  { "emulated", { "a_mn", "b_mn" }, "parts have rows of K" },
  { "emulated", { "pingpong" }, "consumers add while others multiply, for the same tile" },
  { "emulated", { "given_halves" }, "a copy brings all rows of a part" },
  { "emulated", { "gate" }, "no registers are left for a second product" },
  { "groups", { "splits", "stream_k", "sparse", "hilbert" }, "the number of tiles is data of the device" },
  { "groups", { "a_mn", "b_mn" }, "a group is rows of A, and of B, in memory" },
  {
    "groups", { "row_scales", "beta", "bias", "residual", "row_sums" },
    "they are the same for all groups, or are read by whole tiles",
  },
  { "gate", { "alpha", "beta", "activation" }, "it makes an element of two products, by an activation of its own" },
  { "residual", { "beta" }, "the epilogue reads one matrix" },
  { "quantize", { "beta", "residual" }, "these are of D's type, and would need scales, too" },
  { "swap_ab", { "collective" }, "rows of A are those of a device" },
  { "splits", { "collective" }, "a tile is stored by one CTA of a device" },
  { "stream_k", { "collective" }, "a tile is stored by one CTA of a device" },
  { "halves", { "collective" }, "all tiles of a device's rows have one size" },
  { "collective", { "sparse", "emulated", "block_scales", "groups" }, "a device's rows of A come with nothing else" },
  { "collective", { "hilbert" }, "tiles of a device's rows follow each other" },
  { "collective", { "constant" }, "a launch finds its number when the previous one has ended" },
  { "collective", { "row_sums", "quantize" }, "these are of rows of one device" },
  { "all_gather", { "a_mn" }, "the rows of a device are contiguous memory" },
  {
    "all_gather", { "beta", "residual" },
    "they are read by whole tiles, which may reach into the rows of two devices",
  },
  { "reduce_scatter", { "scales" }, "they belong to the product of one device; `alpha` to the sum" },
  { "reduce_scatter", { "gate" }, "the devices hand each other sums of one product" },
  { "reduce_scatter", { "sums_of_d" }, "the devices hand each other sums of D's type" },
  { "a_of_16_bits", { "scales" }, "its elements are not scaled" },
  { "b_type", { "dtype" }, "`a_type` is the type of A" },
  { "b_type", { "a_major", "b_major" }, "A is K-major, and weights are packed" },
  { "b_type", { "sparse", "groups", "precision", "collective" }, "a main loop is of one kind" },
  { "b_type", { "given_swap_ab" }, "its kernel always swaps A and B" },
  { "b_type", { "schedule", "raster", "buffers", "registers" }, "its kernel has one tile at a time" },
  { "b_type", { "heat" }, "its plan is the same for both" },
  { "b_type", { "given_cluster", "given_halves", "given_last_splits" }, "`splits` and `stream_k` share its tiles" },
  { "b_type", { "wide_d" }, "D is written transposed by stmatrix, which moves 16 bits" },
  { "b_type", { "gate", "row_sums", "quantize" }, "these go along rows of D, which are columns of the tile" },
  { "b_type", { "constant_a" }, "weights come before the previous launch has ended, and A after it" },
  { "zero_points", { "weights_e4m3", "weights_fp4" }, "floats have no zero points" },
  { "b_type", { "scales_of_b", "block_scales" }, "weights have scales of groups of their own" },
  {
    "a_e4m3", { "weights_nvfp4" },
    "a weight times its scale has six significant bits, an e4m3 four; beside an A of bf16 none is rounded",
  },
  { "a_e4m3", { "no_mxfp4" }, "their products with their scales are numbers of e4m3" },
  { "weights_fp4", { "f16" }, "their scales have exponents that only bf16 has" },
  { "weights_fp4", { "group_size" }, "32 elements share a scale of mxfp4, and 16 one of nvfp4" },
}
for _, name in ipairs(of_weights) do
  rows[#rows + 1] = { name, { "no_b_type" }, "it is for weights of another type than A" }
end

return exclusions.new(choices, rows)
