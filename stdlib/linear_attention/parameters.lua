-- The parameters of wg.delta_rule's kernel (builder/parameters.lua), which its launches and what it exports follow.

local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"
local segments = require "wgrun.linear_attention.segments"

local module = {}

--- The kernel's parameters. A launch has each under its name. p.names: what the tensors of another pass are called.
function module.make(p)
  local function operand(name, as) return { name, map = tensors.box(p, p.chunk, true, p.lines), as = as } end
  local function renamed(name) return p.names and p.names[name] or name end
  local whole, result = not p.summary, renamed "O"
  local prepares = not p.by_channel
  return parameters.rows {
    p.with_p and prepares and operand "Q" or false, prepares and operand "K" or false, operand(renamed "V", "V"),
    whole and { result, map = tensors.box(p, p.chunk), as = "O" } or false,
    whole and p.packed and {
      result .. "_rows", p.o .. "*", result, as = "rows_of_o", value = function(l) return l[result] end,
    } or false,
    prepares and { "g", ("const %s*"):format(p.g_dtype), "the logarithm of the decay, tokens x heads" } or false,
    prepares and { "beta", "const f32*", "tokens x heads" } or false,
    (not prepares or p.segments > 1) and { "records", prepares and p.summary and "f32*" or "const f32*", "records.lua" }
      or false,
    p.overlaps and { "ready", "const u32*", "of that kernel" } or false,
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" },
    p.with_p and prepares and { "scale", "f32" } or false,
    p.image and { p.image, p.dtype .. "*", "the state before each chunk, 128 x 128", as = "images" } or false,
    not p.passes and p.initial_state
      and { renamed "initial_state", "const f32*", as = "initial_state" } or false,
    whole and p.final_state and { renamed "final_state", "f32*", as = "final_state" } or false,
    p.passes and segments.parameter or false,
    (p.passes or p.summary) and {
      "summaries", p.summary and "f32*" or "const f32*", "for each segment and head two matrices of 128 x 128",
    } or false,
  }
end

return module
