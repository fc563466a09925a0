-- The plan of wg.attention_decode: warps, blocks of keys and stages for a head size, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local attention_options = require "wgrun.attention.options"
local native = require "wgrun.native"

local module = {}

local fail, options = native.fail, arguments.options

-- TMA copies boxes of fewer rows more slowly than threads copy the rows (docs/experiments/decoding.md).
local least_box = 8

-- Bytes of shared memory in which warps exchange their sums: more would take the place of a block of keys.
local most_exchanged = 20480

-- Bytes that a CTA's copies in flight fill: with more memory is slower (docs/experiments/decoding.md). At head size 64
-- two CTAs fit onto an SM, and the next launch's wait there for the end of this one's.
local function most_in_flight(p)
  if p.dim > 64 then return p.dim == 512 and 196608 or 131072 end -- three of its blocks
  return p.page and 98304 or 65536
end

local function greatest_divisor(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- Warps that compute, each with 16 of the packed rows and a slice of each block's keys, and the keys of a block. Of 512
-- columns a warp has registers for the sums of a quarter: four warps compute the same scores.
local function share_out(p, block)
  p.warps = p.rows > 16 and p.dim <= 128 and 8 or 4
  p.row_groups = p.rows <= 16 and 1 or p.rows <= 32 and 2 or 4
  p.column_groups = p.dim == 512 and 4 or 1
  p.own_columns = p.dim // p.column_groups
  p.key_groups = p.warps // (p.row_groups * p.column_groups)
  -- With 256 columns the sums take so many registers that scores of 16 keys are what fits.
  p.block = block or p.key_groups * (p.dim <= 128 and 32 or 16) * (p.column_groups > 1 and 2 or 1)
  p.slice = p.block // p.key_groups
  if p.slice * p.key_groups ~= p.block or p.slice % 16 ~= 0 then
    fail((
      "wg.attention_decode: block is %d, must be a multiple of %d: 16 keys for each of %d warps that share the keys"
    ):format(
      p.block, 16 * p.key_groups, p.key_groups))
  end
end

--- How blocks of keys are copied to shared memory: "boxes" by TMA, or "rows" by threads, which can collect rows from
--- anywhere. copies: the option of the function p.what.
function module.choose_boxes(p, copies)
  p.box_rows = p.page and greatest_divisor(p.page, p.block) or p.block
  p.copies = copies or (p.box_rows < least_box and "rows" or "boxes")
  if p.copies == "rows" and not p.page then fail(p.what .. ": copies = `rows` is for pages") end
end

-- Who copies.
local function choose_loaders(p)
  if p.copies == "rows" then
    p.loaders = p.warps + 8 <= 12 and p.dim <= 128 and 8 or 4
  else
    -- A warp for each panel of K and of V, where a block has many boxes.
    p.loaders = p.box_rows < p.block and math.min(4, 2 * p.panels) or 1
  end
  p.threads = (p.warps + p.loaders) * 32
end

-- Shared memory: what the warps exchange at the end of a work unit, and as many stages as fit beside it.
local function choose_stages(p, stages)
  -- The f32 in a line of the exchange are eight more, so that four lines lie in different banks. Many rows are
  -- exchanged in several rounds of columns.
  local function exchange() return p.key_groups * p.rows * (p.columns + 8) * 4 end
  p.columns = p.dim
  while p.column_groups == 1 and exchange() > most_exchanged and p.columns > 32 do p.columns = p.columns // 2 end
  p.pitch, p.exchange_bytes = p.columns + 8, exchange()
  p.sums_bytes = p.key_groups * p.rows * 8
  p.tile_bytes = p.block * p.dim * 2
  local function left_of(bytes) return bytes - p.exchange_bytes - p.sums_bytes - 2048 end
  local left, stage = left_of(wg.target.cta_shared), 2 * p.tile_bytes
  p.stages = stages or math.max(2, math.min(16, left // stage, most_in_flight(p) // stage))
  if p.stages * stage > left then
    fail(("wg.attention_decode: %d blocks of %d keys take %d bytes of shared memory, and there are %d"):format(
      p.stages, p.block, p.stages * stage, left))
  end
end

--- The plan for the options of wg.attention_decode.
function module.make(opts)
  local name = "wg.attention_decode"
  opts = options(name, opts)
  local function whole(key, value, least, most) return arguments.whole(name .. ": " .. key, value, least, most) end
  local p = attention_options.plan(name, opts)
  p.queries, p.page = opts.queries, opts.page
  p.sharing = p.heads // p.kv_heads
  p.rows = p.sharing * p.queries
  local most = p.dim == 512 and 16 or 64
  if p.rows > most then
    fail((
      "%s: %d queries of %d heads that share K and V are %d rows, and at most %d are possible (wg.attention takes any "
        .. "number)"):format(
      name, p.queries, p.sharing, p.rows, most))
  end
  p.row_halves = p.rows <= 8 and 1 or 2 -- of a warp's 16 rows, those that are used
  p.panels = p.dim // 64
  p.together = opts.together and whole("together", opts.together, 1, p.kv_heads)
  if p.together and p.kv_heads % p.together ~= 0 then
    fail(("%s: together is %d, must divide the %d heads of K and V"):format(name, p.together, p.kv_heads))
  end
  share_out(p, opts.block)
  module.choose_boxes(p, opts.copies)
  choose_loaders(p)
  choose_stages(p, opts.stages and whole("stages", opts.stages, 2, 16))
  return p
end

return module
