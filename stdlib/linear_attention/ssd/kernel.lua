-- The kernel of wg.ssd, Mamba-2's state space duality (Dao and Gu 2024) in chunks of 64 tokens. With G the sum of A dt
-- within a chunk, in a chunk that begins with the state S:
--
--   P = tril(exp(G_i - G_j) dt_j c_i b_j),  Y = diag(exp G) C S + P x + D x
--   S = exp(G_63) S + (diag(dt exp(G_63 - G)) B)^T x
--
-- A CTA has 64 columns of x, of y and of the state of a head. One warpgroup passes over the chunks with the state in
-- its registers (recurrence.lua); two others make P of chunks ahead of it (preparation.lua); in the fourth, threads
-- copy B, C and x, a warp makes sums and exponentials of A dt (gates.lua), and another stores y (results.lua).

local wg = require "wgrun"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local results = require "wgrun.linear_attention.results"
local gates = require "wgrun.linear_attention.ssd.gates"
local preparation = require "wgrun.linear_attention.ssd.preparation"
local recurrence = require "wgrun.linear_attention.ssd.recurrence"
local tiles = require "wgrun.linear_attention.tiles"

local module = {}

-- Buffers in shared memory, and the rings over their stages. A summary has no C, P and y.
local function stages_of(k, p)
  local function shared(name, tile, count) return k:shared { tile = tile, count = count, name = name } end
  local buffers, rings = {
    k = k:shared { bytes = p.stages * p.k.bytes, align = 1024, name = "B" }, -- read along either extent
    v = shared("x", p.v, p.v_stages),
    gates = k:shared { bytes = p.stages * p.gates.bytes, align = 16, name = "gates" },
  }, {
    -- B, C and the gates, from a thread and a warp; read by a preparing warpgroup and by the recurrence
    keys = k:pipeline {
      stages = p.stages, producers = 2, arrivals = (p.summary and 4 or 8) * p.multicast, name = "keys",
    },
    values = k:pipeline { stages = p.v_stages, arrivals = 4, name = "values" },
  }
  if not p.summary then
    buffers.q, buffers.p = shared("C", p.k, p.stages), shared("P", p.t, p.preparers)
    buffers.o = k:shared { bytes = p.panel.bytes, align = p.panel.align, name = "y" }
    rings.prepared = k:pipeline { stages = p.preparers, producers = 4, arrivals = 4, name = "prepared" }
    rings.outputs = k:pipeline { stages = 1, producers = 4, name = "outputs" }
  end
  return buffers, rings
end

-- All threads of the cluster meet.
local function meet(k, p)
  if p.multicast == 1 then return k:bar_sync(0) end
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end

--- The kernel of a plan (of plan.make), with these parameters; its CTAs are 64 columns of x, head, and sequence or
--- segment. While it is emitted it is a table `g`, as that of wg.delta_rule (linear_attention/kernel.lua).
function module.make(p, list)
  local cluster = p.multicast > 1 and (p.value_dim > p.columns and { p.multicast } or { 1, p.multicast }) or nil
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = cluster }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, map in pairs(g.maps) do k:prefetch_tensormap(map) end
      for _, name in ipairs { "keys", "values", "prepared", "outputs" } do
        if g.rings[name] then g.rings[name]:init() end
      end
    end)
    meet(k, p)
    g.at = tiles.complete(g, { column = k:special "ctaid.x" << 6 })
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    k:if_(role:eq(0), function()
      k:setmaxnreg_dec(p.registers.copies)
      k:if_(thread:eq(0), function() copies.keys(g) end)
      k:if_((thread >> 5):eq(1), function() gates.emit(g) end)
      if not p.summary then k:if_((thread >> 5):eq(2), function() results.emit(g) end) end
      k:if_(thread:eq(96), function() copies.values(g) end)
    end, function()
      if p.summary then
        k:setmaxnreg_inc(p.registers.recurrence)
        recurrence.emit(g)
        return
      end
      k:if_(role:eq(1), function()
        k:setmaxnreg_inc(p.registers.recurrence)
        recurrence.emit(g)
      end, function()
        k:setmaxnreg_dec(p.registers.preparation)
        preparation.emit(g, role - 2)
      end)
    end)
    if p.multicast > 1 then meet(k, p) end -- the other CTA may still write to this one's memory
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
