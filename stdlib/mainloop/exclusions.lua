-- Which choices of a product go without which others, and why. Plans look here when they choose, and where two options
-- contradict each other.

local block_scaled = require "wgrun.mainloop.block_scaled"
local native = require "wgrun.native"

local module = {}

local function operation(name) return { "`epilogue." .. name .. "`", function(p) return p.epilogue[name] end } end

-- The choices: how messages call them, and whether a plan has made them.
local choices = {
  swap_ab = { "`swap_ab`", function(p) return p.swapped end },
  pingpong = { "the pingpong schedule", function(p) return p.own_tiles end },
  cluster = { "`cluster`", function(p) return p.cluster and p.cluster > 1 end },
  cluster_n = { "a cluster along N", function(p) return p.cluster_n and p.cluster_n > 1 end },
  splits = { "`splits`", function(p) return p.splits and p.splits > 1 end },
  last_splits = { "`last_splits`", function(p) return p.last_splits and p.last_splits > 1 end },
  stream_k = { "`stream_k`", function(p) return p.stream end },
  halves = { "`halves`", function(p) return p.halves end },
  sparse = { "`sparse`", function(p) return p.sparse end },
  groups = { "`groups`", function(p) return p.groups end },
  hilbert = { '`raster` = "hilbert"', function(p) return p.raster == "hilbert" end },
  block_scales = { "scales for blocks", function(p)
    return p.kind == block_scaled or p.scales and p.scales.a_scales == "block"
  end },
  no_block_scales = { "scales for blocks of A and B", function(p) return p.kind ~= block_scaled end },
  row_scales = { "scales of rows", function(p)
    for _, along in pairs(p.scales or {}) do if along == "row" or along == "column" then return true end end
  end },
  a_mn = { "an MN-major A", function(p) return p.a_major == "MN" end },
  b_mn = { "an MN-major B", function(p) return p.b_major == "MN" end },
  odd_blocks = {
    "tiles of 64 rows, or three times 64, for each consumer", function(p) return p.blocks and p.blocks % 2 == 1 end,
  },
  wide_d = { "a D of 8 or 32 bits", function(p) return native.element_bytes[p.d] ~= 2 end },
  beta = operation "beta", bias = operation "bias", residual = operation "residual",
  gate = operation "gate", row_sums = operation "row_sums", quantize = operation "quantize",
}

local rows = {
  { "swap_ab", { "wide_d" }, "D is written transposed by stmatrix, which moves 16 bits" },
  { "swap_ab", { "sparse", "block_scales", "groups" }, "only A has metadata, scales of rows and groups" },
  { "swap_ab", { "gate", "row_sums", "quantize" }, "these go along rows of D, which are columns of the tile then" },
  { "splits", { "pingpong" }, "consumers with tiles of their own do not share the sums of one" },
  { "stream_k", { "pingpong", "cluster" }, "CTAs that share a tile must not wait for others" },
  { "stream_k", { "splits" }, "both cut K" },
  { "stream_k", { "block_scales" }, "a piece may begin inside a block; `last_splits` does this for scales for blocks" },
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
  { "groups", { "splits", "stream_k", "sparse", "hilbert" }, "the number of tiles is data of the device" },
  { "groups", { "cluster_n" }, "neighbours along N may be of different groups" },
  { "groups", { "a_mn", "b_mn" }, "a group is rows of A, and of B, in memory" },
  {
    "groups", { "row_scales", "beta", "bias", "residual", "row_sums" },
    "they are the same for all groups, or are read by whole tiles",
  },
}

-- The choice of a plan that `name` goes without, as messages call it, and the reason; nil where there is none.
local function conflict(p, name)
  for _, row in ipairs(rows) do
    for _, other in ipairs(row[1] == name and row[2] or {}) do
      if choices[other][2](p) then
        local text = choices[other][1]
        return other == "no_block_scales" and "requires " .. text or "goes without " .. text, row[3]
      end
    end
  end
end

--- Whether a plan may choose `name`.
function module.may_choose(p, name) return conflict(p, name) == nil end

--- Raises where a plan has made choices that `name` goes without.
function module.refuse_conflicts(p, name)
  local without, why = conflict(p, name)
  local text = choices[name][1]
  if without then
    native.fail(
      ("%s: %s %s: %s"):format(p.what, text, text:find "^scales" and without:gsub("^goes", "go") or without, why))
  end
end

--- Raises where a choice of a plan contradicts another one.
function module.check_choices(p)
  for _, row in ipairs(rows) do
    if choices[row[1]][2](p) then module.refuse_conflicts(p, row[1]) end
  end
end

return module
