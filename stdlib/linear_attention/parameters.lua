-- The parameters of wg.delta_rule's kernel (builder/parameters.lua), which its launches and what it exports follow.

local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  local function operand(name) return { name, map = tensors.box(p, p.chunk, true, p.lines) } end
  return parameters.rows {
    operand "Q", operand "K", operand "V", { "O", map = tensors.box(p, p.chunk) },
    p.packed and { "O_rows", p.o .. "*", "O", as = "rows_of_o", value = function(l) return l.O end } or false,
    { "g", "const f32*", "the logarithm of the decay, tokens x heads" }, { "beta", "const f32*", "tokens x heads" },
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" },
    { "scale", "f32" },
    p.initial_state and { "initial_state", "const f32*" } or false,
    p.final_state and { "final_state", "f32*" } or false,
  }
end

return module
