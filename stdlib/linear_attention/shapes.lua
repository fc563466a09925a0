-- The shapes of the tensors of wg.delta_rule.

local arguments = require "wgrun.arguments"
local attention_tensors = require "wgrun.attention.tensors"
local native = require "wgrun.native"

local module = {}

local fail, text = native.fail, arguments.shape_text

-- Raises unless the tensor has that shape.
local function expect(name, tensor, want)
  local shape = arguments.shape_of(tensor)
  if text(shape) ~= text(want) then
    fail(("delta_rule: %s must be %s, not %s"):format(name, text(want), text(shape)))
  end
end

--- The number of sequences, and of tokens: of each sequence, or of all packed ones. Raises where shapes do not fit.
--- given: Q, K, V, O; values: the options of a launch.
function module.check(p, given, values)
  for _, name in ipairs { "Q", "K", "V", "O" } do
    local shape = arguments.shape_of(given[name])
    local rank = p.packed and 3 or 4
    if not shape or #shape ~= rank then
      fail(("delta_rule: %s must have %d dimensions (%stokens x heads x dim), not %s"):format(
        name, rank, p.packed and "" or "batch x ", text(shape)))
    end
  end
  local shape = arguments.shape_of(given.V)
  local tokens, batch = shape[p.packed and 1 or 2], shape[1]
  local function of(...) return p.packed and { tokens, ... } or { batch, tokens, ... } end
  expect("V", given.V, of(p.heads, p.dim))
  expect("O", given.O, of(p.heads, p.dim))
  expect("Q", given.Q, of(p.qk_heads, p.dim))
  expect("K", given.K, of(p.qk_heads, p.dim))
  expect("g", values.g, p.by_channel and of(p.heads, p.dim) or of(p.heads))
  expect("beta", values.beta, of(p.heads))
  attention_tensors.values("delta_rule", p, values, {
    starts = "packed", initial_state = "initial_state", final_state = "final_state",
  })
  if p.packed then
    local starts = arguments.shape_of(values.starts)
    if not starts or #starts ~= 1 then
      fail(("delta_rule: starts must be a vector of batch + 1 s32, not %s"):format(text(starts)))
    end
    batch = starts[1] - 1
  end
  for _, name in ipairs { "initial_state", "final_state" } do
    if p[name] then expect(name, values[name], { batch, p.heads, p.dim, p.dim }) end
  end
  if tokens == 0 or batch == 0 then fail "delta_rule: V has no tokens, so there is nothing to compute" end
  return batch, tokens
end

return module
