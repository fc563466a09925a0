-- The parameters of wg.attention's kernel (builder/parameters.lua), which its launches and what it exports follow.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"
local native = require "wgrun.native"

local module = {}

local fail, text = native.fail, arguments.shape_text

-- Pairs of batch and head whose K and V fill the L2 cache by two thirds.
local function pairs_in_cache(p, l)
  local sharing, bytes = p.heads // p.kv_heads, 2 * native.element_bytes[p.dtype] * p.dim * l.keys
  return math.min(math.max(1, wg.target.l2 * 2 // 3 // bytes) * sharing, l.batches * p.heads)
end

-- A vector or tensor of f32 called `name`, of that shape.
local function of_shape(name, want)
  return function(l)
    local shape, wanted = arguments.shape_of(l.given[name]), want(l)
    if text(shape) ~= text(wanted) then fail(("attention: %s must be f32, %s, not %s"):format(name, text(wanted), text(shape))) end
    return l.given[name]
  end
end

--- The kernel's parameters. A launch has: Q, K, V, O; queries, the most of a sequence; rows of Q and keys; batches; factor and cap of the scores
--- (scores.score_arguments); `given`, its options; counter.
function module.make(p)
  return parameters.list(function(add)
    for _, name in ipairs { "Q", "K", "V" } do
      add { name = name, map = tensors.box(p, name == "Q" and 64 or p.block, true, p.lines), value = function(l) return l[name] end }
    end
    if p.packed or p.splits > 1 then
      add { name = "O", type = p.o .. "*" }
    else
      add { name = "O", map = tensors.box(p, 64) }
    end
    if p.lse then
      local function shape(l) return p.packed and { p.heads, l.rows } or { l.batches, p.heads, l.queries } end
      add { name = "lse", type = "f32*", value = of_shape("lse", shape) }
    end
    add {
      name = "queries", type = "u32",
      note = p.splits > 1 and ("of a sequence; each %d of a head have %d CTAs"):format(p.m, p.splits) or nil,
    }
    if not p.packed then add { name = "keys", type = "u32" } end
    add { name = "batches", type = "u32" }
    add { name = "scale", type = "f32", value = function(l) return l.factor end, note = "the factor of the scores times log2(e)" }
    if p.softcap or p.score then add { name = "cap", type = "f32" } end
    if p.causal then
      add { name = "group", type = "u32", value = function(l) return pairs_in_cache(p, l) end, note = "pairs of batch and head whose K and V share the L2 cache" }
    end
    for _, name in ipairs(p.packed and { "query_starts", "key_starts" } or {}) do
      add { name = name, type = "const s32*", value = function(l) return l.given[name] end }
    end
    if p.packed and p.lse then add { name = "total", type = "u32", value = function(l) return l.rows end } end
    for _, name in ipairs(p.descale and { "q_descale", "k_descale", "v_descale" } or {}) do
      add { name = name, type = "const f32*", value = of_shape(name, function(l) return p.descale == "head" and { l.batches, p.kv_heads } or { 1 } end) }
    end
    if p.splits == 1 then
      add { name = "counter", type = "u32*", note = "one element, 0 before the launch and after it" }
    end
  end)
end

return module
