-- The parameters of the kernels of wg.ssd_backward (builder/parameters.lua), which their launches follow.

local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The parameters of each kernel. A launch has each under its name: the tensors, and what the kernels hand to each
--- other.
function module.make(p)
  local const, data = ("const %s*"):format(p.dtype), p.dtype .. "*"
  local function operand(name, key) return { name, as = key, map = tensors.box(p, p.chunk, true, p.lines) } end
  local function result(name) return { name, map = tensors.box(p, p.chunk) } end
  local function rows(name)
    return p.packed and { name .. "_rows", data, name, as = name .. "_rows", value = function(l) return l[name] end }
  end
  local function if_(condition, row) return condition and row or false end
  local gradient = operand(p.z and "gated" or "dy", "dY")
  local steps = {
    { "dt", ("const %s*"):format(p.dt_dtype), "tokens x heads" }, { "A", "const f32*", "of each head" },
    if_(p.dt_bias, { "dt_bias", "const f32*", "of each head" }),
    if_(p.packed, { "starts", "const s32*" }), if_(not p.packed, { "tokens", "u32" }), { "records", "u32" },
  }
  local function with_steps(list, more)
    for _, part in ipairs { steps, more } do
      for _, row in ipairs(part) do list[#list + 1] = row end
    end
    return parameters.rows(list)
  end
  local in_segments = p.state_segments > 1
  local sliced, of_b = p.slices > 1, p.slices > 1 and "f32*" or data
  local function partial(name) -- of a slice, or the result itself
    return { name .. (sliced and "_parts" or ""), of_b, as = name }
  end
  return {
    gate = p.z and parameters.rows {
      { "dy", const }, { "z", const }, { "gated", data, "dy silu(z)" }, { "eights", "u32", "elements / 8" },
    },
    summary = in_segments and with_steps({ operand("x", "V"), operand("B", "K"), operand("C", "Q"), gradient }, {
      { "sequences", "u32" }, { "summaries", "f32*", "for each direction, segment, head a state" },
      { "decays", "f32*", "for each direction, segment, head" },
    }),
    states = with_steps({ operand("x", "V"), operand("B", "K"), operand("C", "Q"), gradient }, {
      if_(in_segments, { "sequences", "u32" }), if_(in_segments, { "summaries", "const f32*" }),
      if_(in_segments, { "decays", "const f32*" }),
      { "states", data, "for each direction, chunk, head a state" },
      if_(p.initial_state, { "initial_state", "const f32*" }), if_(p.final_state, { "dfinal_state", "const f32*" }),
      if_(p.initial_state, { "dinitial_state", "f32*" }),
    }),
    kernel = with_steps({
      operand("x", "V"), operand("B", "K"), operand("C", "Q"), gradient, result "dx", rows "dx" or false,
      if_(p.z, result "y"), p.z and rows "y" or false,
    }, {
      { "states", const }, if_(p.D, { "D", "const f32*", "heads, or heads x headdim" }),
      if_(p.packed, { "sequences", "u32" }),
      partial "dB", partial "dC", if_(sliced, { "rows", "u32", "tokens of all sequences" }),
      { "ddt", p.dt_dtype .. "*" }, { "parts", "f32*", "for each head, field and chunk" },
    }),
    join = sliced and parameters.rows {
      { "dB_parts", "const f32*" }, { "dC_parts", "const f32*" }, { "dB", data }, { "dC", data },
      { "eights", "u32", "elements / 8" },
    },
    after = parameters.rows {
      { "parts", "const f32*" }, { "records", "u32" }, { "dA", "f32*" }, if_(p.dt_bias, { "ddt_bias", "f32*" }),
      if_(p.D, { "dD", "f32*" }),
    },
    ungate = p.z and parameters.rows {
      { "dy", const }, { "z", const }, { "y", const }, { "dz", data }, { "eights", "u32", "elements / 8" },
    },
  }
end

return module
