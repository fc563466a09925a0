-- The parameters of wg.ssd's kernel (builder/parameters.lua), which its launches and what it exports follow.

local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  local function operand(name, key) return { name, as = key, map = tensors.box(p, p.chunk, true, p.lines) } end
  local whole, in_segments = not p.summary, p.segments > 1
  return parameters.rows {
    operand("x", "V"), operand("B", "K"), whole and operand("C", "Q") or false,
    p.z and operand("z", "Z") or false,
    whole and { "y", as = "O", map = tensors.box(p, p.chunk) } or false,
    whole and p.packed and { "y_rows", p.o .. "*", "y", as = "rows_of_o", value = function(l) return l.y end } or false,
    { "dt", ("const %s*"):format(p.dt_dtype), "tokens x heads" }, { "A", "const f32*", "of each head" },
    p.dt_bias and { "dt_bias", "const f32*", "of each head" } or false,
    whole and p.D and { "D", "const f32*", "heads, or heads x headdim" } or false,
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" },
    in_segments and { "summaries", p.summary and "f32*" or "const f32*", "for each segment and head a state" } or false,
    in_segments and { "decays", p.summary and "f32*" or "const f32*", "for each segment and 64 columns" } or false,
    whole and p.initial_state and { "initial_state", "const f32*" } or false,
    whole and p.final_state and { "final_state", "f32*" } or false,
  }
end

return module
