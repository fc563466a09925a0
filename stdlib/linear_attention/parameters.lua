-- The parameters of wg.delta_rule's kernel (builder/parameters.lua), which its launches and what it exports follow.

local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  local function operand(name) return { name, map = tensors.box(p, p.chunk, true, p.lines) } end
  local whole = not p.summary
  local prepares = not p.by_channel
  return parameters.rows {
    whole and prepares and operand "Q" or false, prepares and operand "K" or false, operand "V",
    whole and { "O", map = tensors.box(p, p.chunk) } or false,
    whole and p.packed and { "O_rows", p.o .. "*", "O", as = "rows_of_o", value = function(l) return l.O end } or false,
    prepares and { "g", ("const %s*"):format(p.g_dtype), "the logarithm of the decay, tokens x heads" } or false,
    prepares and { "beta", "const f32*", "tokens x heads" } or false,
    not prepares and { "records", "const f32*", "of channel_preparation.lua" } or false,
    p.overlaps and { "ready", "const u32*", "of that kernel" } or false,
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" },
    whole and prepares and { "scale", "f32" } or false,
    whole and p.segments > 1 and { "states", "const f32*", "of segments.lua's kernel" } or false,
    whole and p.segments == 1 and p.initial_state and { "initial_state", "const f32*" } or false,
    whole and p.final_state and { "final_state", "f32*" } or false,
    p.summary and { "summaries", "f32*", "for each segment and head two matrices of 128 x 128" } or false,
  }
end

return module
