-- The parameters of wg.attention's kernel (builder/parameters.lua), which its launches and what it exports follow.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local captured = require "wgrun.attention.captured"
local dropout = require "wgrun.attention.dropout"
local pages = require "wgrun.attention.pages"
local sink = require "wgrun.attention.sink"
local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"
local native = require "wgrun.native"

local module = {}

local fail, text = native.fail, arguments.shape_text

-- Pairs of batch and head whose K and V fill the L2 cache by two thirds.
local function pairs_in_cache(p, l)
  local sharing, bytes = p.heads // p.kv_heads, native.element_bytes[p.dtype] * (p.dim + p.value_dim) * l.keys
  return math.min(math.max(1, wg.target.l2 * 2 // 3 // bytes) * sharing, l.batches * p.heads)
end

-- A vector or tensor of f32 called `name`, of that shape.
local function of_shape(name, want)
  return function(l)
    local shape, wanted = arguments.shape_of(l.given[name]), want(l)
    if text(shape) ~= text(wanted) then
      fail(("attention: %s must be f32, %s, not %s"):format(name, text(wanted), text(shape)))
    end
    return l.given[name]
  end
end

--- The kernel's parameters. A launch has: Q, K, V, O; queries, the most of a sequence; rows of Q and keys; batches;
--- factor and cap of the scores (scores.score_arguments); `given`, its options; counter.
function module.make(p)
  local function operand(name, rows, lines) return { name, map = tensors.box(p, rows, true, lines or p.lines) } end
  local function keys(name, lines)
    if p.copies == "rows" then return { name, ("const %s*"):format(p.dtype) } end
    return { name, map = tensors.box(pages.of_keys(p), p.box_rows, true, lines) }
  end
  local function given(name, type, note) return { name, type, note, value = function(l) return l.given[name] end } end
  local function lse_shape(l) return p.packed and { p.heads, l.rows } or { l.batches, p.heads, l.queries } end
  local function starts(name)
    return p.packed and given(name, "const s32*")
  end
  local function descale(name)
    local function shape(l) return p.descale == "head" and { l.batches, p.kv_heads } or { 1 } end
    return p.descale and { name, "const f32*", value = of_shape(name, shape) } or false
  end
  local rows = {
    operand("Q", 64), keys("K", p.lines), keys("V", p.value_lines),
    (p.packed or p.splits > 1) and { "O", p.o .. "*" } or { "O", map = tensors.box(p, 64) },
    p.lse and { "lse", "f32*", value = of_shape("lse", lse_shape) },
    {
      "queries", "u32",
      p.cluster > 1 and ("of a sequence; each %d of a head have %d CTAs"):format(p.m, p.cluster) or nil,
    },
    not p.packed and not p.page and { "keys", "u32" }, { "batches", "u32" },
    { "scale", "f32", "the factor of the scores times log2(e)", value = function(l) return l.factor end },
    (p.softcap or p.score) and { "cap", "f32" } or false,
    p.uneven and {
      "group", "u32", "pairs of batch and head whose K and V share the L2 cache",
      value = function(l) return pairs_in_cache(p, l) end,
    },
    starts "query_starts", not p.page and starts "key_starts",
    p.page and given("lengths", "const s32*") or false,
    p.page
      and given("pages", "const s32*", ("%d keys each, for each sequence table_width numbers of pages"):format(p.page))
      or false,
    p.page and { "table_width", "u32" } or false,
    p.copies == "rows" and { "page_count", "u32", "of K and V" } or false,
    p.packed and p.lse and { "total", "u32", value = function(l) return l.rows end },
    descale "q_descale", descale "k_descale", descale "v_descale",
    p.cluster == 1 and { "counter", "u32*", "one element, 0 before the launch and after it" },
    sink.parameter(p, "sink", "const f32*", function(l) return l.given end),
  }
  dropout.add_parameters(p, rows, function(l) return l.given end, dropout.units[p.dtype])
  return parameters.rows(captured.add_parameters(p, rows, function(l) return l.given.tensors end))
end

return module
