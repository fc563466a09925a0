-- The options that wg.attention, wg.attention_decode and wg.attention_backward have in common.

local arguments = require "wgrun.arguments"
local captured = require "wgrun.attention.captured"
local exclusions = require "wgrun.attention.exclusions"
local native = require "wgrun.native"

local module = {}

--- A plan with the fields of all three, from `opts`, what arguments.options returned for the function `what`.
function module.plan(what, opts)
  local p = { what = what }
  for _, name in ipairs {
    "dtype", "dim", "layout", "packed", "causal", "window", "lse", "name", "heads", "descale", "score", "score_slope",
    "mask", "block_mask", "tensors", "exact", "sink", "dropout",
  } do
    p[name] = opts[name]
  end
  p.softcap = opts.softcap and arguments.positive(what .. ": softcap", opts.softcap) or nil
  p.kv_heads = arguments.whole(("%s: kv_heads"):format(what), opts.kv_heads or p.heads, 1, p.heads)
  if p.heads % p.kv_heads ~= 0 then
    native.fail(
      ("%s: %d heads cannot share %d heads of K and V: kv_heads must divide heads"):format(what, p.heads, p.kv_heads))
  end
  p.value_dim = opts.value_dim or p.dim -- of V and O
  if p.value_dim > p.dim then
    native.fail((
      "%s: value_dim is %d, must not exceed dim = %d: V and O may be narrower than Q and K, not wider"
    ):format(what, p.value_dim, p.dim))
  end
  captured.check(p)
  exclusions.check_choices(p)
  return p
end

return module
