-- The parameters of wg.mla_decode's kernel (builder/parameters.lua), which its launches and what it exports follow.

local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  local const = "const " .. p.dtype .. "*"
  local boxes = p.copies == "boxes"
    and { dtype = p.dtype, box = { 64, p.box_rows, 1 }, swizzle = "128B", constant = true } or nil
  local each_cta = "%d elements for each CTA of the grid, times rounds"
  return parameters.rows {
    { "Q", const }, { "cache", not boxes and ("const %s*"):format(p.cache_dtype) or nil, map = boxes },
    { "O", p.dtype .. "*" },
    p.lse and { "lse", "f32*" }, { "lengths", "const s32*" },
    p.page
      and { "pages", "const s32*", ("%d keys each, for each sequence table_width numbers of pages"):format(p.page) }
      or false,
    p.page and { "table_width", "u32" } or false,
    { "keys", "u32", "the most keys that a sequence can have" }, { "batches", "u32" },
    { "together", "u32", ("%d: groups of rows with the same keys"):format(p.kv_heads) },
    { "rounds", "u32", "the most stretches that a CTA has" },
    p.descale and { "descale", "const f32*", "one factor of all elements of the cache" } or false,
    { "scale_log2", "f32", "the factor of the scores times log2(e)" },
    { "partials", "f32*", each_cta:format(2 * 64 * p.value_dim) }, { "part_sums", "f32*", each_cta:format(4 * 64) },
    {
      "counters", "u32*",
      ("%d for each sequence, zeros before the first launch"):format(2 * p.kv_heads * p.cluster),
    },
  }
end

return module
