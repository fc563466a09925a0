-- The option `collective` of wg.gemm: a product of several devices, which run the same kernel at the same time.
--
--   all_gather      each device has some rows of A, and gets all rows of D for its columns of B (all_gather.lua)
--   reduce_scatter  each device has some of K, and gets some rows of the sum of all products (reduce_scatter.lua)
--
-- A device's rows of A, or of the sum, are its shard. All devices go over the tiles of one shard after the other
-- (shards.lua), in the order of a ring: where device r has shard r, device r + 1 has shard r + 1 at the same time.
-- The kernels' M is the rows of D.

local arguments = require "wgrun.arguments"
local all_gather = require "wgrun.collective.all_gather"
local reduce_scatter = require "wgrun.collective.reduce_scatter"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fail, ceil_div = native.fail, roofline.ceil_div
local of_launch = { "rank", "flags", "shards", "inboxes", "gathered" }

--- Adds what the options say of a collective to a plan: `collective`, `devices`, and `gather` or `scatter`.
function module.read(p, opts)
  if (opts.collective == nil) ~= (opts.devices == nil) then
    fail "wg.gemm: `collective` and `devices` go together"
  end
  p.collective, p.devices = opts.collective, opts.devices
  p.gather = p.collective == "all_gather" and all_gather or nil
  p.scatter = p.collective == "reduce_scatter" and reduce_scatter or nil
end

--- The rows of D, and of a shard, for an A with so many rows.
function module.extents(p, rows)
  if p.gather then return rows * p.devices, rows end
  if rows % p.devices ~= 0 then
    fail(("gemm: A has %d rows, must be a multiple of the %d devices"):format(rows, p.devices))
  end
  return rows // p.devices, rows // p.devices
end

--- The shapes of `flags`, and with reduce_scatter of an `inbox`, of a device in launches with a D of so many rows and
--- columns.
function module.exchange(p, rows, columns)
  local of = p.gather or p.scatter
  return { flags = of.flags(p, rows, columns), inbox = p.scatter and of.inbox(p, rows, columns) or nil }
end

-- The tensors of all devices called `name`, by rank; raises for another number of them, and for several shapes.
local function of_devices(p, name, given)
  local list = given[name]
  local good = list ~= nil and #list == p.devices
  for d = 1, good and p.devices or 0 do
    local shape = arguments.shape_of(list[d])
    good = good and shape ~= nil and arguments.shape_text(shape) == arguments.shape_text(list[1].shape)
  end
  if not good then
    fail(("gemm: `%s` must be a list of %d tensors of one shape, one of each device"):format(name, p.devices))
  end
  return list
end

-- Raises where a tensor called `name` has less elements than one of the shape `least`.
local function at_least(name, tensor, least)
  local count, needed = arguments.elements(tensor.shape), arguments.elements(least)
  if count >= needed then return end
  fail(("gemm: %s has %d elements, must have at least %d (gemm:exchange)"):format(name, count, needed))
end

--- What the parameters of the collective take of a launch (mainloop/launch.lua), checked: `rank`, and functions of the
--- distance of a device in the ring, 0 for this one.
function module.arguments(p, given, A, D, shard)
  if not p.collective then
    for _, name in ipairs(of_launch) do
      if given[name] ~= nil then
        fail(("gemm: `%s` is given, but not of a wg.gemm{ collective = }"):format(name))
      end
    end
    return {}
  end
  local rank = given.rank
  if rank == nil or rank >= p.devices then
    fail(("gemm: rank is %s, must be an integer from 0 to %d"):format(rank, p.devices - 1))
  end
  local memory = p.gather and "shards" or "inboxes"
  local flags, of_memory = of_devices(p, "flags", given), of_devices(p, memory, given)
  local exchange = module.exchange(p, D.shape[1], D.shape[2])
  at_least("flags", flags[1], exchange.flags)
  if p.gather then
    arguments.same_shape("gemm: shards", of_memory[1], A.shape)
  else
    at_least("inboxes", of_memory[1], exchange.inbox)
  end
  local function at(list) return function(distance) return list[(rank + distance) % p.devices + 1] end end
  return {
    rank = rank, flags = at(flags), memory = at(of_memory), shard = shard,
    rows_of_tiles = p.devices * ceil_div(shard, p.m * p.cluster_m),
  }
end

--- Adds the kernel's parameters for it.
function module.parameters(p, add)
  if not p.collective then return end
  add { name = "rank", type = "u32", note = "the number of this device" }
  for distance = 0, p.devices - 1 do
    add {
      name = distance == 0 and "flags" or "flags_" .. distance, type = "u32*",
      value = function(l) return l.flags(distance) end,
      note = distance == 0 and "zeros before the first launch" or ("those of device rank + %d"):format(distance),
    }
  end
  (p.gather or p.scatter).of_devices(p, add)
end

return module
