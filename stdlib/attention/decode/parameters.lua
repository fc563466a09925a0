-- The parameters of wg.attention_decode's kernel (builder/parameters.lua), which its launches and what it exports follow.

local parameters = require "wgrun.builder.parameters"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.make(p)
  return parameters.list(function(add_one)
    local function add(name, type, note)
      local map = type == nil and {
        dtype = p.dtype, box = p.layout == "bshd" and { 64, 1, p.box_rows, 1 } or { 64, p.box_rows, 1, 1 }, swizzle = "128B", constant = true,
      } or nil
      add_one { name = name, type = type, map = map, value = function(l) return l[name] end, note = note }
    end
    local tensor = "const " .. p.dtype .. "*"
    add("Q", tensor)
    for _, name in ipairs { "K", "V" } do add(name, p.copies == "rows" and tensor or nil) end
    add("O", p.dtype .. "*")
    if p.lse then add("lse", "f32*") end
    add("lengths", "const s32*")
    if p.page then
      add("pages", "const s32*", ("%d keys each, for each sequence table_width numbers of pages"):format(p.page))
      add("table_width", "u32")
    end
    add("keys", "u32", "the most keys that a sequence can have")
    add("batches", "u32")
    add("together", "u32", ("heads of K and V that CTAs side by side work on: divides %d"):format(p.kv_heads))
    add("rounds", "u32", "the most stretches that a CTA has")
    add("scale_log2", "f32", "the factor of the scores times log2(e)")
    add("partials", "f32*", ("%d elements for each CTA of the grid, times rounds"):format(2 * p.rows * p.dim))
    add("part_sums", "f32*", ("%d elements for each CTA of the grid, times rounds"):format(4 * p.rows))
    add("counters", "u32*", ("%d for each sequence, zeros before the first launch"):format(p.kv_heads))
  end)
end

return module
