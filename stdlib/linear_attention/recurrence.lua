-- The warpgroup of wg.delta_rule's kernel that has the state: S^T, 64 columns of V by 128 of K, in its accumulators.
-- All its products are transposed, so that the state and what comes of it are operands A in registers:
--
--   tensor cores   (K S)^T  (Q S)^T      U^T = X^T T^T         S^T += U^T K   O^T += U^T P^T
--   CUDA cores              X^T = V^T - decay (K S)^T    decays       the state as 16 bits   O to memory

local images = require "wgrun.linear_attention.backward.images"
local decays = require "wgrun.linear_attention.decays"
local operands = require "wgrun.linear_attention.operands"
local results = require "wgrun.linear_attention.results"
local segments = require "wgrun.linear_attention.segments"
local stages = require "wgrun.linear_attention.stages"
local state = require "wgrun.linear_attention.state"
local elements = require "wgrun.tile.elements"

local module = {}

-- The products, by the operand in shared memory: K and Q by rows, T and P, and K along the tokens for the state (or r,
-- K with the decays up to the end of the chunk).
local function products(g)
  local p, buffers, of = g.p, g.buffers, operands.products(g.k, g.p)
  return {
    k = of.rows(buffers.k, p.k), t = of.rows(buffers.t, p.t), update = of.columns(buffers.r or buffers.k, p.k_columns),
    q = buffers.q and of.rows(buffers.q, p.k), p = buffers.p and of.rows(buffers.p, p.t),
  }
end

--- The role of the warpgroup. kind: of a summary, "sum", what the tokens add to the state, or "factor", what they make
--- of it, for which V is 0.
function module.emit(g, kind)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local thread = k:special "tid.x"
  local lane = thread & 31
  local split = elements.from_output[p.dtype]
  local of_chunk = decays.of(g)
  local multiply, load_values = products(g), operands.value_loader(k, p, g.buffers.v)
  -- Of chunks that another kernel prepares, T and P are in the ring of K.
  local keys, values, prepared = rings.keys:cursor(), rings.values:cursor(), (rings.prepared or rings.keys):cursor()

  local with_o = p.with_o
  local s, s16 = k:regs("f32", p.dim // 2), k:regs("b32", p.dim // 4)
  local u, o = k:regs("f32", p.chunk // 2), k:regs("f32", p.chunk // 2)
  local function words() return k:regs("b32", p.chunk // 4) end
  local x16, u16, update16, o16 = words(), words(), words(), words()
  local function pack(words_of, of) operands.pack(k, p, words_of, of) end
  local function pack_state() pack(s16, function(r) return s[r] end) end
  local store = not p.summary and results.writer(g)
  local store_image = p.image and images.writer(g)

  local scaled, rest
  local function convert_o() pack(o16, function(r) return o[r] end) end

  -- The first part of a chunk: up to U. O of the chunk before, if there is one, leaves while its products run.
  local function values_of(later, chunk)
    rings.keys:wait(keys)
    multiply.k(u, s16, keys.stage, 0)
    if later and with_o then
      k:wgmma_wait_group(1)
      convert_o()
    end
    if later then stages.free_prepared(g, prepared, lane) end
    if with_o then multiply.q(o, s16, keys.stage, 0) end
    if later and with_o then store(o16) end
    local v = {}
    if kind ~= "factor" then
      rings.values:wait(values)
      local v16 = load_values(values.stage, words())
      for i = 0, #v16 - 1 do v[2 * i], v[2 * i + 1] = split(k, v16[i]) end
    end
    local x, whole
    local function load_decays() x, whole = of_chunk.first(keys.stage) end
    if kind ~= "sum" then load_decays() end
    k:wgmma_wait_group(with_o and 1 or 0)
    if kind == "sum" then load_decays() end -- beside V there are too few registers for them before
    local beta = p.least_beta and of_chunk.beta(keys.stage)
    pack(x16, function(r)
      local element = x(r, v[r], u[r])
      if beta then k:mul(u[r], element, beta(r)) end -- the diagonal of T
      return element
    end)
    if rings.prepared and p.makes_t then rings.prepared:wait(prepared) end
    multiply.t(u, x16, (p.makes_t and prepared or keys).stage, beta and 1 or 0)
    if store_image then store_image(s16, chunk) end -- they are no operand any more
    if kind ~= "factor" then
      k:bar_warp_sync(0xFFFFFFFF)
      rings.values:release(values, { lane = lane })
      rings.values:advance(values)
    end
    scaled, rest = of_chunk.second(keys.stage)
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole(r)) end
    if scaled then
      k:wgmma_wait_group(1)
      for r = 0, #o - 1 do k:mul(o[r], o[r], scaled(r)) end
    end
    k:wgmma_wait_group(0)
    pack(update16, function(r) return rest and u[r] * rest(r) or u[r] end)
  end

  -- The second part: the state after the chunk, while O is in flight. Behind the last chunk it may be of no use.
  local function pass_state(last)
    local wanted = not last or p.final_state or p.summary
    if wanted then multiply.update(s, update16, keys.stage, 1) end
    if store and (rest or not with_o) then pack(u16, function(r) return u[r] end) end
    if with_o then
      if rings.prepared and not p.makes_t then rings.prepared:wait(prepared) end
      multiply.p(o, rest and u16 or update16, prepared.stage, 1)
    elseif store then -- U is the result
      store(u16)
    end
    k:wgmma_wait_group(with_o and 1 or 0)
    stages.free_keys(g, keys, lane, kind == "factor")
    if not last then pack_state() end
  end

  -- ptxas (13.0) serialises products that are in flight where a loop ends and are waited for in it: a round is the
  -- second part of a chunk and the first one of the next.
  local function chunks()
    values_of(false, k:mov(0, { type = "u32" }))
    k:loop({ from = 1, to = at.chunks }, function(chunk)
      pass_state()
      values_of(true, chunk)
    end)
    pass_state(true)
    if with_o then
      k:wgmma_wait_group(0)
      convert_o()
      store(o16)
    end
  end

  (p.passes and segments or state).load(g, s, kind)
  pack_state()
  if p.packed or p.segments > 1 then k:if_(at.chunks:gt(0), chunks) else chunks() end
  state.store(g, s, kind)
end

return module
