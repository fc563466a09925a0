-- The parameters of wg.attention_decode's kernel (builder/parameters.lua), which its launches and what it exports
-- follow.

local captured = require "wgrun.attention.captured"
local sink = require "wgrun.attention.sink"
local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  local const = "const " .. p.dtype .. "*"
  local box = p.layout == "bshd" and { 64, 1, p.box_rows, 1 } or { 64, p.box_rows, 1, 1 }
  local map = p.copies ~= "rows" and { dtype = p.dtype, box = box, swizzle = "128B", constant = true } or nil
  local function keys_of(name) return { name, not map and const or nil, map = map } end
  local function given(l) return l.given end
  local each_cta = "%d elements for each CTA of the grid, times rounds"
  return parameters.rows(captured.add_parameters(p, {
    { "Q", const }, keys_of "K", keys_of "V", { "O", p.dtype .. "*" }, p.lse and { "lse", "f32*" },
    { "lengths", "const s32*" },
    p.page
      and { "pages", "const s32*", ("%d keys each, for each sequence table_width numbers of pages"):format(p.page) }
      or false,
    p.page and { "table_width", "u32" } or false,
    { "keys", "u32", "the most keys that a sequence can have" }, { "batches", "u32" },
    { "together", "u32", ("heads of K and V that CTAs side by side work on: divides %d"):format(p.kv_heads) },
    { "rounds", "u32", "the most stretches that a CTA has" },
    { "scale_log2", "f32", "the factor of the scores times log2(e)" },
    (p.softcap or p.score) and { "cap", "f32" } or false,
    { "partials", "f32*", each_cta:format(2 * p.rows * p.dim) }, { "part_sums", "f32*", each_cta:format(4 * p.rows) },
    { "counters", "u32*", ("%d for each sequence, zeros before the first launch"):format(p.kv_heads) },
    sink.parameter(p, "sink", "const f32*", given),
  }, function(l) return l.given.tensors end))
end

return module
