-- The kernel of wg.delta_rule_backward that has the gradients of Q, K, g and beta, with decays for each channel. With
-- the names of backward/kernel.lua, and D_ijc = exp(G_ic - G_jc):
--
--   dq_ic = scale exp(G_ic) (dO S^T)_ic + scale sum over j <= i of (dO U^T)_ij D_ijc k_jc
--   dk'_ic = -exp(G_ic) (dV S^T)_ic - sum over j < i of R_ij D_ijc k_jc
--   dk''_jc = exp(G_63c - G_jc) (U dS^T)_jc + sum over i of D_ijc (scale (dO U^T)_ij q_ic - R_ij k_ic)
--
-- and the gradient of G_ic is q dq + k dk' - k dk'' of that token and channel; dbeta_i = (V_i dV_i + k_i dk'_i) /
-- beta_i, where V is not rounded, as U is in the other kernel.
--
-- A chunk has eight bands of eight tokens. Its rows, times the decays between each token and the middle of its band
-- (backward/channel_operands.lua), are operands of products that go from band to band: the sums decay in between
-- (backward/channel_gradients.lua). dQ and dK have the same products of rounded operands as factors, so that what
-- cancels out in dg does so.
--
-- A unit is a chunk and a head of Q and K, as in the other kernel. Of its 512 threads one copies, a warpgroup makes the
-- operands and sums dg up, and two multiply, each for 64 channels.

local wg = require "wgrun"
local tensors = require "wgrun.attention.tensors"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local gradients = require "wgrun.linear_attention.backward.channel_gradients"
local images = require "wgrun.linear_attention.backward.images"
local channel_gates = require "wgrun.linear_attention.backward.channel_gates"
local rows = require "wgrun.linear_attention.backward.channel_operands"
local units = require "wgrun.linear_attention.backward.units"

local module = {}

--- The kernel's parameters. A launch has each under its name.
function module.parameters(p)
  local function operand(name) return { name, map = tensors.box(p, p.chunk, true, p.lines) } end
  return parameters.rows {
    operand "dO", operand "U", operand "dV",
    { "states", "const bf16*", "of the passes, as the next" }, { "d_states", "const bf16*" },
    { "Q", "const bf16*" }, { "K", "const bf16*" }, { "V", "const bf16*" },
    { "g", ("const %s*"):format(p.g_dtype), "tokens x heads x 128" }, { "beta", "const f32*" },
    { "dQ", "bf16*" }, { "dK", "bf16*" }, { "dg", "f32*" }, { "dbeta", "f32*" },
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" }, p.packed and { "sequences", "u32" } or false,
    { "units", "u32", "chunks of all heads of Q and K" }, { "scale", "f32" },
  }
end

local function stages_of(k, p)
  local function shared(name, bytes, align) return k:shared { bytes = bytes, align = align or 1024, name = name } end
  local multiplying, preparing = 8, 4 -- warps
  return {
    d_o = shared("dO", p.k.bytes), u = shared("U", p.k.bytes), d_v = shared("dV", p.k.bytes),
    s = shared("S", images.tile.bytes), d_s = shared("dS", images.tile.bytes),
    queries = shared("queries", p.k.bytes), keys = shared("keys", p.k.bytes), columns = shared("columns", p.k.bytes),
    logs = shared("logs", channel_gates.line * p.chunk, 16), decays = shared("decays", rows.decays * p.decay_bytes, 16),
    dots = shared("dots", 2 * 4 * p.chunk, 16), edges = shared("edges", 2 * rows.bands * p.decay_bytes, 16),
    sums = shared("sums", rows.warps * p.decay_bytes, 16),
  }, {
    rows = k:pipeline { stages = 1, arrivals = multiplying + preparing, name = "rows" }, -- dO, U, dV
    states = k:pipeline { stages = 1, arrivals = multiplying + preparing, name = "states" },
    operands = k:pipeline { stages = 1, producers = preparing, arrivals = multiplying, name = "operands" },
    sums = k:pipeline { stages = 1, producers = multiplying, arrivals = preparing, name = "sums" },
  }
end

-- The role of the thread that copies.
local function copy(g)
  local k, p, rings, buffers, maps = g.k, g.p, g.rings, g.buffers, g.maps
  local leader = (k:special "tid.x" & 31):eq(0)
  local rows_cursor, states = rings.rows:cursor(), rings.states:cursor()
  units.each(g, function(here)
    units.heads(here, function(head)
      local list = {}
      for i, one in ipairs { { maps.dO, buffers.d_o }, { maps.U, buffers.u }, { maps.dV, buffers.d_v } } do
        list[i] = copies.operand(k, p.k, one[1], k:address(one[2]), head)
      end
      rings.rows:acquire(rows_cursor)
      k:if_(leader, function() copies.copier(here, rings.rows, list, true)(rows_cursor, here.at.chunk) end)
      rings.rows:advance(rows_cursor)
      images.copy_both(here, leader, states, head)
    end)
  end)
end

--- The kernel of a plan, with these parameters. Its CTAs are any number.
function module.make(p, list)
  local kernel = wg.kernel(p.name, { threads = 512 }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "dO", "U", "dV" } do k:prefetch_tensormap(g.maps[name]) end
      for _, name in ipairs { "rows", "states", "operands", "sums" } do g.rings[name]:init() end
    end)
    k:bar_sync(0)
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    k:if_(role:eq(0), function()
      k:setmaxnreg_dec(32)
      k:if_((thread >> 5):eq(0), function() copy(g) end)
    end, function()
      k:if_(role:eq(1), function()
        k:setmaxnreg_dec(80)
        rows.emit(g)
      end, function()
        k:setmaxnreg_inc(200)
        gradients.emit(g, role - 2)
      end)
    end)
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
