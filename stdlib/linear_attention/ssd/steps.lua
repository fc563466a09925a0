-- The gates of a chunk, by a warp for each head of the CTA: what the others need of dt and A, in arrays of 64 words in
-- shared memory. A lane has two tokens next to each other. Tokens beyond the end of the sequence have dt = 0: they
-- change nothing.

local gates = require "wgrun.linear_attention.gates"
local activation = require "wgrun.tile.activation"
local elements = require "wgrun.tile.elements"

local module = {}

local log2_e <const> = math.log(math.exp(1), 2)

module.log2_e = log2_e

-- log(1 + exp x) = max(x, 0) + log(1 + e), with e = exp -|x|; and log(1 + e) is twice the inverse hyperbolic tangent of
-- s = e / (2 + e), which is at most 1/3. By a series, since lg2.approx near 1 has errors as large as a small dt.
local function softplus(k, x)
  local e = k:ex2_approx_ftz(k:abs(x) * -log2_e)
  local s = e * k:rcp_approx_ftz(e + 2.0)
  local square = s * s
  local sum = k:mov(2 / 13, { type = "f32" })
  for n = 11, 1, -2 do sum = k:fma(sum, square, 2 / n) end
  return k:fma(sum, s, k:max(x, 0.0))
end

--- Returns load(chunk, head, to): loads dt of the lane's two tokens of a chunk to the registers of `module.registers`,
--- as they lie in memory. at: has start and tokens, the first token in the tensors and their number from there.
function module.loader(g, lane)
  local k, p, at, dt = g.k, g.p, g.at, g.sizes.dt
  local first = p.packed and at.start or at.batch * g.sizes.tokens + at.start
  local load = p.dt_dtype == "f32" and "ld_global_f32" or "ld_global_b16"
  return function(chunk, head, to)
    local token = (chunk << 6) + (lane << 1)
    for i = 0, 1 do
      local place = k:element(dt, k:mad_wide_u32(first + token + i, p.heads, k:cvt_u64_u32(head)))
      k[load](k, to[i], place, { guard = (token + i):lt(at.tokens) })
    end
  end
end

--- Registers for dt as it lies in memory.
function module.registers(k, p)
  local out = k:regs(p.dt_dtype == "f32" and "f32" or "b16", 2)
  for i = 0, 1 do k:mov(out[i], 0) end
  return out
end

--- Calls body(number, dt, next) for each number below `count`: dt are the registers that load(number, dt) has filled,
--- and body calls next when it has read them. Loads are two turns ahead: memory takes longer than a turn.
function module.each(k, p, count, load, body)
  local sets = { [0] = module.registers(k, p), module.registers(k, p) }
  for i = 0, 1 do load(k:mov(i, { type = "u32" }), sets[i]) end
  k:loop({ from = 0, to = count, step = 2 }, function(first)
    local function turn(i)
      local number = first + i
      body(number, sets[i], function() load(number + 2, sets[i]) end)
    end
    turn(0)
    k:if_((first + 1):lt(count), function() turn(1) end)
  end)
end

--- The dt of a token from that in memory, 0 where it is not `inside`, and a function that gives its derivative. bias: a
--- register, where there is one.
function module.step(k, p, given, bias, inside)
  local raw = p.dt_dtype == "f32" and given or k["cvt_f32_" .. p.dt_dtype](k, given)
  if bias then raw = raw + bias end
  local smooth = p.dt_softplus and softplus(k, raw) or raw
  local least, most = p.dt_limit[1], p.dt_limit[2]
  local dt = k:max(smooth, least)
  if most < math.huge then dt = k:min(dt, most) end
  return k:selp(dt, 0.0, inside), function()
    local slope = k:mov(1.0, { type = "f32" })
    if p.dt_softplus then slope = activation.named("wg.ssd", "sigmoid")(k, raw) end
    local free = inside & smooth:ge(least)
    if most < math.huge then free = free & smooth:le(most) end
    return k:selp(slope, 0.0, free)
  end
end

-- Stores the arrays of a chunk from the address on. dt and sums are of the lane's tokens, total of the last one. With G
-- the sum of A dt within the chunk: sum, G in units of log2; source, the same less the logarithm of dt; scaled, exp G;
-- rest, dt exp(G_63 - G) as two numbers of 16 bits, whose sum it is: a word of those of two tokens, and a word of what
-- they lack; before, for each 16 rows of P what the tokens before them weigh in the first of the rows.
local function store_arrays(g, lane, to, dt, sums, total)
  local k, p, offsets = g.k, g.p, gates.places(g.k, g.p, g.buffers.gates)
  local function store(name, x, y, offset)
    k:st_shared_v2_b32(to, { x, y }, { offset = offsets[name] + (offset or 0) })
  end
  local rest = {}
  for i = 0, 1 do rest[i] = dt[i] * k:ex2_approx_ftz(total - sums[i]) end
  store("sum", sums[0], sums[1])
  store("scaled", k:ex2_approx_ftz(sums[0]), k:ex2_approx_ftz(sums[1]))
  store("rest", module.in_two(k, p, rest[0], rest[1]))
  if p.summary then return end
  local source = { [0] = sums[0] - k:lg2_approx_ftz(dt[0]), sums[1] - k:lg2_approx_ftz(dt[1]) }
  store("source", source[0], source[1])
  for rows = 0, 3 do
    local first, before = k:reg "f32", lane:lt(8 * rows)
    k:shfl_sync_idx_b32(first, sums[0], 8 * rows, 31)
    local function weight(i) return k:selp(k:ex2_approx_ftz(first - source[i]), 0.0, before) end
    store("before", weight(0), weight(1), 4 * p.chunk * rows)
  end
end

--- The sums of A dt up to the lane's two tokens, and up to the last one: rate is A, in units of log2.
function module.sums(k, dt, rate, lane)
  local first = dt[0] * rate
  local both = k:fma(dt[1], rate, first)
  local last = gates.prefix_sums(k, both, lane)
  local total = k:reg "f32"
  k:shfl_sync_idx_b32(total, last, 31, 31)
  return { [0] = last - both + first, last }, total
end

--- Two numbers as the sums of two elements of the type of x each: a word of those rounded, and one of what they lack.
function module.in_two(k, p, x, y)
  local high = elements.to_output[p.dtype](k, x, y)
  local of_x, of_y = elements.from_output[p.dtype](k, high)
  return high, elements.to_output[p.dtype](k, x - of_x, y - of_y)
end

--- The role of the warp of a head: `number`, a register, among those of the CTA. each(cursor, chunk) is called where
--- the stage of a chunk is free, if it is given.
function module.emit(g, number, each)
  local k, p, ring, head = g.k, g.p, g.rings.keys, g.at.head + number
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local load = module.loader(g, lane)
  local bias = p.dt_bias and k:ld_global_f32(k:element(g.sizes.dt_bias, head))
  local rate = k:ld_global_f32(k:element(g.sizes.A, head)) * log2_e
  module.each(k, p, g.at.chunks, function(chunk, to) load(chunk, head, to) end, function(chunk, given, next)
    ring:acquire(cursor)
    if each then each(cursor, chunk) end
    local dt, token = {}, (chunk << 6) + (lane << 1)
    for i = 0, 1 do dt[i] = module.step(k, p, given[i], bias, (token + i):lt(g.at.tokens)) end
    next()
    local sums, total = module.sums(k, dt, rate, lane)
    local to = k:address(g.buffers.gates, (cursor.stage * p.gated + number) * p.gates.bytes) + (lane << 3)
    store_arrays(g, lane, to, dt, sums, total)
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

return module
