-- What comes before and after the kernel of wg.attention_backward, row by row. Before it: delta = the sum over a row of
-- dO * O, beside the row's log-sum-exp, and zeroes for dQ. After it: dQ from sums in f32 to the type of the tensor.

local wg = require "wgrun"
local sink = require "wgrun.attention.sink"
local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local warps = require "wgrun.builder.warp"
local native = require "wgrun.native"
local tile_elements = require "wgrun.tile.elements"

local module = {}

local log2e = 1 / math.log(2)

-- How the CTA's threads share rows: `lanes` lanes, a power of two, have a row, each `units` times 16 bytes.
local function sharing(p)
  local units = p.dim // 8 % 3 == 0 and 3 or 1
  local lanes = p.dim // 8 // units
  return { lanes = lanes, units = units, at_a_time = 128 // lanes }
end

-- The words of a row in each lane, by turn.
local function load_rows(k, p, from, at, queries)
  local by = sharing(p)
  local thread, loaded = k:special "tid.x", {}
  local column, down = (thread & (by.lanes - 1)) << 3, division.divided(k, thread, by.lanes)
  for turn = 0, p.rows // by.at_a_time - 1 do
    local row = at.row + down + by.at_a_time * turn
    local first = p.packed and (at.start + row) * p.heads + at.head or p.layout == "bshd"
      and (at.batch * queries + row) * p.heads + at.head
      or at.pair * queries + row
    local words = k:regs("b32", 4 * by.units)
    for i = 0, #words - 1 do k:mov(words[i], 0) end
    local address = k:mad_wide_u32(column, 2, k:mad_wide_u32(first, 2 * p.dim, from))
    for unit = 0, by.units - 1 do
      k:ld_global_v4_b32(words:slice(4 * unit, 4), address, { offset = 16 * by.lanes * unit, guard = row:lt(queries) })
    end
    loaded[turn] = words
  end
  return loaded
end

-- The sum of x * y over a row, in all of its lanes.
local function dot(k, p, x, y)
  local sum, elements = k:mov(0.0, { type = "f32" }), tile_elements.from_output[p.dtype]
  for i = 0, #x - 1 do
    local x0, x1 = elements(k, x[i])
    local y0, y1 = elements(k, y[i])
    sum = k:fma(x1, y1, k:fma(x0, y0, sum))
  end
  return warps.over_lanes(k, sum, function(a, b) return a + b end, sharing(p).lanes)
end

-- Calls body(at, queries) for the CTA's block of queries, unless it lies beyond the end of a packed sequence. Returns
-- the block's number.
local function each_row(k, p, sizes, body)
  local at = { number = k:special "ctaid.x", head = k:special "ctaid.y", batch = k:special "ctaid.z" }
  at.pair = at.batch * p.heads + at.head
  at.row, at.block = at.number * p.rows, at.pair * k:special "nctaid.x" + at.number
  if p.packed then
    local queries
    at.start, queries = tensors.sequence(k, sizes.query_starts, at.batch)
    k:if_(at.row:lt(queries), function() body(at, queries) end)
  else
    body(at, sizes.queries)
  end
  return at.block
end

--- The kernel that prepares a block of queries; its CTAs are block, head and batch.
function module.before(p, list)
  local grid = { "any", p.heads, "any" }
  return wg.kernel(p.name .. "_before", { threads = 128, grid = grid }, function(k)
    local _, sizes = parameters.declare(k, list)
    local thread = k:special "tid.x"
    local of_sink = p.sink and k:mov(0.0, { type = "f32" }) -- the thread's part of its gradient
    local block = each_row(k, p, sizes, function(at, queries)
      local o, gradient = load_rows(k, p, sizes.O, at, queries), load_rows(k, p, sizes.dO, at, queries)

      local zero = k:regs("f32", 4)
      for i = 0, 3 do k:mov(zero[i], 0.0) end
      local mine = k:mad_wide_u32(thread, 16, k:mad_wide_u32(at.block, p.sums_bytes, sizes.sums))
      for i = 0, p.sums_bytes // 2048 - 1 do k:st_global_v4_f32(mine, zero, { offset = 2048 * i }) end

      local out, by = k:mad_wide_u32(at.block, p.stats_bytes, sizes.stats), sharing(p)
      local first = (thread & (by.lanes - 1)):eq(0)
      local down = division.divided(k, thread, by.lanes)
      local deltas = k:mad_wide_u32(down, 4, out)
      local function logarithm_of(row, none)
        local logarithm = k:mov(none, { type = "f32" })
        k:ld_global_f32(
          logarithm,
          k:element(sizes.lse, p.packed and at.head * sizes.total + at.start + row or at.pair * queries + row),
          { guard = row:lt(queries) })
        return logarithm
      end
      local logit = sink.load(k, p, sizes, at.head)
      for turn = 0, #o do
        local delta = dot(k, p, o[turn], gradient[turn])
        k:st_global_f32(
          deltas, p.dropout and delta * sizes.kept or delta,
          { offset = 4 * (p.rows + turn * by.at_a_time), guard = first })
        if logit then
          local logarithm = logarithm_of(at.row + down + by.at_a_time * turn, math.huge)
          sink.add_gradient(k, of_sink, logit, logarithm, delta, first)
        end
      end
      k:if_(thread:lt(p.rows), function()
        local row = at.row + thread
        local logarithm = logarithm_of(row, -math.huge)
        -- Negative, so that it is added to the scores; -inf for rows that see nothing, whose probabilities are 0.
        local value = logarithm * -log2e
        k:mov(value, -math.huge, { guard = logarithm:eq(-math.huge) })
        k:st_global_f32(k:mad_wide_u32(thread, 4, out), value)
      end)
    end)
    if p.sink then sink.store_part(k, sizes, of_sink, block) end
  end)
end

-- Stores the consumer's part of dQ, of a packed sequence.
local function store_rows(k, p, acc, dQ, at, queries, mine, scale)
  local lane, warp = k:special "tid.x" & 31, k:special "tid.x" >> 5 & 3
  local line = (warp << 4) + (lane >> 2) -- of the accumulators
  for r = 0, #acc - 1 do k:mul(acc[r], acc[r], scale) end
  if p.dq ~= "transposed" then
    local by_rows = p.dq == "rows"
    local rows = {
      heads = p.heads, head = at.head, first = at.start, count = queries,
      column = not by_rows and mine * (p.dim // p.shares) or nil,
    }
    return tensors.store_pairs(k, p, acc, dQ, rows, at.row + (by_rows and (mine << 6) + line or line))
  end
  local convert, bytes = tile_elements.to_output[p.dtype], native.element_bytes[p.dtype]
  for r = 0, #acc - 1, 2 do
    local column, halves = (mine << 6) + line + 8 * (r // 2 % 2), k:regs("b16", 2)
    k:unpack(halves, convert(k, acc[r], acc[r + 1]))
    for i = 0, 1 do
      local row = at.row + ((lane & 3) << 1) + (8 * (r // 4) + i)
      local address = k:mad_wide_u32(
        column, bytes, k:mad_wide_u32((at.start + row) * p.heads + at.head, bytes * p.dim, dQ))
      k:st_global_b16(address, halves[i], { guard = row:lt(queries) })
    end
  end
end

--- The kernel that converts dQ of a block; its CTAs are block, head and batch. The sums are in the order of the
--- registers of the consumers that computed them.
function module.after(p, list)
  local grid = { "any", p.heads, "any" }
  return wg.kernel(p.name .. "_after", { threads = 128 * p.shares, grid = grid }, function(k)
    local panel, maps, sizes = p.q_panel, parameters.declare(k, list)
    each_row(k, p, sizes, function(at, queries)
      local thread = k:special "tid.x"
      local mine = thread >> 7
      local from = k:mad_wide_u32(
        mine * p.share_bytes + ((thread & 127) << 4), 1, k:mad_wide_u32(at.block, p.sums_bytes, sizes.sums))
      local acc = k:regs("f32", p.share_bytes // 512)
      for i = 0, #acc // 4 - 1 do k:ld_global_v4_f32(acc:slice(4 * i, 4), from, { offset = 2048 * i }) end
      if p.packed then return store_rows(k, p, acc, sizes.dQ, at, queries, mine, sizes.scale) end
      local place, bytes = tensors.place(p), panel.count * panel.bytes
      local store, finish = k:epilogue {
        panel = panel, map = maps.dQ,
        buffer = k:shared { bytes = p.shares * bytes, align = panel.align, name = "dQ" }, offset = mine * bytes,
        buffers = panel.count, barrier = mine + 1, alpha = sizes.scale,
        place = function(column, row) return place(column, at, row) end,
      }
      -- Transposed, the consumer's accumulators are 64 columns of dQ times all rows.
      if p.dq == "transposed" then
        store(acc, mine << 6, at.row)
      elseif p.dq == "columns" then
        store(acc, at.row, mine * (p.dim // p.shares))
      else
        store(acc, at.row + (mine << 6), k:mov(0, { type = "u32" }))
      end
      finish()
    end)
    if p.sink then sink.add_parts(k, p, sizes) end
  end)
end

return module
