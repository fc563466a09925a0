-- The warpgroup that passes over the chunks from the last one to the first one, for the gradient dS of the state. With
-- the names of linear_attention/kernel.lua, and dS that of the state after a chunk:
--
--   dU = P^T dO + diag(exp(G_63 - G)) K dS,  dV = T^T dU
--   dS = exp(G_63) dS + (diag(scale exp G) Q)^T dO - (diag(exp G) K)^T dV
--
-- It has dS^T, 64 columns of V by 128 of K, in its accumulators, and all products transposed, as the pass forward has
-- (linear_attention/recurrence.lua). dV goes to memory, and so does dS of each chunk (images.lua). With decays for each
-- channel K, Q and the third operand, R for K with the decays up to the end of the chunk, have their factors.

local decays = require "wgrun.linear_attention.decays"
local images = require "wgrun.linear_attention.backward.images"
local operands = require "wgrun.linear_attention.operands"
local results = require "wgrun.linear_attention.results"
local stages = require "wgrun.linear_attention.stages"
local state = require "wgrun.linear_attention.state"
local elements = require "wgrun.tile.elements"

local module = {}

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at, buffers = g.k, g.p, g.rings, g.at, g.buffers
  local lane, split = k:special "tid.x" & 31, elements.from_output[p.dtype]
  local of_chunk, of = decays.of(g), operands.products(k, p)
  local multiply = {
    r = of.rows(buffers.r or buffers.k, p.k), update = of.columns(buffers.k, p.k_columns),
    queries = of.columns(buffers.q, p.k_columns),
    p = of.columns(buffers.p, p.t_columns), t = of.columns(buffers.t, p.t_columns),
  }
  local load, store, store_image = operands.value_loader(k, p, buffers.v), results.writer(g), images.writer(g)
  local keys, values = rings.keys:cursor(), rings.values:cursor()
  -- Of chunks that another kernel prepares, T and P are in the ring of K.
  local prepared, of_p = rings.prepared and rings.prepared:cursor(), rings.of_p and rings.of_p:cursor()
  local read = rings.keys:cursor() -- the stage that is given back next: of the chunk before, until its update is done
  local function words() return k:regs("b32", p.chunk // 4) end
  local s, s16 = k:regs("f32", p.dim // 2), k:regs("b32", p.dim // 4)
  local u, o = k:regs("f32", p.chunk // 2), not p.by_channel and k:regs("f32", p.chunk // 2)
  local d16, u16, v16, update16 = words(), words(), words(), words()
  local scaled16 = p.by_channel and d16 or words()
  local function pack(words_of, each) operands.pack(k, p, words_of, each) end
  local function of_tokens(name) return of_chunk.factor(name, keys.stage) end

  -- dO of a chunk as operands.
  local function begin()
    rings.keys:wait(keys)
    rings.values:wait(values)
    load(values.stage, d16)
    local scaled, d = of_tokens "scaled", {}
    if scaled then
      for i = 0, #d16 - 1 do d[2 * i], d[2 * i + 1] = split(k, d16[i]) end
      pack(scaled16, function(r) return d[r] * scaled(r) end)
    end
    k:bar_warp_sync(0xFFFFFFFF)
    rings.values:release(values, { lane = lane })
    rings.values:advance(values)
  end

  -- From the state, which no product has any more, to dV. ptxas (13.0) lets it decay beside a product only where a
  -- product has made it: not in the first chunk.
  local function values_of(turn, later)
    local whole = of_chunk.whole(keys.stage)
    local function decay_state()
      for r = 0, #s - 1 do k:mul(s[r], s[r], whole(r)) end
    end
    pack(s16, function(r) return s[r] end)
    if not later then decay_state() end
    multiply.r(o or u, s16, keys.stage, 0)
    if of_p then rings.of_p:wait(of_p) end
    multiply.p(u, d16, (of_p or keys).stage, o and 0 or 1)
    if later then decay_state() end
    multiply.queries(s, scaled16, keys.stage, 1)
    local rest = of_tokens "rest"
    k:wgmma_wait_group(1)
    if of_p then stages.free_prepared(g, of_p, lane, "of_p") end
    for r = 0, o and #u - 1 or -1 do k:fma(u[r], o[r], rest(r), u[r]) end
    pack(u16, function(r) return u[r] end)
    local beta = of_chunk.beta(keys.stage)
    for r = 0, #u - 1 do k:mul(u[r], u[r], beta(r)) end -- the diagonal of T
    if prepared then rings.prepared:wait(prepared) end
    multiply.t(u, u16, (prepared or keys).stage, 1)
    store_image(s16, turn) -- they are no operand any more
    local decay = of_tokens "decay" -- negative
    k:wgmma_wait_group(0)
    if prepared then stages.free_prepared(g, prepared, lane) end -- there are two: the next but one is stored then
    pack(update16, function(r) return decay and u[r] * decay(r) or k:neg(u[r]) end)
  end

  -- The state before the chunk, in flight.
  local function update()
    multiply.update(s, update16, keys.stage, 1)
    pack(v16, function(r) return u[r] end)
    store(v16)
    rings.keys:advance(keys)
  end

  local function free_chunk()
    if prepared then return stages.free_keys(g, read, lane) end
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read decays and beta
    stages.free_prepared(g, read, lane)
  end

  -- A round is the second part of a chunk and the first one of the next, as in the pass forward.
  local function chunks()
    begin()
    values_of(k:mov(0, { type = "u32" }), false)
    k:loop({ from = 1, to = at.chunks }, function(turn)
      update()
      begin()
      k:wgmma_wait_group(0)
      free_chunk()
      values_of(turn, true)
    end)
    update()
    k:wgmma_wait_group(0)
    free_chunk()
  end

  state.load(g, s)
  if p.packed then k:if_(at.chunks:gt(0), chunks) else chunks() end
  state.store(g, s)
end

return module
