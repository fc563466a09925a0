-- Which choices of wg.attention and wg.attention_backward exclude which others, and why.

local exclusions = require "wgrun.exclusions"

local function option(name) return { ("`%s`"):format(name), function(p) return p[name] end } end
local function lacking(name) return { lacks = ("`%s`"):format(name), function(p) return not p[name] end } end

return exclusions.new({
  packed = option "packed", descale = option "descale", block_mask = option "block_mask", exact = option "exact",
  score_slope = option "score_slope", no_score = lacking "score", no_mask = lacking "mask",
  page = option "page",
  splits = { "`splits`", function(p) return p.splits and p.splits > 1 end },
  bhsd = { '`layout` = "bhsd"', function(p) return p.layout == "bhsd" end },
  fp8 = { "8-bit elements", function(p) return p.dtype == "e4m3" end },
  wide = { lacks = "8-bit elements", function(p) return p.dtype ~= "e4m3" end },
}, {
  { "packed", { "bhsd" }, "packed tensors are sequence x head x dim" },
  { "descale", { "wide" }, "others have no scales" },
  { "exact", { "wide" }, "others make all probabilities so" },
  { "splits", { "fp8" }, "keys of 8 bits stay in one part" },
  { "page", { "fp8" }, "V of 8 bits is transposed, not cleared behind the end of a sequence" },
  { "block_mask", { "no_mask" }, "it finds the blocks in which `mask` hides all keys" },
  { "score_slope", { "no_score" }, "it is the derivative of that function" },
})
