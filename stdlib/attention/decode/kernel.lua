-- The kernel of wg.attention_decode: few queries against long K and V, as FlashDecoding does it (Dao, Haziza et al.
-- 2023). Memory is the limit, so every SM has to read without a pause, and equally much.
--
-- Persistent CTAs share the keys equally (attention/decode/scheduler.lua). Loader warps keep a ring of blocks full,
-- also across the ends of units (attention/decode/copies.lua). The queries of all heads that share K and V are packed
-- into rows: 16 for each compute warp, which multiplies them by its own slice of a block's keys with mma.sync
-- (attention/decode/block.lua). Warps with different keys need nothing from each other until the work unit ends and
-- their sums are added up (attention/decode/finish.lua).

local wg = require "wgrun"
local decode_block = require "wgrun.attention.decode.block"
local copies = require "wgrun.attention.decode.copies"
local finish = require "wgrun.attention.decode.finish"
local decode_scheduler = require "wgrun.attention.decode.scheduler"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local warps = require "wgrun.builder.warp"

local module = {}

-- What a compute warp has: for each half of its rows, the thread's row with the running maximum and the thread's part
-- of the sum of exponentials; the sums of the rows of V that these weigh; and the queries, as operand A.
local function compute_warp(k, p, sizes, warp)
  local number = warp.number
  if p.column_groups > 1 then
    warp.column_group = number & (p.column_groups - 1)
    number = division.divided(k, number, p.column_groups)
  end
  local row_group = division.divided(k, number, p.key_groups)
  warp.key_group = number - row_group * p.key_groups
  local me = { k = k, p = p, warp = warp, sizes = sizes, scale = sizes.scale_log2, rows = {} }
  me.column = (warp.lane & 3) << 1
  for half = 0, p.row_halves - 1 do
    local own = { number = (row_group << 4) + (warp.lane >> 2) + 8 * half, maximum = k:reg "f32", sum = k:reg "f32" }
    own.top = function() return own.maximum * me.scale end
    own.whole_sum = function() return warps.over_lanes(k, own.sum, function(x, y) return k:add(x, y) end) end
    me.rows[half] = own
  end
  me.acc, me.q = k:regs("f32", p.own_columns // 2), k:regs("b32", p.dim // 4)
  for r = 0, #me.q - 1 do k:mov(me.q[r], 0) end -- rows that are not used stay 0
  return me
end

-- Loads the packed queries (PTX ISA 9.7.14.5.8, figure of the A fragment): registers 4 step + 2 (later eight columns) +
-- half.
local function load_queries(me, Q, at)
  local k, p = me.k, me.p
  for half = 0, p.row_halves - 1 do
    local row = me.rows[half].number
    local from = k:element(Q, (finish.place(k, p, at, row)) + me.column)
    for r = half, #me.q - 1, 2 do k:ld_global_b32(me.q[r], from, { offset = 16 * (r // 2), guard = row:lt(p.rows) }) end
  end
end

-- Nothing has been seen yet.
local function clear_sums(me)
  for r = 0, #me.acc - 1 do me.k:mov(me.acc[r], 0.0) end
  for half = 0, me.p.row_halves - 1 do
    me.k:mov(me.rows[half].maximum, finish.nothing)
    me.k:mov(me.rows[half].sum, 0.0)
  end
end

-- The role of a compute warp.
local function compute(k, p, sizes, buffers, ring, work, warp)
  local me = compute_warp(k, p, sizes, warp)
  local step = decode_block.emit(me, ring, buffers.kv)
  local units = finish.emit(me, buffers, work)

  work.each_unit(function(at, count)
    load_queries(me, sizes.Q, at)
    local unit = units.begin(at, count)
    clear_sums(me)
    local block, to = k:mov(at.block, { type = "u32" }), at.block + count
    -- Blocks that all queries see completely need no mask.
    local hidden = p.causal and p.queries - 1 or 0
    local clear = k:min(division.divided(k, k:max(at.length, hidden) - hidden, p.block), to)
    for _, masked in ipairs { false, true } do
      k:while_(function() return block:lt(masked and to or clear) end, function()
        k:if_((block + 1):eq(to), function() units.look(unit, at) end)
        step(at, block, masked)
        k:add(block, block, 1)
      end)
    end
    units.finish(unit, at)
  end)
end

--- The kernel of a plan (of plan.make), with these parameters.
function module.make(p, list)
  local kernel = wg.kernel(p.name, { threads = p.threads }, function(k)
    local maps, sizes = parameters.declare(k, list)
    sizes.maps = next(maps) and maps
    local buffers = {
      kv = k:shared { bytes = p.stages * 2 * p.tile_bytes, align = 1024, name = "kv" },
      exchange = k:shared { bytes = p.exchange_bytes, align = 16, name = "exchange" },
      sums = k:shared { bytes = p.sums_bytes, align = 8, name = "sums" },
      flags = k:shared { bytes = 8, align = 4, name = "flags" },
    }
    local ring = k:pipeline { stages = p.stages, arrivals = p.warps, producers = copies.producers(p) }
    local thread = k:special "tid.x"
    local warp = { lane = thread & 31, number = k:reg "u32" }
    k:shfl_sync_idx_b32(warp.number, thread >> 5, 0, 31)
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "K", "V" } do
        if sizes.maps then k:prefetch_tensormap(sizes.maps[name]) end
      end
      ring:init()
    end)
    -- The next grid of the stream may start now, as this one may have before the previous grid's results were there.
    k:griddepcontrol_launch_dependents()
    local work = decode_scheduler.emit(k, p, sizes, warp.lane)
    k:bar_sync(0)
    k:if_(warp.number:lt(p.warps), function()
      compute(k, p, sizes, buffers, ring, work, warp)
    end, function()
      copies.emit(k, p, sizes, ring, buffers.kv, work, thread - 32 * p.warps)
    end)
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
