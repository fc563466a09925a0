-- Reduce-scatter: a reduction (reduction/cluster.lua) whose slices of K are those of the devices. The sums of a tile of
-- another device's shard become its part: they are rounded to D's type, written to the other device's inbox straight
-- from registers, and announced by a flag. To a tile of its own shard a device adds the parts of all others, always in
-- the same order, and stores it.
--
-- Inboxes and flags have two halves that take turns: a device may begin its next launch while another one still reads.
-- The launch after that waits for what the other one sends in between. A half has a place for each device that sends,
-- in the order in which they come to this shard, each tile of the shard, and each consumer that shares tiles.

local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local signals = require "wgrun.collective.signals"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local module = {}

local divided, ceil_div = division.divided, roofline.ceil_div

-- The consumers that share a tile.
local function sharers(p) return p.pingpong and 1 or p.consumers end

-- The parts of a half.
local function parts_of(p, rows, columns)
  local tiles = ceil_div(rows, p.m * p.cluster_m) * ceil_div(columns, p.n * p.cluster_n) * p.cluster
  return (p.devices - 1) * tiles * sharers(p)
end

local function part_elements(p) return p.blocks * 64 * p.width end

--- The words of a device's flags, and the elements of its inbox, for a D of so many rows and columns.
function module.flags(p, rows, columns) return { signals.words + 2 * parts_of(p, rows, columns) } end
function module.inbox(p, rows, columns) return { 2 * parts_of(p, rows, columns), part_elements(p) } end

--- Adds the kernel's parameters for it.
function module.of_devices(p, add)
  for distance = 0, p.devices - 1 do
    add {
      name = distance == 0 and "inbox" or "inbox_" .. distance, type = p.d .. "*",
      value = function(l) return l.memory(distance) end,
      note = distance > 0 and ("that of device rank + %d"):format(distance) or nil,
    }
  end
  add {
    name = "half_flags", type = "u32", note = "the words of half of the flags, less the first two",
    value = function(l) return (arguments.elements(l.flags(0).shape) - signals.words) // 2 end,
  }
  add {
    name = "half_inbox", type = "u32", note = "units of 16 bytes in half of an inbox",
    value = function(l) return arguments.elements(l.memory(0).shape) * native.element_bytes[p.d] // 32 end,
  }
end

function module.parameters() end
function module.shared() return {} end
function module.begin() end

-- Calls visit(block, r, count, offset) for each 16 bytes of a thread's share of a part, `count` elements from
-- acc[block][r]. Threads of a warpgroup lie side by side.
local function each_unit(p, acc, visit)
  local count, offset = 16 // native.element_bytes[p.d], 0
  for block, sums in ipairs(acc) do
    for r = 0, #sums - 1, count do
      visit(block, r, count, offset)
      offset = offset + 128 * 16
    end
  end
end

-- The sums, rounded to D's type, to that address.
local function write(k, p, acc, to)
  local convert = elements.to_output[p.d]
  each_unit(p, acc, function(block, r, count, offset)
    local words = {}
    for i = r, r + count - 1, 2 do
      table.move({ convert(k, acc[block][i], acc[block][i + 1]) }, 1, 2, #words + 1, words)
    end
    k[#words == 4 and count == 8 and "st_global_v4_b32" or "st_global_v4_f32"](k, to, words, { offset = offset })
  end)
end

-- Adds the part at that address to the sums.
local function add(k, p, acc, from)
  local convert = elements.from_output[p.d]
  each_unit(p, acc, function(block, r, count, offset)
    local words = k:regs(count == 8 and "b32" or "f32", 4)
    k[count == 8 and "ld_global_v4_b32" or "ld_global_v4_f32"](k, words, from, { offset = offset })
    local each = 8 // count -- words of two elements
    for i = 0, count - 1, 2 do
      local x, y = convert(k, words[i * each // 2], each == 2 and words[i + 1] or nil)
      k:add(acc[block][r + i], acc[block][r + i], x)
      k:add(acc[block][r + i + 1], acc[block][r + i + 1], y)
    end
  end)
end

function module.consumer(g, me)
  local k, p, sizes = g.k, g.p, g.sizes
  local thread, others = k:special "tid.x" & 127, p.devices - 1
  local leader, turn = thread:eq(0), g.launch & 1
  local function count(extent, unit) return divided(k, extent + (unit - 1), unit) end
  local tiles = count(sizes.M, p.m * p.cluster_m) * count(sizes.N, p.n * p.cluster_n) * p.cluster
  local bytes = part_elements(p) * native.element_bytes[p.d]

  local function part(shard, tile)
    local number = shard * tiles + tile
    return me.shares and number * sharers(p) + me.number or number
  end
  local function flag_of(flags, number)
    return k:mad_wide_u32(number + (turn * sizes.half_flags + signals.words), 4, flags)
  end
  local function address_of(inbox, number)
    local half = k:mad_wide_u32(turn * sizes.half_inbox, 16, inbox)
    return k:mad_wide_u32(number, bytes, half) + (k:cvt_u64_u32(thread << 4))
  end
  -- That of the device which is so far behind in the ring.
  local function of_peer(name, shard)
    local found = sizes[name .. "_1"]
    for distance = 2, others do found = k:selp(sizes[name .. "_" .. distance], found, shard:eq(distance - 1)) end
    return found
  end

  -- A part is announced one tile later, when all of it has long been written.
  local announced = k:mov(0, { type = "u64" })
  local function announce()
    k:if_(leader & announced:ne(0), function() signals.tell(g, announced, "sys") end)
    k:mov(announced, 0)
  end
  me.finish = announce

  local function sync() k:bar_sync(me.number + 1, { threads = 128 }) end
  return function(acc, work, store)
    announce()
    k:if_(work.shard:lt(others), function()
      local number = part(work.shard, work.number)
      write(k, p, acc, address_of(of_peer("inbox", work.shard), number))
      sync()
      k:mov(announced, flag_of(of_peer("flags", work.shard), number))
    end, function()
      k:if_(leader, function()
        k:loop(others, function(sender) signals.await(g, flag_of(sizes.flags, part(sender, work.number)), "sys") end)
      end)
      sync()
      k:loop(others, function(sender) add(k, p, acc, address_of(sizes.inbox, part(sender, work.number))) end)
      store()
    end)
  end
end

return module
