-- The gates of a chunk, by one warp: what the others need of dt and A, in arrays of 64 f32 in shared memory. A lane has
-- two tokens next to each other. Tokens beyond the end of the sequence have dt = 0: they change nothing.

local gates = require "wgrun.linear_attention.gates"

local module = {}

local log2_e = math.log(math.exp(1), 2)

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

-- Loads dt of the lane's two tokens of a chunk to the registers, as they lie in memory.
local function loader(g, lane)
  local k, p, at, dt = g.k, g.p, g.at, g.sizes.dt
  local first = p.packed and at.start or at.batch * g.sizes.tokens + at.start
  local load = p.dt_dtype == "f32" and "ld_global_f32" or "ld_global_b16"
  return function(chunk, to)
    local token = (chunk << 6) + (lane << 1)
    for i = 0, 1 do
      local place = k:element(dt, k:mad_wide_u32(first + token + i, p.heads, k:cvt_u64_u32(at.head)))
      k[load](k, to[i], place, { guard = (token + i):lt(at.tokens) })
    end
  end
end

-- Returns of(dt, inside): the dt of a token, from that in memory.
local function step_of(g)
  local k, p = g.k, g.p
  local bias = p.dt_bias and k:ld_global_f32(k:element(g.sizes.dt_bias, g.at.head))
  local least, most = p.dt_limit[1], p.dt_limit[2]
  return function(dt, inside)
    if p.dt_dtype ~= "f32" then dt = k["cvt_f32_" .. p.dt_dtype](k, dt) end
    if bias then dt = dt + bias end
    if p.dt_softplus then dt = softplus(k, dt) end
    dt = k:max(dt, least)
    if most < math.huge then dt = k:min(dt, most) end
    return k:selp(dt, 0.0, inside)
  end
end

--- The role of the warp. The arrays, with G the sum of A dt within the chunk: sum, G in units of log2; source, the
-- same less the logarithm of dt; scaled, exp G; rest, dt exp(G_63 - G).
function module.emit(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local load, step = loader(g, lane), step_of(g)
  local rate = k:ld_global_f32(k:element(g.sizes.A, at.head)) * log2_e
  local next_dt = k:regs(p.dt_dtype == "f32" and "f32" or "b16", 2)
  for i = 0, 1 do k:mov(next_dt[i], 0) end
  load(k:mov(0, { type = "u32" }), next_dt)
  k:loop(at.chunks, function(chunk)
    local dt, token = {}, (chunk << 6) + (lane << 1)
    for i = 0, 1 do dt[i] = step(next_dt[i], (token + i):lt(at.tokens)) end
    load(chunk + 1, next_dt)
    local first = dt[0] * rate
    local both = k:fma(dt[1], rate, first)
    local last = gates.prefix_sums(k, both, lane)
    local sums, total = { [0] = last - both + first, last }, k:reg "f32"
    k:shfl_sync_idx_b32(total, last, 31, 31)
    ring:acquire(cursor)
    local to = stage_at(cursor.stage) + (lane << 3)
    local function store(name, value)
      k:st_shared_v2_f32(to, { value(0), value(1) }, { offset = offsets[name] })
    end
    store("sum", function(i) return sums[i] end)
    store("scaled", function(i) return k:ex2_approx_ftz(sums[i]) end)
    store("rest", function(i) return dt[i] * k:ex2_approx_ftz(total - sums[i]) end)
    if not p.summary then store("source", function(i) return sums[i] - k:lg2_approx_ftz(dt[i]) end) end
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

return module
