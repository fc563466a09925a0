-- The gates of a chunk, by one warp: what the others need of g and beta, in arrays of 64 f32 in shared memory. A lane
-- has two tokens next to each other. Tokens beyond the end of the sequence have g = 0 and beta = 0: they change
-- nothing, whatever stands there in K and V.

local sequences = require "wgrun.linear_attention.sequences"
local elements = require "wgrun.tile.elements"

local module = {}

local log2_e = math.log(math.exp(1), 2)

--- Addresses in the arrays of a stage: of(name, element, stage) is that of element (a register, in elements); `p.gates`
--- lists the names: sum, G in units of log2; beta; decay, -exp G; scaled, exp G times the scale; rest, exp(G_63 - G);
--- of gradients also ended, as sum, but -inf beyond the end of the sequence.
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

--- Of gradients a beta below p.least_beta counts as that, so that what was multiplied by it can be divided by it.
function module.limit(k, p, beta, inside)
  if p.least_beta then k:mov(beta, p.least_beta, { guard = inside & k:abs(beta):lt(p.least_beta) }) end
end

--- Returns load(chunk, to): loads g and beta of the lane's two tokens of a chunk to registers.
function module.loader(g, lane)
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
        if name == "beta" then module.limit(k, p, register, inside) end
      end
    end
  end
end

--- G of the lane's two tokens and of the chunk's last one, in units of log2.
function module.sums(k, g_of_tokens, lane)
  local first = k:mul(g_of_tokens[0], log2_e)
  local both = k:fma(g_of_tokens[1], log2_e, first)
  local last, total = module.prefix_sums(k, both, lane), k:reg "f32"
  k:shfl_sync_idx_b32(total, last, 31, 31)
  return { [0] = last - both + first, last }, total
end

--- Returns store(name, value): stores value(0) and value(1) of the lane's tokens in the array of that name.
function module.storer(k, to, offsets)
  return function(name, value)
    k:st_shared_v2_f32(to, { value(0), value(1) }, { offset = offsets[name] })
  end
end

--- The array `ended` of the lane's two tokens, the first of which is `token`.
function module.ended(g, sums, token)
  local out = {}
  for i = 0, 1 do out[i] = g.k:selp(sums[i], -math.huge, (token + i):lt(g.at.tokens)) end
  return out
end

--- The role of the warp.
function module.emit(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local offsets, stage_at = module.places(k, p, g.buffers.gates)
  local load = module.loader(g, lane)
  local next_gates = { g = k:regs("f32", 2), beta = k:regs("f32", 2) }
  load(sequences.chunk(g, k:mov(0, { type = "u32" })), next_gates)
  k:loop(at.chunks, function(turn)
    local beta = k:regs("f32", 2)
    for i = 0, 1 do k:mov(beta[i], next_gates.beta[i]) end
    local sums, total = module.sums(k, next_gates.g, lane)
    load(sequences.chunk(g, turn + 1), next_gates) -- behind the last one no token is inside
    ring:acquire(cursor)
    local store = module.storer(k, stage_at(cursor.stage) + (lane << 3), offsets)
    local decay = { [0] = k:ex2_approx_ftz(sums[0]), k:ex2_approx_ftz(sums[1]) }
    store("sum", function(i) return sums[i] end)
    store("beta", function(i) return beta[i] end)
    store("decay", function(i) return k:neg(decay[i]) end)
    local ended = offsets.ended and module.ended(g, sums, (sequences.chunk(g, turn) << 6) + (lane << 1))
    if p.with_p then
      store("scaled", function(i) return (ended and k:ex2_approx_ftz(ended[i]) or decay[i]) * g.sizes.scale end)
    end
    store("rest", function(i) return k:ex2_approx_ftz(total - sums[i]) end)
    if ended then store("ended", function(i) return ended[i] end) end
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

return module
