-- All-gather: a warp of each CTA fetches the shards of A that other devices have, in pieces, while the other warps
-- multiply the device's own shard and then those that have arrived. Bulk copies fetch, because rows that are sent slow
-- the product of the device that gets them more (docs/experiments/two_devices.md).
--
-- Words of the flags (signals.lua), behind the first:
--
--   2              the CTAs that have fetched all their pieces; back to 0 with the last of them
--   2 + d          device rank + d has written its shard
--   1 + devices + d  device rank + d has fetched this device's shard
--
-- and behind these two for each p.m rows of each other shard: the pieces that are there, back to 0 with the last of
-- them, and the launch that all of them are there of. The gathered shards stand in the order of the devices, each in so
-- many rows (`spacing`) that no tile reaches into two of them; the device's own is left out.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local shards = require "wgrun.collective.shards"
local signals = require "wgrun.collective.signals"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = { bytes = 16384 } -- of a piece

-- The rows of a shard, in whole clusters of tiles.
local function padded(p, rows)
  local unit = p.m * p.cluster_m
  return roofline.ceil_div(rows, unit) * unit
end

-- The first word of those for rows of other shards.
local function first_of_rows(p) return 1 + 2 * p.devices end

--- The words of a device's flags, for a D of so many rows.
function module.flags(p, rows)
  return { first_of_rows(p) + 2 * (p.devices - 1) * (padded(p, rows // p.devices) // p.m) }
end

-- The memory that launches of a device and a size share, made for the first of them.
local function kept(l, rows)
  local shared, key = l.gemm.shared, "gathered of " .. l.rank
  local of, size = shared[key], ("%d %d"):format(rows, l.K)
  if not of or of.size ~= size then
    of = { size = size, tensor = wg.empty(l.gemm.plan.dtype, { rows, l.K }) }
    shared[key] = of
  end
  return of.tensor
end

local function gathered_of(p, l)
  local least, given = padded(p, l.shard), l.given.gathered
  if given == nil then return kept(l, p.devices * least) end
  local rows, columns = arguments.matrix("gemm: gathered", given)
  if columns ~= l.K or rows % p.devices ~= 0 or rows // p.devices < least then
    native.fail(("gemm: gathered is %d x %d, must be at least %d x %d, as many rows for each of the %d devices"):format(
      rows, columns, p.devices * least, l.K, p.devices))
  end
  return given
end

--- Adds the kernel's parameters for it.
function module.of_devices(p, add)
  local function gathered(l) return gathered_of(p, l) end
  add { name = "gathered", map = { tile = p.a_box }, value = gathered, note = "the shards of all devices" }
  add { name = "gathered_data", type = p.dtype .. "*", value = gathered, note = "gathered again" }
  add {
    name = "spacing", type = "u32", value = function(l) return gathered(l).shape[1] // p.devices end,
    note = ("the rows of gathered for each device, at least those of a shard rounded up to %d"):format(
      p.m * p.cluster_m),
  }
  for distance = 1, p.devices - 1 do
    add {
      name = "A_" .. distance, type = ("const %s*"):format(p.dtype),
      value = function(l) return l.memory(distance) end, note = ("A of device rank + %d"):format(distance),
    }
  end
end

function module.shared(k)
  return {
    piece = k:shared { bytes = module.bytes, align = 128, name = "piece" },
    piece_loaded = k:shared { bytes = 8, align = 8, name = "piece_loaded" },
  }
end

function module.begin(g) g.k:mbarrier_init(g.k:address(g.buffers.piece_loaded), 1) end

-- The words of p.m rows of a shard, which begin at `row` of it. before: the shards that are fetched before it.
local function words_of(g, before, row)
  local k, p = g.k, g.p
  local rows, unit = shards.rows(g), p.m * p.cluster_m
  local blocks = division.divided(k, rows + (unit - 1), unit) * p.cluster_m
  local pair = blocks * before + division.divided(k, row, p.m)
  return k:element(g.sizes.flags, (pair << 1) + first_of_rows(p)), blocks
end

--- The tensor map from which the producer copies a tile's rows of A, which begin at `row` of D. Waits until they are
--- there.
function module.source(g, work, row)
  local k, own = g.k, work.shard:eq(0)
  k:if_(~own, function()
    local words = words_of(g, work.shard - 1, row - work.first)
    signals.await(g, words + 4, "gpu")
    k:fence_proxy_async()
  end)
  return k:selp(g.maps.A, g.maps.gathered, own)
end

-- Fetches this CTA's pieces of the shard of device rank + distance. phase: of the mbarrier.
local function fetch_shard(g, distance, phase)
  local k, p, sizes = g.k, g.p, g.sizes
  local row_bytes, rows = sizes.K * native.element_bytes[p.dtype], shards.rows(g)
  local words, blocks = words_of(g, distance - 1, k:mov(0, { type = "u32" }))
  local owner = sizes.rank + distance
  k:sub(owner, owner, p.devices, { guard = owner:ge(p.devices) })
  local pieces = division.divided(k, row_bytes * p.m + (module.bytes - 1), module.bytes) -- of a block of p.m rows
  local buffer, loaded = k:address(g.buffers.piece), k:address(g.buffers.piece_loaded)
  local from, to = sizes["A_" .. distance], k:mad_wide_u32(owner * sizes.spacing, row_bytes, sizes.gathered_data)
  signals.await(g, sizes.flags + 4 * (signals.words + distance), "sys")
  k:fence_proxy_async()
  k:loop({ from = k:special "ctaid.x", to = blocks * pieces, step = k:special "nctaid.x" }, function(number)
    local block = k:div(number, pieces)
    local row, first = block * p.m, (number - block * pieces) * module.bytes
    local left = k:max(rows, row) - row -- of the shard; none where a cluster has more rows than are left
    local bytes = k:min(left, p.m) * row_bytes
    k:if_(first:lt(bytes), function()
      local size, place = k:min(bytes - first, module.bytes), k:mad_wide_u32(row, row_bytes, k:cvt_u64_u32(first))
      k:mbarrier_arrive_expect_tx(loaded, size)
      k:cp_async_bulk(buffer, from + place, size, loaded)
      k:mbarrier_wait(loaded, phase)
      k:xor(phase, phase, 1)
      k:cp_async_bulk_store(to + place, buffer, size)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
    local here, last = words + k:cvt_u64_u32(block << 3), pieces - 1
    k:if_(k:atom_global_inc_u32(here, last, { sem = "acq_rel.gpu" }):eq(last), function()
      signals.tell(g, here + 4, "gpu")
    end)
  end)
end

--- The role of the warp that fetches, one thread of which does all. A launch must not begin to fetch before the other
--- devices have written their shards, nor end while they still fetch this one's.
function module.fetch(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local phase = k:mov(0, { type = "u32" })
  local function tell_others(word)
    for distance = 1, p.devices - 1 do -- this device is at the distance devices - distance of that one
      signals.tell(g, sizes["flags_" .. distance] + 4 * (word + p.devices - distance), "sys")
    end
  end
  local fetched = 1 + p.devices
  k:if_((k:special "tid.x" & 31):eq(0), function()
    k:if_((k:special "ctaid.x"):eq(0), function() tell_others(signals.words) end)
    for distance = 1, p.devices - 1 do fetch_shard(g, distance, phase) end
    k:if_(signals.last_cta(k, sizes.flags + 4 * signals.words), function()
      tell_others(fetched)
      for distance = 1, p.devices - 1 do signals.await(g, sizes.flags + 4 * (fetched + distance), "sys") end
    end)
  end)
end

return module
