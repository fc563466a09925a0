-- Tiles that CTAs draw: a counter in global memory hands them out, so that a CTA with short tiles takes more of them.

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local k = native.methods.builder
local options = arguments.options

--- A queue of tiles, made by k:queue: one thread of the CTA draws their numbers, and warps receive them.
--- @field tiles reg  u32: the number of tiles
local queue = classes.new "queue"

--- Persistent CTAs that draw their tiles from a counter in global memory: where tiles differ in length, each CTA is
--- busy until the last of them. Long tiles should come first. CTA c begins with tile c; one thread draws the next
--- number towards the end of a tile, and shows it to the warps that work on it. The counter is 0 before the launch,
--- and the draw of the last tile sets it to 0 again; two launches that run at a time need two counters.
--- One thread of the CTA calls queue:init, and then all threads wait at a barrier.
--- @param options table
--- @option counter reg  a pointer parameter to u32: one element
--- @option tiles reg  u32: the number of tiles
--- @option readers integer[1,31]  the warps that receive each number
--- @return queue
--- @see k:each_tile
function k:queue(opts)
  options("k:queue", opts)
  arguments.object("k:queue, counter", opts.counter, "reg")
  arguments.object("k:queue, tiles", opts.tiles, "reg")
  local readers = opts.readers
  return setmetatable({
    k = self, counter = opts.counter, tiles = opts.tiles,
    ring = self:pipeline { stages = 2, arrivals = readers, name = "queue" },
    numbers = self:shared { bytes = 8, align = 8, name = "queue_numbers" },
  }, queue)
end

--- Initialises the mbarriers of the queue. One thread of the CTA executes it.
function queue:init() self.ring:init() end

-- The address of the number that the cursor's stage holds.
local function slot(self, cursor) return self.k:address(self.numbers, cursor.stage << 2) end

--- One thread draws tiles: body(number, draw) for each, until there are no more. draw() emits the draw of the next
--- tile, which takes about a microsecond; without it the draw follows the body.
--- @param body function(number: reg, draw: function)  emits the thread's work on a tile; `number` is u32. It may call
---   draw() once on each of its paths: late, since a tile that is drawn early waits for its CTA while others are free
function queue:draw(body)
  arguments.body("queue:draw", body)
  local b, ring, cursor = self.k, self.ring, self.ring:cursor()
  local number = b:mov(b:special "ctaid.x", { type = "u32" })
  local ctas = b:special "nctaid.x"
  b:while_(function()
    ring:acquire(cursor)
    b:st_shared_u32(slot(self, cursor), number)
    b:mbarrier_arrive(ring:full_barrier(cursor))
    ring:advance(cursor)
    return number:lt(self.tiles)
  end, function()
    local drawn
    body(number, function()
      drawn = drawn or b:reg "u32"
      b:atom_relaxed_gpu_global_add_u32(drawn, self.counter, 1)
    end)
    drawn = drawn or b:atom_relaxed_gpu_global_add_u32(self.counter, 1)
    b:if_(drawn:eq(self.tiles - 1), function() b:st_relaxed_gpu_global_u32(self.counter, 0) end)
    b:add(number, drawn, ctas)
  end)
end

--- Warps receive the tiles that the drawing thread shows: body(number) for each. All lanes execute it.
--- @param body function(number: reg)  emits the warp's work on a tile; `number` is u32, the same in all lanes
function queue:each(body)
  arguments.body("queue:each", body)
  local b, ring, cursor = self.k, self.ring, self.ring:cursor()
  local lane, number = b:special "tid.x" & 31, b:reg "u32"
  b:while_(function()
    ring:wait(cursor)
    -- The lane that releases the stage is the one that reads it. The shuffle also tells the assembler that all lanes
    -- have the same number, which then lives in uniform registers.
    local shown = b:mov(0, { type = "u32" })
    b:ld_shared_u32(shown, slot(self, cursor), { guard = lane:eq(0) })
    b:shfl_sync_idx_b32(number, shown, 0, 31)
    ring:release(cursor, { lane = lane })
    ring:advance(cursor)
    return number:lt(self.tiles)
  end, function() body(number) end)
end

classes.shield(k, "k:", { "queue" })
classes.shield(queue, "queue:", { "init" })
