-- The warpgroup of wg.delta_rule's kernel that has the state: S^T, 64 columns of V by 128 of K, in its accumulators.
-- All its products are transposed, so that the state and what comes of it are operands A in registers:
--
--   tensor cores   (K S)^T  (Q S)^T      U^T = X^T T^T         S^T += U^T K   O^T += U^T P^T
--   CUDA cores              X^T = V^T - decay (K S)^T    decays       the state as 16 bits   O to memory

local decays = require "wgrun.linear_attention.decays"
local results = require "wgrun.linear_attention.results"
local state = require "wgrun.linear_attention.state"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

-- Products of operands A in registers, each a commit group: rows, whose B has K along its lines, as tile; columns,
-- whose B is K read along the tokens.
local function products(k, p, buffers)
  local function multiply(acc, words, at, form)
    k:wgmma_fence()
    for step = 0, #words // 4 - 1 do
      k:wgmma_mma_async(acc, words:slice(4 * step, 4), at(step), {
        n = form.n, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_b = form.trans_b,
        scale_d = step == 0 and form.scale_d or 1,
      })
    end
    k:wgmma_commit_group()
  end
  local function rows(buffer, tile)
    local at = descriptors.view(k, buffer, tile)
    return function(acc, words, stage, scale_d)
      multiply(acc, words, at(stage), { n = p.chunk, trans_b = 0, scale_d = scale_d })
    end
  end
  local out = { k = rows(buffers.k, p.k), t = rows(buffers.t, p.t) }
  if not p.summary then out.q, out.p = rows(buffers.q, p.k), rows(buffers.p, p.t) end
  local along_tokens = descriptors.view(k, p.by_channel and buffers.r or buffers.k, p.k_columns)
  function out.update(acc, words, stage)
    multiply(acc, words, along_tokens(stage), { n = p.dim, trans_b = 1, scale_d = 1 })
  end
  return out
end

-- V^T of a stage as it lies in accumulators, two tokens a register: lane i of a warp points ldmatrix to token i % 8 of
-- eight, and to one of the two units of the warp's 16 columns; the upper half of the lanes to the next eight tokens.
local function value_loader(k, p, buffer)
  local thread = k:special "tid.x"
  local lane = thread & 31
  local unit = ((thread >> 5 & 3) << 1) + (lane >> 3 & 1)
  local base = k:address(buffer) + ((lane & 7) + ((lane >> 4) << 3)) * 128 + ((unit ~ (lane & 7)) << 4)
  return function(stage)
    local words, from = k:regs("b32", p.chunk // 4), base + stage * p.v.bytes
    for sixteen = 0, p.chunk // 16 - 1 do
      k:ldmatrix_x4(words:slice(4 * sixteen, 4), from, { trans = 1, offset = sixteen * 16 * 128 })
    end
    return words
  end
end

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local thread = k:special "tid.x"
  local lane = thread & 31
  local convert, split = elements.to_output[p.dtype], elements.from_output[p.dtype]
  local of_chunk = decays.of(g)
  local multiply, load_values = products(k, p, g.buffers), value_loader(k, p, g.buffers.v)
  -- Of chunks that another kernel prepares, T and P are in the ring of K.
  local keys, values, prepared = rings.keys:cursor(), rings.values:cursor(), (rings.prepared or rings.keys):cursor()

  local with_o = not p.summary
  local s, s16 = k:regs("f32", p.dim // 2), k:regs("b32", p.dim // 4)
  local u, o = k:regs("f32", p.chunk // 2), k:regs("f32", p.chunk // 2)
  local function words() return k:regs("b32", p.chunk // 4) end
  local x16, u16, update16, o16 = words(), words(), words(), words()
  local function pack(words, of)
    for i = 0, #words - 1 do k:mov(words[i], convert(k, of(2 * i), of(2 * i + 1))) end
  end
  local function pack_state() pack(s16, function(r) return s[r] end) end
  local store = with_o and results.writer(g)

  local values_mask = at.kind and k:mov(at.kind, { type = "u32" }) - 1
  local scaled, rest
  local function convert_o() pack(o16, function(r) return o[r] end) end
  local function free_prepared()
    if not rings.prepared then
      rings.keys:release(prepared, { lane = lane })
      return rings.keys:advance(prepared)
    end
    local empty = rings.prepared:empty_barrier(prepared) -- in the CTA that prepares the stage next
    k:mbarrier_arrive(k:mapa(empty, prepared.phase ~ 1), { space = "shared::cluster", guard = lane:eq(0) })
    rings.prepared:advance(prepared)
  end

  -- The first part of a chunk: up to U. O of the chunk before, if there is one, leaves while its products run.
  local function values_of(later)
    rings.keys:wait(keys)
    multiply.k(u, s16, keys.stage, 0)
    if later and with_o then
      k:wgmma_wait_group(1)
      convert_o()
    end
    if later then free_prepared() end
    if with_o then multiply.q(o, s16, keys.stage, 0) end
    if later and with_o then store(o16) end
    rings.values:wait(values)
    local v16, v = load_values(values.stage), {}
    local x, whole = of_chunk.first(keys.stage)
    if at.kind then -- tokens that add nothing: V is 0
      for i = 0, #v16 - 1 do k:mov(v16[i], v16[i] & values_mask) end
    end
    for i = 0, #v16 - 1 do v[2 * i], v[2 * i + 1] = split(k, v16[i]) end
    k:wgmma_wait_group(with_o and 1 or 0)
    pack(x16, function(r) return x(r, v[r], u[r]) end)
    if rings.prepared then rings.prepared:wait(prepared) end
    multiply.t(u, x16, prepared.stage, 0)
    k:bar_warp_sync(0xFFFFFFFF)
    rings.values:release(values, { lane = lane })
    rings.values:advance(values)
    scaled, rest = of_chunk.second(keys.stage)
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole(r)) end
    if scaled then
      k:wgmma_wait_group(1)
      for r = 0, #o - 1 do k:mul(o[r], o[r], scaled(r)) end
    end
    k:wgmma_wait_group(0)
    pack(update16, function(r) return rest and u[r] * rest(r) or u[r] end)
  end

  -- The second part: the state after the chunk, while O is in flight.
  local function pass_state()
    multiply.update(s, update16, keys.stage)
    if with_o then
      if rest then pack(u16, function(r) return u[r] end) end
      multiply.p(o, rest and u16 or update16, prepared.stage, 1)
    end
    k:wgmma_wait_group(with_o and 1 or 0)
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read the gates
    -- Once, or twice where the other CTA prepares the chunk, so that no warpgroup gives its keys back here.
    if rings.prepared then
      local there = (keys.stage >> 1) ~ at.half
      k:mbarrier_arrive(rings.keys:empty_barrier(keys), { guard = lane:le(there) })
    end
    rings.keys:advance(keys)
    pack_state()
  end

  -- ptxas (13.0) serialises products that are in flight where a loop ends and are waited for in it: a round is the
  -- second part of a chunk and the first one of the next.
  local function chunks()
    values_of(false)
    k:loop({ from = 1, to = at.chunks }, function()
      pass_state()
      values_of(true)
    end)
    pass_state()
    if with_o then
      k:wgmma_wait_group(0)
      convert_o()
      store(o16)
    end
  end

  if with_o and p.segments > 1 then k:griddepcontrol_wait() end -- for the states before the segments
  state.load(g, s)
  pack_state()
  if p.packed or p.segments > 1 then k:if_(at.chunks:gt(0), chunks) else chunks() end
  state.store(g, s)
end

return module
