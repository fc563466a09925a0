-- The gates of a chunk, by one warp: what the others need of g and beta, in arrays of 64 f32 in shared memory. A lane
-- has two tokens next to each other. Tokens beyond the end of the sequence have g = 0 and beta = 0: they change
-- nothing, whatever stands there in K and V.

local elements = require "wgrun.tile.elements"

local module = {}

local log2_e = math.log(math.exp(1), 2)

--- Addresses in the arrays of a stage: of(name, element, stage) is that of element (a register, in elements); `p.gates`
--- lists the names: sum, G in units of log2; beta; decay, -exp G; scaled, exp G times the scale; rest, exp(G_63 - G).
function module.places(k, p, buffer)
  local offsets = {}
  for i, name in ipairs(p.gates) do offsets[name] = 4 * p.chunk * (i - 1) end
  return offsets, function(stage) return k:address(buffer, stage * p.gates.bytes) end
end

--- The inclusive sums over the lanes, f32.
function module.prefix_sums(k, value, lane)
  local sum = k:mov(value, { type = "f32" })
  for i = 0, 4 do
    local other = k:reg "f32"
    k:shfl_sync_up_b32(other, sum, 1 << i, 0)
    k:add(sum, sum, other, { guard = lane:ge(1 << i) })
  end
  return sum
end

-- Loads g and beta of the lane's two tokens of a chunk to the registers, in units of log2.
local function loader(g, lane)
  local k, p, sizes, at = g.k, g.p, g.sizes, g.at
  local first = p.packed and at.start or at.batch * sizes.tokens + at.start
  local mine = lane << 1
  return function(chunk, to)
    local token = (chunk << 6) + mine
    for i = 0, 1 do
      local inside = (token + i):lt(at.tokens)
      local index = k:mad_wide_u32(first + token + i, p.heads, k:cvt_u64_u32(at.head))
      for _, name in ipairs { "g", "beta" } do
        local register = to[name][i]
        k:mov(register, 0.0)
        local from = k:element(sizes[name], index)
        if name == "g" and p.g_dtype == "bf16" then
          local half, word = k:mov(0, { type = "u16" }), k:reg "b32"
          k:ld_global_u16(half, from, { guard = inside })
          k:mov(word, k:cvt_u32_u16(half))
          k:mov(register, (elements.from_output.bf16(k, word)))
        else
          k:ld_global_f32(register, from, { guard = inside })
        end
      end
    end
  end
end

--- The role of the warp.
function module.emit(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local offsets, stage_at = module.places(k, p, g.buffers.gates)
  local load = loader(g, lane)
  local next_gates = { g = k:regs("f32", 2), beta = k:regs("f32", 2) }
  load(k:mov(0, { type = "u32" }), next_gates)
  k:loop(at.chunks, function(chunk)
    local beta, first = k:regs("f32", 2), k:mul(next_gates.g[0], log2_e)
    local both = k:fma(next_gates.g[1], log2_e, first)
    for i = 0, 1 do k:mov(beta[i], next_gates.beta[i]) end
    load(chunk + 1, next_gates)
    local last = module.prefix_sums(k, both, lane)
    local sums, total = { [0] = last - both + first, last }, k:reg "f32"
    k:shfl_sync_idx_b32(total, last, 31, 31)
    ring:acquire(cursor)
    local to = stage_at(cursor.stage) + (lane << 3)
    local function store(name, value)
      k:st_shared_v2_f32(to, { value(0), value(1) }, { offset = offsets[name] })
    end
    local decay = { [0] = k:ex2_approx_ftz(sums[0]), k:ex2_approx_ftz(sums[1]) }
    store("sum", function(i) return sums[i] end)
    store("beta", function(i) return beta[i] end)
    store("decay", function(i) return k:neg(decay[i]) end)
    if not p.summary then store("scaled", function(i) return decay[i] * g.sizes.scale end) end
    store("rest", function(i) return k:ex2_approx_ftz(total - sums[i]) end)
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

return module
