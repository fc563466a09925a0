-- The plan of wg.mla_decode: the rows of a CTA, clusters, and how blocks of the cache are copied.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local decode_plan = require "wgrun.attention.decode.plan"
local row_loads = require "wgrun.attention.latent.row_loads"
local native = require "wgrun.native"

local module = {}

-- The elements of a row of the cache: V, and behind it those of the rotary embedding, which only scores see.
local values, rotary = 512, 64

-- What of a block of keys is copied, waited for and given back together: panels of 64 columns, the consumers that read
-- them, and the warp that copies them. V's left half and its right half each have one consumer that weighs it. The last
-- panel has no part of V: scores read it first, and then the probabilities take its place, which both consumers read.
-- Rows that threads copy come in one piece.
local function pieces_of(cluster, copies)
  if copies == "rows" then return { { first = 0, panels = 9, readers = { true, true } } } end
  local pieces = {}
  for first = 0, 6, 2 do
    local right = first >= 4
    pieces[#pieces + 1] = { first = first, panels = 2, readers = { not right, right }, warp = right and 1 or 0 }
  end
  pieces[5] = { first = 8, panels = 1, readers = { true, true }, warp = 2 }
  for _, piece in ipairs(pieces) do piece.copier = piece.warp % cluster end -- a rank
  return pieces
end

--- The plan for the options of wg.mla_decode.
function module.make(opts)
  local name = "wg.mla_decode"
  opts = arguments.options(name, opts)
  local p = { what = name, dim = values + rotary, value_dim = values, block = 64, stages = 2 }
  for _, key in ipairs { "dtype", "heads", "queries", "causal", "page", "lse", "name" } do p[key] = opts[key] end
  p.rows = p.heads * p.queries
  p.format = row_loads.formats[opts.cache_type]
  if p.format and opts.copies then
    native.fail(("%s: copies = `%s` is for caches of the type of Q"):format(name, opts.copies))
  end
  if p.format and p.format.wide and p.format.wide ~= p.dtype then
    native.fail(("%s: rows of %s have columns of %s: dtype must be that, not %s"):format(
      name, opts.cache_type, p.format.wide, p.dtype))
  end
  decode_plan.choose_boxes(p, opts.copies)
  if p.format then p.copies = "converted" end
  p.descale = p.format and p.format.descale or false
  p.cache_dtype, p.cache_row = p.format and p.format.dtype or p.dtype, p.format and p.format.bytes or p.dim
  -- CTAs with the same keys share copies of them by multicast.
  p.cluster = p.rows > 64 and p.copies == "boxes" and 2 or 1
  p.kv_heads = (p.rows + 64 * p.cluster - 1) // (64 * p.cluster) -- for the scheduler: groups of rows
  -- With 64 rows or fewer a block takes longer to come from memory than to multiply.
  p.memory_bound = p.rows <= 64 and not p.format
  p.split_cost = 5 -- blocks of keys: what a sequence in two parts costs
  p.pieces = pieces_of(p.cluster, p.copies)
  -- Warpgroups that copy. Two that convert hide each other's latencies.
  p.copiers = p.format and 2 or 1
  p.threads = 128 * (p.copiers + 2)
  p.registers = p.format and { 64, 192 } or { 40, 232 }
  local function tile(rows, columns)
    return wg.tile { dtype = p.dtype, mn = rows, k = columns, major = "K", swizzle = "128B" }
  end
  p.q, p.k, p.p = tile(64, p.dim), tile(p.block, p.dim), tile(64, p.block)
  p.v = wg.tile { dtype = p.dtype, mn = values, k = p.block, major = "MN", order = "K", swizzle = "128B" }
  p.panel_bytes = p.block * 128
  return p
end

return module
