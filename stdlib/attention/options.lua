-- The options that wg.attention, wg.attention_decode and wg.attention_backward have in common.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local module = {}

--- Raises unless `value`, an option of the function `what`, is one of `legal`; returns it.
function module.one_of(what, option, value, legal)
  for _, choice in ipairs(legal) do
    if value == choice then return value end
  end
  local got, near = tostring(value), ""
  if type(value) == "string" then got, near = ("`%s`"):format(value), native.nearest(value, legal) end
  native.fail(("%s: %s is %s (legal: %s)%s"):format(what, option, got, table.concat(legal, ", "), near))
end

--- A plan with the fields of all three, from options of the function `what`; it takes these types and head sizes.
function module.plan(what, opts, dtypes, dims)
  local function one_of(option, default, legal) return module.one_of(what, option, opts[option] or default, legal) end
  local function whole(option, default, most)
    return arguments.whole(("%s: %s"):format(what, option), opts[option] or default, 1, most)
  end
  local p = {
    dtype = one_of("dtype", "bf16", dtypes), dim = one_of("dim", 128, dims), layout = one_of("layout", "bshd", { "bshd", "bhsd" }),
    packed = opts.packed or false, causal = opts.causal or false, window = opts.window and whole("window", nil, 0x3FFFFFFF),
    lse = opts.lse or false, name = opts.name or what:match "%.(.*)$", heads = whole("heads", 1, 0xFFFF),
  }
  p.kv_heads = whole("kv_heads", p.heads, p.heads)
  if p.heads % p.kv_heads ~= 0 then
    native.fail(("%s: %d heads cannot share %d heads of K and V: kv_heads must divide heads"):format(what, p.heads, p.kv_heads))
  end
  if p.packed and p.layout ~= "bshd" then
    native.fail(what .. ": `packed` tensors are sequence x head x dim: they have no layout")
  end
  return p
end

return module
