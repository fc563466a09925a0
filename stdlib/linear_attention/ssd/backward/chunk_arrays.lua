-- The first warp of wg.ssd_backward's kernel: a thread copies what a unit, 64 columns of a head, has in a chunk, and
-- the lanes, each of which has two tokens next to each other, make arrays of 64 f32. With G the sum of A dt within the
-- chunk: i, G in units of log2, and for tokens beyond the end of the sequence -inf, so that they weigh nothing where
-- they come after others; j, G alone; dt, which is 0 beyond the end; slope, the derivative of dt; scaled, exp G; rest,
-- exp(G_63 - G).

local copies = require "wgrun.linear_attention.copies"
local arrays = require "wgrun.linear_attention.gates"
local steps = require "wgrun.linear_attention.ssd.steps"

local module = {}

-- Copies x, dY and both states of a unit, by one thread.
local function copy(g, cursor, unit)
  local k, p, at, ring, buffers = g.k, g.p, g.at, g.rings.keys, g.buffers
  local values = {}
  for _, name in ipairs { "V", "dY" } do
    values[#values + 1] = copies.operand(
      k, p.v, g.maps[name], k:address(buffers[name]), unit.head, { column = unit.column })
  end
  copies.copier(g, ring, values, true)(cursor, at.chunk)
  local barrier, units = ring:expect(cursor, 2 * p.state_bytes), p.heads * p.head_units
  for i, name in ipairs { "S", "R" } do
    local record = i == 1 and at.record or at.record + g.sizes.records
    local from = k:mad_wide_u32(record * units + unit.number, p.state_bytes, g.sizes.states)
    k:cp_async_bulk(k:address(buffers[name], cursor.stage * p.state_bytes), from, p.state_bytes, barrier)
  end
end

--- The role of the warp.
function module.emit(g)
  local k, p, at, ring = g.k, g.p, g.at, g.rings.keys
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local offsets, stage_at = arrays.places(k, p, g.buffers.gates)
  local load, next_dt = steps.loader(g, lane), steps.registers(k, p)
  local next_rate, next_bias = k:reg "f32", p.dt_bias and k:reg "f32"
  local function load_head(head)
    load(at.chunk, head, next_dt)
    k:ld_global_f32(next_rate, k:element(g.sizes.A, head))
    if next_bias then k:ld_global_f32(next_bias, k:element(g.sizes.dt_bias, head)) end
  end
  load_head(g.unit(k:mov(0, { type = "u32" })).head)
  k:loop(p.units, function(number)
    ring:acquire(cursor)
    k:if_(lane:eq(0), function() copy(g, cursor, g.unit(number)) end)
    local dt, slope, inside, token = {}, {}, {}, (at.chunk << 6) + (lane << 1)
    for i = 0, 1 do
      inside[i] = (token + i):lt(at.tokens)
      local value, derivative = steps.step(k, p, next_dt[i], next_bias, inside[i])
      dt[i], slope[i] = value, derivative()
    end
    local rate = next_rate * steps.log2_e
    load_head(g.unit(k:min(number + 1, p.units - 1)).head)
    local sums, total = steps.sums(k, dt, rate, lane)
    local to = stage_at(cursor.stage) + (lane << 3)
    local function store(name, value)
      k:st_shared_v2_b32(to, { value(0), value(1) }, { offset = offsets[name] })
    end
    local ends = {}
    for i = 0, 1 do ends[i] = k:selp(sums[i], -math.huge, inside[i]) end
    store("i", function(i) return ends[i] end)
    store("j", function(i) return sums[i] end)
    store("dt", function(i) return dt[i] end)
    store("slope", function(i) return slope[i] end)
    store("scaled", function(i) return k:ex2_approx_ftz(ends[i]) end)
    store("rest", function(i) return k:ex2_approx_ftz(total - sums[i]) end)
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

return module
