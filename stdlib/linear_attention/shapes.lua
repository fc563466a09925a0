-- The shapes of the tensors of linear attention, with the sequences side by side or packed.

local arguments = require "wgrun.arguments"
local attention_tensors = require "wgrun.attention.tensors"
local native = require "wgrun.native"

local module = {}

local fail, text = native.fail, arguments.shape_text

--- Raises unless the tensor has that shape.
function module.expect(name, tensor_name, tensor, want)
  local shape = arguments.shape_of(tensor)
  if text(shape) ~= text(want) then
    fail(("%s: %s must be %s, not %s"):format(name, tensor_name, text(want), text(shape)))
  end
end

--- The number of sequences, and of tokens: of each sequence, or of all packed ones. Raises where shapes do not fit.
--- name: of the function, without wg; rows: lists { tensor's name, tensor, extents of a token's elements }, the first
--- one of which says how many tokens there are, with the names of their extents in messages, `extents`; values: the
--- options of a launch; states: by the names of the states among them, the options that they go with.
function module.check(name, p, rows, values, states)
  for _, row in ipairs(rows) do
    local shape, rank = arguments.shape_of(row[2]), #row[3] + (p.packed and 1 or 2)
    if not shape or #shape ~= rank then
      fail(("%s: %s must have %d dimensions (%stokens x %s), not %s"):format(
        name, row[1], rank, p.packed and "" or "batch x ", row.extents or "heads", text(shape)))
    end
  end
  local shape = arguments.shape_of(rows[1][2])
  local tokens, batch = shape[p.packed and 1 or 2], shape[1]
  for _, row in ipairs(rows) do
    local own = row[3]
    module.expect(name, row[1], row[2], p.packed and { tokens, own[1], own[2] } or { batch, tokens, own[1], own[2] })
  end
  states = states or { initial_state = "initial_state", final_state = "final_state" }
  attention_tensors.values(name, p, values, states)
  attention_tensors.values(name, p, values, { starts = "packed" })
  if p.packed then
    local starts = arguments.shape_of(values.starts)
    if not starts or #starts ~= 1 then
      fail(("%s: starts must be a vector of batch + 1 s32, not %s"):format(name, text(starts)))
    end
    batch = starts[1] - 1
  end
  local k_extent, v_extent = p.dim, p.value_dim
  if p.state_layout == "vk" then k_extent, v_extent = v_extent, k_extent end
  for state, option in pairs(states) do
    if p[option] then module.expect(name, state, values[state], { batch, p.heads, k_extent, v_extent }) end
  end
  if tokens == 0 or batch == 0 then
    fail(("%s: %s has no tokens, so there is nothing to compute"):format(name, rows[1][1]))
  end
  return batch, tokens
end

return module
