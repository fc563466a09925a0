-- The warpgroup of wg.delta_rule's kernel that has the state: S^T, 64 columns of V by 128 of K, in its accumulators. All
-- its products are transposed, so that the state and what comes of it are operands A in registers:
--
--   tensor cores   (K S)^T                            U^T = X^T T^T          S^T += U^T K
--   CUDA cores              X^T = V^T - decay (K S)^T                decay S^T            S^T to 16 bits
--
-- A warp that issues a product with A in registers waits until the tensor core takes it, so that the products of O are
-- another warpgroup's (linear_attention/output.lua), which gets S^T and U^T through shared memory.

local wg = require "wgrun"
local gates = require "wgrun.linear_attention.gates"
local state = require "wgrun.linear_attention.state"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"

local module = {}

-- Products of operands A in registers, each a commit group: k and t, whose B has K along its lines; update, whose B is K
-- read along the tokens.
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
    return function(acc, words, stage)
      multiply(acc, words, at(stage), { n = p.chunk, trans_b = 0, scale_d = 0 })
    end
  end
  local along_tokens = descriptors.view(k, buffers.k, p.k_columns)
  local function update(acc, words, stage)
    multiply(acc, words, along_tokens(stage), { n = p.dim, trans_b = 1, scale_d = 1 })
  end
  return { k = rows(buffers.k, p.k), t = rows(buffers.t, p.t), update = update }
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

-- Returns hand_over(words), which gives words of accumulators to the other warpgroup, as a tile in shared memory.
local function giver(g, ring, buffer, columns)
  local k, p = g.k, g.p
  local thread, cursor, panel = k:special "tid.x", ring:cursor(), wg.panel { dtype = p.dtype, n = columns }
  local lane, pieces = thread & 31, panels.pieces(panel, k:address(buffer), thread & 31, thread >> 5 & 3)
  return function(words)
    ring:acquire(cursor)
    for i = 0, panel.count - 1 do
      for _, piece in ipairs(pieces(i, i * panel.bytes)) do
        k:stmatrix_x4(piece.at, words:slice(piece[1] // 2, 4), { offset = piece.offset })
      end
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end
end

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane = k:special "tid.x" & 31
  local convert, split = elements.to_output[p.dtype], elements.from_output[p.dtype]
  local me = gates.reader(g)
  local multiply, load_values = products(k, p, g.buffers), value_loader(k, p, g.buffers.v)
  local give_state = giver(g, rings.state, g.buffers.s, p.dim)
  local give_values = giver(g, rings.update, g.buffers.u, p.chunk)
  local keys, values, prepared = rings.keys:cursor(), rings.values:cursor(), rings.prepared:cursor()

  local s, s16, u = k:regs("f32", p.dim // 2), k:regs("b32", p.dim // 4), k:regs("f32", p.chunk // 2)
  local x16, u16 = k:regs("b32", p.chunk // 4), k:regs("b32", p.chunk // 4)
  local function pack(words, of)
    for i = 0, #words - 1 do k:mov(words[i], convert(k, of(2 * i), of(2 * i + 1))) end
  end
  local function free(ring, cursor)
    ring:release(cursor, { lane = lane })
    ring:advance(cursor)
  end

  state.load(g, s)
  k:loop(at.chunks, function()
    pack(s16, function(r) return s[r] end)
    rings.keys:wait(keys)
    multiply.k(u, s16, keys.stage)
    rings.values:wait(values)
    local v16, decay, x = load_values(values.stage), me.columns("decay", keys.stage), {}
    rings.values:advance(values)
    for i = 0, #v16 - 1 do x[2 * i], x[2 * i + 1] = split(k, v16[i]) end
    k:wgmma_wait_group(0)
    pack(x16, function(r) return k:fma(decay(r), u[r], x[r]) end)
    rings.prepared:wait(prepared)
    multiply.t(u, x16, prepared.stage)
    give_state(s16)
    local whole, rest = k:neg(me.last("decay", keys.stage)), me.columns("rest", keys.stage)
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole) end
    k:wgmma_wait_group(0)
    free(rings.prepared, prepared)
    pack(x16, function(r) return u[r] * rest(r) end)
    multiply.update(s, x16, keys.stage)
    pack(u16, function(r) return u[r] end)
    give_values(u16)
    k:wgmma_wait_group(0)
    free(rings.keys, keys)
  end)
  state.store(g, s)
end

return module
