-- The parameters of the kernels of wg.attention_backward (builder/parameters.lua), which their launches follow.

local captured = require "wgrun.attention.captured"
local dropout = require "wgrun.attention.dropout"
local sink = require "wgrun.attention.sink"
local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The parameters of each of the three kernels. A launch has each under its name: the tensors, `queries` and `keys`,
--- the most of a sequence; `total`, all packed queries; the factor of the scores; what the kernels hand to each other.
function module.make(p)
  local const, data = "const " .. p.dtype .. "*", p.dtype .. "*"
  local function box(name, rows, constant, lines) return { name, map = tensors.box(p, rows, constant, lines) } end
  local function result(name, rows, lines) return p.packed and { name, data } or box(name, rows, nil, lines) end
  local function itself(l) return l end
  local function scale_of_dq(l) return l.scale * dropout.factor(p, l) end
  local function of_sink(name, kind) return sink.parameter(p, name, kind, itself) end
  local query_starts = { "query_starts", "const s32*" }
  return {
    before = parameters.rows {
      { "O", const }, { "dO", const }, { "lse", "const f32*" }, { "stats", "f32*" }, { "sums", "f32*" },
      p.packed and query_starts or { "queries", "u32" }, p.packed and { "total", "u32" },
      of_sink("sink", "const f32*"), p.sink and { "sink_sums", "f32*" },
      p.dropout and { "kept", "f32", value = function(l) return 1 - dropout.probability(p, l) end },
    },
    kernel = parameters.rows(captured.add_parameters(p, dropout.add_parameters(p, {
      box("Q", p.rows, true, p.q_lines), box("K", p.own_keys, true, p.k_lines), box("V", p.own_keys, true, p.k_lines),
      box("dO", p.rows, true, p.q_lines),
      result("dK", 64), result("dV", 64),
      { "stats", "const f32*" }, { "sums", "f32*" }, { "queries", "u32" }, not p.packed and { "keys", "u32" },
      { "scale", "f32" }, { "scale_log2", "f32" }, p.packed and query_starts,
      p.packed and { "key_starts", "const s32*" },
    }, itself), function(l) return l.tensors end)),
    after = parameters.rows {
      result("dQ", p.q_panel.lines, p.q_panel), { "sums", "const f32*" },
      { "scale", "f32", value = p.dropout and scale_of_dq or nil }, p.packed and query_starts,
      p.sink and { "sink_sums", "const f32*" }, of_sink("dsink", "f32*"),
    },
  }
end

return module
