-- The main kernel of wg.ssd_backward: the gradients of all that a chunk of 64 tokens has, from the state S that it
-- begins with and the gradient R of the state that it ends with, which another kernel has stored (states.lua). With G
-- the sum of A dt within the chunk and W = tril(exp(G_i - G_j)):
--
--   v = diag(exp(G_63 - G)) B R^T + (W * (C B^T))^T dY,   dx = diag(dt) v + D dY,   E = W * (dY x^T)
--   dC = diag(exp G) dY S + E diag(dt) B,   dB = diag(dt exp(G_63 - G)) x R + diag(dt) E^T C
--
-- where dB and dC are sums over the heads of a group. A CTA has a chunk, and the heads of a group or a slice of them,
-- one after the other, in units of 64 columns: dB and dC stay in accumulators of two warpgroups, one for each
-- (side.lua). In the first warpgroup a warp copies and makes exponentials (chunk_arrays.lua), one multiplies both
-- states, one finds the gradients of dt (token_sums.lua), and one stores dx.

local wg = require "wgrun"
local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local records = require "wgrun.linear_attention.records"
local token_sums = require "wgrun.linear_attention.ssd.backward.token_sums"
local chunk_arrays = require "wgrun.linear_attention.ssd.backward.chunk_arrays"
local side = require "wgrun.linear_attention.ssd.backward.side"
local panels = require "wgrun.tile.panel"

local module = {}

local function stages_of(k, p)
  -- Bytes, not tiles: products read them along either extent.
  local function bytes(name, count) return k:shared { bytes = count, align = 1024, name = name } end
  local buffers, rings = {
    B = bytes("B", p.k.bytes), C = bytes("C", p.k.bytes), V = bytes("x", p.stages * p.v.bytes),
    dY = bytes("dY", p.stages * p.v.bytes),
    S = bytes("S", p.stages * p.state_bytes), R = bytes("R", p.stages * p.state_bytes), dx = bytes("dx", p.panel.bytes),
    y = p.z and bytes("y", p.panel.bytes), gates = bytes("gates", p.stages * p.gates.bytes),
    sums = bytes("sums", 2 * p.sums.bytes), pairs = bytes("pairs", p.v.bytes),
  }, {
    rows = k:pipeline { stages = 1, name = "rows" },
    -- read by both warpgroups and the warps that finish, multiply the states and sum up for D
    keys = k:pipeline { stages = p.stages, producers = 3, arrivals = 8 + 2 + (p.D and 1 or 0), name = "keys" },
    sums = k:pipeline { stages = 2, producers = 9, name = "sums" },
    pairs = k:pipeline { stages = 1, producers = 4, name = "pairs" },
    dx = k:pipeline { stages = 1, producers = 4, name = "dx" },
    y = p.z and k:pipeline { stages = 1, producers = 4, name = "y" },
  }
  return buffers, rings
end

-- The chunk of a CTA: record, its number; chunk, its number in the sequence; start, the sequence's first token in the
-- tensors' own dimension, and first, in all rows; tokens, those of the sequence, 0 where no sequence has the chunk.
local function chunk_of(g)
  local k, p, at = g.k, g.p, {}
  at.record = k:special "ctaid.x"
  if p.packed then
    at.chunk, at.start, at.tokens = records.sequence(k, g.sizes, at.record)
    at.first = at.start
  else
    at.chunk, at.batch, at.tokens = at.record, k:special "ctaid.z", g.sizes.tokens
    at.start, at.first = k:mov(0, { type = "u32" }), at.batch * at.tokens
    at.record = at.batch * ((at.tokens + 63) >> 6) + at.chunk
  end
  local number = k:special "ctaid.y"
  at.qk_head = division.divided(k, number, p.slices)
  at.slice = number - at.qk_head * p.slices
  at.unit = number * p.units -- the first one
  return at
end

-- The warp that stores results from their panels, and before that sums up for D.
local function store(g)
  local k, p, at = g.k, g.p, g.at
  local lane, place, list = k:special "tid.x" & 31, tensors.place(p), {}
  for _, name in ipairs { "dx", "y" } do
    if g.rings[name] then
      list[#list + 1] = { name = name, from = k:address(g.buffers[name]), cursor = g.rings[name]:cursor() }
    end
  end
  local add, leader = p.D and token_sums.skip(g), lane:eq(0)
  local row, last = at.start + (at.chunk << 6), at.start + at.tokens
  k:loop(p.units, function(number)
    local unit = g.unit(number)
    if add then add(number) end
    for _, one in ipairs(list) do
      local ring = g.rings[one.name]
      ring:wait(one.cursor)
      k:fence_proxy_async { space = "shared::cta" }
      local function copy_whole()
        k:if_(leader, function()
          local where = place(unit.column, { head = unit.head, batch = at.batch }, row)
          k["cp_async_bulk_tensor_store_" .. #where .. "d"](k, g.maps[one.name], where, one.from)
          k:cp_async_bulk_commit_group()
          k:cp_async_bulk_wait_group(0, { read = true })
        end)
      end
      if p.packed then
        k:if_((row + p.chunk):le(last), copy_whole, function()
          local rows = { to = g.sizes[one.name .. "_rows"], width = p.heads * p.value_dim }
          panels.copy_rows(k, p.panel, one.from, lane, rows, row, unit.number * p.columns, last, 32)
          k:bar_warp_sync(0xFFFFFFFF)
        end)
      else
        copy_whole()
      end
      k:mbarrier_arrive(ring:empty_barrier(one.cursor), { guard = leader })
      k:xor(one.cursor.phase, one.cursor.phase, 1)
    end
  end)
end

-- Copies B and C of the chunk, by one thread.
local function copy_rows(g)
  local k, p, ring = g.k, g.p, g.rings.rows
  local cursor = ring:cursor()
  local list = {}
  for _, pair in ipairs { { "B", "K" }, { "C", "Q" } } do
    list[#list + 1] = copies.operand(k, p.k, g.maps[pair[2]], k:address(g.buffers[pair[1]]), g.at.qk_head)
  end
  copies.copier(g, ring, list)(cursor, g.at.chunk)
end

-- The roles of the first warpgroup, a warp each.
local function serve(g)
  local k = g.k
  local warp = k:shfl_sync_idx_b32(k:special "tid.x" >> 5, 0, 31)
  k:setmaxnreg_dec(g.p.registers.service)
  k:if_(warp:eq(0), function()
    k:if_(k:special "tid.x":eq(0), function() copy_rows(g) end)
    chunk_arrays.emit(g)
  end)
  k:if_(warp:eq(1), function() token_sums.emit(g) end)
  k:if_(warp:eq(2), function() token_sums.states(g) end)
  k:if_(warp:eq(3), function() store(g) end)
end

--- The kernel of a plan (of plan.make), with these parameters; its CTAs are chunk, group and slice of its heads, and
--- sequence where they are not packed. While it is emitted it is a table `g`, as that of wg.delta_rule
--- (linear_attention/kernel.lua); g.unit(number) is the place of a unit of the CTA: head, column, and number among all.
function module.make(p, list)
  p.threads = 384
  local grid = { "any", p.qk_heads * p.slices, p.packed and 1 or "any" }
  return wg.kernel(p.name, { threads = p.threads, grid = grid }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "V", "dY", "K", "Q", "dx", "y" } do
        if g.maps[name] then k:prefetch_tensormap(g.maps[name]) end
      end
      for _, name in ipairs { "rows", "keys", "sums", "pairs", "dx", "y" } do
        if g.rings[name] then g.rings[name]:init() end
      end
    end)
    k:bar_sync(0)
    g.at = chunk_of(g)
    function g.unit(number)
      local unit = { number = g.at.unit + number }
      unit.head = division.divided(k, unit.number, p.head_units)
      unit.column = (unit.number - unit.head * p.head_units) * p.columns
      return unit
    end
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    local function work()
      k:if_(role:eq(0), function() serve(g) end, function()
        k:setmaxnreg_inc(p.registers.side)
        k:if_(role:eq(1), function() side.emit(g, side.queries) end, function() side.emit(g, side.keys) end)
      end)
    end
    if p.packed then
      k:if_((g.at.chunk << 6):lt(g.at.tokens), work, function() token_sums.nothing(g) end)
    else
      work()
    end
  end)
end

return module
