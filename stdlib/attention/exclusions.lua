-- Which choices of wg.attention and wg.attention_backward exclude which others, and why.

local exclusions = require "wgrun.exclusions"

local function option(name) return { ("`%s`"):format(name), function(p) return p[name] end } end
local function lacking(name) return { lacks = ("`%s`"):format(name), function(p) return not p[name] end } end

return exclusions.new({
  packed = option "packed", descale = option "descale", block_mask = option "block_mask", exact = option "exact",
  dropout = option "dropout", score_slope = option "score_slope", no_score = lacking "score", no_mask = lacking "mask",
  page = option "page",
  splits = { "`splits`", function(p) return p.splits and p.splits > 1 end },
  bhsd = { '`layout` = "bhsd"', function(p) return p.layout == "bhsd" end },
  split_columns = { "`dim` = 512", function(p) return p.dim == 512 end },
  narrow_columns = { "a `value_dim` below 256", function(p) return p.value_dim < 256 end },
  fp8 = { "8-bit elements", function(p) return p.dtype == "e4m3" end },
  wide = { lacks = "8-bit elements", function(p) return p.dtype ~= "e4m3" end },
}, {
  { "packed", { "bhsd" }, "packed tensors are sequence x head x dim" },
  { "descale", { "wide" }, "others have no scales" },
  { "exact", { "wide" }, "others make all probabilities so" },
  { "dropout", { "fp8" }, "it is for training" },
  { "split_columns", { "fp8" }, "shared memory has no room for V and its transpose" },
  { "split_columns", { "narrow_columns" }, "two consumers and two CTAs share its columns, in panels of 64" },
  { "splits", { "split_columns" }, "its clusters share keys" },
  { "splits", { "fp8" }, "keys of 8 bits stay in one part" },
  { "page", { "split_columns" }, "two CTAs share copies of keys" },
  { "page", { "fp8" }, "V of 8 bits is transposed, not cleared behind the end of a sequence" },
  { "block_mask", { "no_mask" }, "it finds the blocks in which `mask` hides all keys" },
  { "score_slope", { "no_score" }, "it is the derivative of that function" },
})
