-- The plan of wg.mla_decode: the rows of a CTA, clusters, and how blocks of the cache are copied.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local decode_plan = require "wgrun.attention.decode.plan"
local native = require "wgrun.native"

local module = {}

-- The elements of a row of the cache: V, and behind it those of the rotary embedding, which only scores see.
local values, rotary = 512, 64

-- What of a block of keys is copied, waited for and given back together: panels of 64 columns, and the warpgroups that
-- read them. V's left half and its right half each have one that weighs it. The last panel has no part of V: scores
-- read it first, and then the probabilities take its place, which both read.
-- Rows that threads copy come in one piece.
local function pieces_of(cluster, copies, fine)
  if copies == "rows" then return { { first = 0, panels = 9, readers = { true, true } } } end
  local pieces = {
    { first = 0, panels = 4, readers = { true, false } }, { first = 4, panels = 4, readers = { false, true } },
    { first = 8, panels = 1, readers = { true, true } },
  }
  if fine > 0 then
    pieces = {}
    for first = 0, 7, fine do
      pieces[#pieces + 1] = {
        first = first, panels = fine, readers = { first < 4, first >= 4 }, warp = first // 4,
      }
    end
    pieces[#pieces + 1] = { first = 8, panels = 1, readers = { true, true }, warp = 2 }
  end
  for i, piece in ipairs(pieces) do piece.warp = piece.warp or i - 1 end
  for _, piece in ipairs(pieces) do piece.copier = piece.warp % cluster end
  return pieces
end

--- The plan for the options of wg.mla_decode.
function module.make(opts)
  local name = "wg.mla_decode"
  opts = arguments.options(name, opts)
  local p = { what = name, dim = values + rotary, value_dim = values, block = 64, stages = 2, threads = 384 }
  for _, key in ipairs { "dtype", "heads", "queries", "causal", "page", "lse", "name" } do p[key] = opts[key] end
  p.rows = p.heads * p.queries
  if p.rows > 65535 then
    native.fail(("%s: %d queries of %d heads are %d rows, and at most 65535 are possible"):format(
      name, p.queries, p.heads, p.rows))
  end
  decode_plan.choose_boxes(p, opts.copies)
  -- CTAs with the same keys share copies of them by multicast.
  p.cluster = p.rows > 64 and p.copies == "boxes" and 2 or 1
  local function dev(flag, default) return tonumber(p.name:match("_" .. flag .. "(%d+)") or default) end -- DEV
  p.cluster = dev("c", p.cluster) -- DEV
  p.memory_bound = dev("m", p.rows <= 64 and 1 or 0) == 1 -- DEV
  p.prefetch = dev("f", p.memory_bound and 0 or 1) -- DEV
  p.fine = dev("s", 4) -- DEV
  p.variants = dev("v", 1) -- DEV
  p.old_order = dev("o", 0) -- DEV
  p.E, p.x = dev("E", 1), dev("x", 0) -- DEV
  p.y = dev("y", p.memory_bound and 0 or 1) -- DEV
  p.own_shared = dev("a", 1) -- DEV
  p.right_first = dev("q", 0) -- DEV
  p.no_policy = dev("n", 0) -- DEV
  p.split_cost = dev("w", 5) -- blocks
  p.kv_heads = (p.rows + 64 * p.cluster - 1) // (64 * p.cluster) -- for the scheduler: groups of rows
  p.pieces = pieces_of(p.cluster, p.copies, p.fine)
  p.registers = dev("r", 0) == 1 and { 24, 240 } or { 40, 232 }
  local function tile(rows, columns)
    return wg.tile { dtype = p.dtype, mn = rows, k = columns, major = "K", swizzle = "128B" }
  end
  p.q, p.k, p.p = tile(64, p.dim), tile(p.block, p.dim), tile(64, p.block)
  p.v = wg.tile { dtype = p.dtype, mn = values, k = p.block, major = "MN", order = "K", swizzle = "128B" }
  p.panel_bytes = p.block * 128
  return p
end

return module
