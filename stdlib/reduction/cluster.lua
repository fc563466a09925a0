-- Cluster split-K, a reduction through distributed shared memory (DSMEM): the CTAs that multiply different slices of K
-- for the same tile are a cluster. They send each other their sums, straight from registers to the other's shared
-- memory (st.async, PTX ISA 9.7.9.12). Each of the first `owners` CTAs owns some columns of the tile: it waits for the
-- other CTAs' sums of these, adds them in a fixed order, and stores them.
--
-- A reduction adds up the sums of a tile whose K is split. It is a table of these functions:
--
--   parameters(p, add)   the kernel's parameters for it (builder/parameters.lua)
--   shared(k, p)         its buffers in shared memory, by name
--   begin(g)             emitted for one thread before all others begin, and before pipeline:init, whose fence is for
--                        its mbarriers too
--   consumer(g, me)      returns reduce(acc, work, store): what a consumer does with the sums of its slice, a list of
--                        arrays of registers; store(sums, first) is emitted where the sums of all slices are there:
--                        those of the tile's columns from `first` on, or without arguments all of them, in `acc`

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local sums = require "wgrun.reduction.sums"

local divided = division.divided
local cluster = {}

--- The reduction in a cluster, for wg.mainloop: the CTAs that multiply the slices of K of a tile are a cluster, and
--- send each other their sums through distributed shared memory, in a fixed order. Each of them stores some of the
--- tile's columns.
--- @param options table
--- @option splits integer[2,8]  the slices of K
--- @return table  for the option `reduction` of wg.mainloop
--- @see wg.mainloop.dense
function wg.reduction.cluster(opts)
  return classes.strategy("reduction", cluster, { splits = arguments.options("wg.reduction.cluster", opts).splits })
end

cluster.most_received = 98304 -- bytes of sums that a CTA may receive: what is left has to hold the stages

--- How many of `splits` CTAs store columns of a tile with n of them, equally many each: all, or as many as whole units
--- of D's panels allow. nil where these divide no tile.
function cluster.owners_of(n, splits, swapped)
  local unit = swapped and 8 or 16
  if n % unit ~= 0 then return nil end
  while n % (splits * unit) ~= 0 do splits = splits - 1 end
  return splits
end

--- How the slices of K of a plan are reduced through DSMEM, or nil where that goes through global memory: `owners`, the
--- number of CTAs that store a part of the tile, `columns`, those of each owner, and `bytes`, what a consumer of an
--- owner receives.
function cluster.dsmem_of(p)
  local e = p.epilogue
  local possible = p.splits > 1 and p.splits <= wg.target.portable_cluster and p.cluster == 1
    and not (p.pingpong or p.sparse)
    and not (e.gate or e.quantize or e.row_sums)
  local owners = possible and cluster.owners_of(p.n, p.splits, p.swapped)
  if not owners then return nil end
  local columns = p.n // owners
  local bytes = (p.splits - 1) * p.blocks * 64 * columns * 4
  return p.consumers * bytes <= cluster.most_received and { owners = owners, columns = columns, bytes = bytes } or nil
end

local function tiles_of(g)
  local k, p, sizes = g.k, g.p, g.sizes
  return divided(k, sizes.M + (p.m - 1), p.m) * divided(k, sizes.N + (p.n - 1), p.n)
end

function cluster.parameters() end

-- The mbarriers are of each consumer: `arrived` counts the bytes of sums, `read` the warps of owners that have read
-- theirs.
function cluster.shared(k, p)
  return {
    sums = k:shared { bytes = p.consumers * p.dsmem.bytes, align = 16, name = "sums" },
    arrived = k:shared { bytes = 8 * p.consumers, align = 8, name = "sums_arrived" },
    read = k:shared { bytes = 8 * p.consumers, align = 8, name = "sums_read" },
  }
end

function cluster.begin(g)
  local k, p = g.k, g.p
  -- a grid may have more clusters than there are tiles
  local owns = divided(k, k:special "ctaid.x", p.splits):lt(tiles_of(g))
  if p.dsmem.owners < p.splits then owns = owns & (k:special "cluster_ctarank"):lt(p.dsmem.owners) end
  for c = 0, p.consumers - 1 do
    local arrived = k:address(g.buffers.arrived, 8 * c)
    k:mbarrier_init(arrived, 1)
    k:mbarrier_init(k:address(g.buffers.read, 8 * c), 4 * p.dsmem.owners)
    k:mbarrier_arrive_expect_tx(arrived, p.dsmem.bytes, { guard = owns })
  end
end

function cluster.consumer(g, me)
  local k, p, buffers = g.k, g.p, g.buffers
  local splits, owners, registers = p.splits, p.dsmem.owners, p.dsmem.columns // 2
  local rank = k:special "cluster_ctarank"
  local buffer = k:address(buffers.sums, me.number * p.dsmem.bytes) + ((k:special "tid.x" & 127) << 4)
  local arrived, read = k:address(buffers.arrived, me.number << 3), k:address(buffers.read, me.number << 3)
  local slice_bytes = p.blocks * registers * 128 * 4
  local owned, phase = {}, k:reg "u32"
  for block = 1, p.blocks do owned[block] = k:regs(p.accumulator, registers) end
  k:mov(phase, 0)
  local tiles, clusters = tiles_of(g), divided(k, k:special "nctaid.x", splits)

  -- Sends the columns of each other owner to it, and keeps one's own.
  local function send(acc)
    for owner = 0, owners - 1 do
      local columns = {}
      for block = 1, p.blocks do columns[block] = acc[block]:slice(owner * registers, registers) end
      local own, others = rank:eq(owner), rank:ne(owner)
      local slot = k:selp_b32(rank - 1, rank, rank:gt(owner), { type = "u32" })
      local to, counted = k:mapa(buffer + slot * slice_bytes, owner), k:mapa(arrived, owner)
      sums.each_four(columns, function(four, place, block, r)
        for i = 0, 3 do k:mov(owned[block][r + i], four[i], { guard = own }) end
        k["st_async_v4_" .. p.accumulator](k, place == 0 and to or to + place, four, counted, { guard = others })
      end)
    end
  end

  return function(acc, work, store)
    local more = (work.number + clusters):lt(tiles) -- the cluster has another tile
    k:mbarrier_wait(read, phase ~ 1) -- of the tile before; passes at once in the first one
    for block = 1, p.blocks do
      for r = 0, registers - 1 do k:mov(owned[block][r], 0) end
    end
    send(acc)
    k:if_(rank:lt(owners), function()
      k:mbarrier_wait(arrived, phase)
      k:mbarrier_arrive_expect_tx(arrived, p.dsmem.bytes, { guard = more & (k:special "tid.x" & 127):eq(0) })
      for sender = 0, splits - 2 do sums.add(k, owned, "shared", buffer, sender * slice_bytes) end
      k:bar_warp_sync(0xFFFFFFFF)
      k:mbarrier_arrive(k:mapa(read, me.lane), { space = "shared::cluster", guard = more & me.lane:lt(splits) })
      store(owned, rank * p.dsmem.columns)
    end)
    k:xor(phase, phase, 1)
  end
end

classes.shield(wg.reduction, "wg.reduction.", { "cluster" })

return cluster
