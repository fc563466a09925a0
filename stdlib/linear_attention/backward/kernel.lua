-- The kernel of wg.delta_rule_backward that has the gradients of Q, K, g and beta, after the two passes over the chunks
-- have left U and dV, and as images the states S before the chunks and their gradients dS after them. With the names of
-- linear_attention/kernel.lua, D_ij = exp(G_i - G_j), and R = dV U^T:
--
--   A = tril(scale D dO U^T),  M = -tril(D R, -1)
--   dQ = diag(scale exp G) dO S^T + A K
--   dK = dK' + dK'',  dK' = M K - diag(exp G) dV S^T,  dK'' = A^T Q + M^T K + diag(exp(G_63 - G)) U dS^T
--   dbeta_i = R_ii / beta_i^2
--
-- The gradient of G_i is q_i dq_i + k_i dk'_i - k_i dk''_i, and that of G_63 has besides the sum over all elements of
-- S' dS, with S' the state after the chunk: exp(G_63) S dS, and what k_i dk''_i has of dS. dg sums up those of a token
-- and of the tokens behind it in the chunk.
--
-- A unit is a chunk and a head of Q and K. A CTA has every so many of them, and of each the heads of V that share it,
-- one after another, so that the sums over these heads stay in its accumulators. Three warpgroups have dQ, dK' and dK''
-- (gradients.lua); in the first one a warp copies, one makes the sums of g, and one has dg and dbeta
-- (gate_gradients.lua).

local wg = require "wgrun"
local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"
local images = require "wgrun.linear_attention.backward.images"
local gate_gradients = require "wgrun.linear_attention.backward.gate_gradients"
local gradients = require "wgrun.linear_attention.backward.gradients"
local units = require "wgrun.linear_attention.backward.units"
local copies = require "wgrun.linear_attention.copies"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.parameters(p)
  local function operand(name) return { name, map = tensors.box(p, p.chunk, true, p.lines) } end
  return parameters.rows {
    operand "Q", operand "K", operand "dO", operand "U", operand "dV",
    { "states", "const bf16*", "of the passes, as the next" }, { "d_states", "const bf16*" },
    { "g", ("const %s*"):format(p.g_dtype) }, { "beta", "const f32*" },
    { "dQ", "bf16*" }, { "dK", "bf16*" }, { "dg", "f32*" }, { "dbeta", "f32*" },
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" }, p.packed and { "sequences", "u32" } or false,
    { "units", "u32", "chunks of all heads of Q and K" }, { "scale", "f32" },
  }
end

local function stages_of(k, p)
  local function shared(name, bytes, align) return k:shared { bytes = bytes, align = align or 1024, name = name } end
  local arrivals = 4 * 3 -- the warps that multiply
  return {
    q = shared("Q", p.k.bytes), k = shared("K", p.k.bytes),
    d_o = shared("dO", 2 * p.k.bytes), u = shared("U", 2 * p.k.bytes), d_v = shared("dV", 2 * p.k.bytes),
    s = shared("S", images.tile.bytes), d_s = shared("dS", images.tile.bytes),
    shares = shared("dK", 4 * p.dim * p.chunk, 16),
    gates = shared("gates", 2 * p.gates.bytes, 16), sums = shared("sums", gate_gradients.bytes(p), 16),
  }, {
    keys = k:pipeline { stages = 1, arrivals = arrivals, name = "keys" },
    rows = k:pipeline { stages = 2, producers = 2, arrivals = arrivals, name = "rows" }, -- dO, U, dV; and the gates
    states = k:pipeline { stages = 1, arrivals = arrivals, name = "states" },
    shares = k:pipeline { stages = 1, producers = 4, arrivals = 4, name = "shares" }, -- dK', for those who have dK''
    sums = k:pipeline { stages = 1, producers = arrivals, arrivals = 1, name = "sums" },
  }
end

-- The role of the warp that copies.
local function copy(g)
  local k, p, rings, buffers, maps = g.k, g.p, g.rings, g.buffers, g.maps
  local leader = (k:special "tid.x" & 31):eq(0)
  local keys, rows, states = rings.keys:cursor(), rings.rows:cursor(), rings.states:cursor()
  local function load(here, ring, cursor, head, pairs_of, read)
    local list = {}
    for i, one in ipairs(pairs_of) do list[i] = copies.operand(k, p.k, one[1], k:address(one[2]), head) end
    ring:acquire(cursor)
    k:if_(leader, function() copies.copier(here, ring, list, read)(cursor, here.at.chunk) end)
    ring:advance(cursor)
  end
  units.each(g, function(here)
    units.heads(here, function(head, number)
      load(here, rings.rows, rows, head, {
        { maps.dO, buffers.d_o }, { maps.U, buffers.u }, { maps.dV, buffers.d_v },
      })
      -- Their one stage is free later than one of the rows.
      local function load_keys()
        load(here, rings.keys, keys, here.at.qk_head, { { maps.Q, buffers.q }, { maps.K, buffers.k } }, true)
      end
      if number then k:if_(number:eq(0), load_keys) else load_keys() end
      images.copy_both(here, leader, states, head)
    end)
  end)
end

--- The kernel of a plan, with these parameters. Its CTAs are any number.
function module.make(p, list)
  p = setmetatable({ gates = { "sum", "ended", bytes = 2 * 4 * p.chunk } }, { __index = p })
  local kernel = wg.kernel(p.name, { threads = 512 }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "Q", "K", "dO", "U", "dV" } do k:prefetch_tensormap(g.maps[name]) end
      for _, name in ipairs { "keys", "rows", "states", "shares", "sums" } do g.rings[name]:init() end
    end)
    k:bar_sync(0)
    local role, warp = k:shfl_sync_idx_b32(thread >> 7, 0, 31), k:shfl_sync_idx_b32(thread >> 5, 0, 31)
    k:if_(role:eq(0), function()
      k:setmaxnreg_dec(56)
      k:if_(warp:eq(0), function() copy(g) end)
      k:if_(warp:eq(1), function() gate_gradients.emit_sums(g) end)
      k:if_(warp:eq(2), function() gate_gradients.emit(g) end)
    end, function()
      k:setmaxnreg_inc(152)
      k:if_(role:eq(1), function() gradients.emit_queries(g) end, function()
        k:if_(role:eq(2), function() gradients.emit_keys(g) end, function() gradients.emit_other_keys(g) end)
      end)
    end)
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
