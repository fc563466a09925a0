-- The kernel of wg.attention, after FlashAttention (Dao 2022; Shah et al. 2024 for Hopper): O = softmax(Q K^T) V in one
-- pass over the keys. Persistent CTAs draw tiles from a queue. A tile has 64 queries for each consumer
-- warpgroup (attention/consume.lua), and the keys that these see. A producer thread copies blocks of keys by TMA, from
-- the last to the first; where a block of keys has several pages, threads of three warps do, one for each operand.
-- Where the keys are in parts (attention/splits.lua), a cluster has one tile.

local wg = require "wgrun"
local consume = require "wgrun.attention.consume"
local fp8 = require "wgrun.attention.fp8"
local pages = require "wgrun.attention.pages"
local scheduler = require "wgrun.attention.scheduler"
local splits = require "wgrun.attention.splits"
local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"
local meeting = require "wgrun.builder.meeting"
local parameters = require "wgrun.builder.parameters"

local module = {}

-- What copies tiles by TMA, of each operand: load(at, row), where `at` has the batch and the head, and `row` is the
-- first.
local function loaders(g)
  local k, p, rings, maps, buffers = g.k, g.p, g.rings, g.maps, g.buffers
  local rank = p.split_columns and k:special "cluster_ctarank" or nil
  local load_own, load_shared = tensors.loader(k, p), tensors.loader(k, p, rank)
  local load_pages = p.page and pages.loader(k, p, g.sizes)
  local function loader(ring, tile, map, base, lines)
    local load, cursor = ring == rings.q and load_own or load_shared, ring:cursor()
    return function(at, row)
      for part = 0, ring == rings.q and 0 or p.parts - 1 do
        local copy = lines and load_pages and load_pages(tile, lines, map, at, row)
          or function(to, barrier) load(tile, to, map, at, row, barrier, { part = part }) end
        ring:acquire(cursor)
        local barrier, to = ring:expect(cursor, tile.bytes), base + cursor.stage * tile.bytes
        copy(to, barrier)
        ring:advance(cursor)
      end
    end
  end
  return {
    q = function()
      local load = loader(rings.q, p.q, maps.Q, k:address(buffers.q))
      return function(at)
        for c = 0, p.query_tiles - 1 do
          load(at, at.row + at.query_start + (rank and rank << 6 or 64 * c))
        end
      end
    end,
    k = function() return loader(rings.k, p.k, maps.K, k:address(buffers.k), p.lines) end,
    v = function()
      return p.fp8 and loader(rings.raw, p.raw, maps.V, k:address(buffers.raw))
        or loader(rings.v, p.v, maps.V, k:address(buffers.v), p.value_lines)
    end,
  }
end

-- The keys of a tile as loaders have them, and a register with the first one of the tile's last block.
local function keys_of(g, at)
  local k, p = g.k, g.p
  return { batch = at.batch, head = division.divided(k, at.head, p.heads // p.kv_heads), keys = at.keys },
    k:mov(at.key_start + at.last * p.block, { type = "u32" })
end

-- The first key of the block that follows, of each_later.
local function first_key(g, at, block, key) return block and at.key_start + block * g.p.block or key - g.p.block end

-- One thread copies all: the queries of a tile, its blocks of K, and V a block behind, since the scores come first.
local function copy_all(g)
  local k, p = g.k, g.p
  local of = loaders(g)
  local load_q, load_k, load_v = of.q(), of.k(), of.v()
  return function(at, draw)
    local kv, key = keys_of(g, at)
    load_k(kv, key)
    load_q(at)
    scheduler.each_later(g, at, function(block)
      local following = first_key(g, at, block, key)
      if p.fp8 then load_v(kv, key) end -- it is transposed before it is needed
      load_k(kv, following)
      if not p.fp8 then load_v(kv, key) end
      k:mov(key, following)
    end)
    draw() -- the answer comes while the last keys are multiplied
    load_v(kv, key)
  end
end

-- The same of the queries alone.
local function copy_queries(g)
  local load = loaders(g).q()
  return function(at, draw)
    load(at)
    draw()
  end
end

-- The thread that draws tiles, and copies them or their queries.
local function produce(g)
  local k = g.k
  local copy = g.p.copiers == 1 and copy_all(g) or copy_queries(g)
  g.scheduler.draw(function(at, draw)
    if not at.some then return copy(at, draw) end
    k:if_(at.some, function() copy(at, draw) end)
  end)
end

-- load(at, key) of K or V, for a warp whose lanes copy rows.
local function row_loader(g, name)
  local k, p, ring = g.k, g.p, g.rings[name]
  local tile, cursor, columns = p[name], ring:cursor(), name == "k" and p.dim or p.value_dim
  local look, copy = pages.row_copier(k, p, g.sizes)
  return function(at, key)
    look(at, key)
    ring:acquire(cursor)
    copy(tile, g.sizes[name:upper()], columns, k:address(g.buffers[name]) + cursor.stage * tile.bytes)
    k:cp_async_mbarrier_arrive_noinc(ring:full_barrier(cursor))
    ring:advance(cursor)
  end
end

-- A warp whose first lane, or all of whose lanes, copy the blocks of K or of V.
local function copy_blocks(g, name)
  local k, rows = g.k, g.p.copies == "rows"
  local load = rows and row_loader(g, name) or loaders(g)[name]()
  local first = not rows and (k:special "tid.x" & 31):eq(0) or nil
  g.scheduler.each(function(at)
    local function copies()
      local kv, key = keys_of(g, at)
      load(kv, key)
      scheduler.each_later(g, at, function(block)
        k:mov(key, first_key(g, at, block, key))
        load(kv, key)
      end)
    end
    local copying = first and at.some and first & at.some or first or at.some
    if copying then k:if_(copying, copies) else copies() end
  end)
end

-- The warps that transpose V of 8-bit types.
local function transpose(g)
  local k, p = g.k, g.p
  fp8.transpose_values(g, tensors.same_in_lanes(k, k:special "tid.x" >> 5) - (4 - p.transposers), function(body)
    g.scheduler.each(function(at)
      if not p.block_mask then return k:loop({ from = at.first, to = at.last + 1 }, body) end
      body()
      scheduler.each_later(g, at, body)
    end)
  end)
end

-- Stages of the operands in shared memory, and the rings over them; of 8-bit types also V as it comes, and panels of O.
local function stages_of(k, p, readers)
  local buffers = {
    q = k:shared { tile = p.q, count = p.query_stages * p.query_tiles, name = "Q" },
    k = k:shared { tile = p.k, count = p.stages, name = "K" },
    v = k:shared { tile = p.v, count = p.value_stages, name = "V" },
  }
  local rings = {
    q = k:pipeline {
      stages = p.query_stages * p.query_tiles, arrivals = p.fp8 and 4 or p.split_columns and 2 or 1, name = "query",
    },
    k = k:pipeline { stages = p.stages, arrivals = readers, producers = pages.producers(p), name = "key" },
    v = k:pipeline {
      stages = p.value_stages, arrivals = p.split_columns and readers // 2 or readers,
      producers = p.fp8 and p.transposers or pages.producers(p), name = "value",
    },
  }
  if p.fp8 then
    buffers.raw = k:shared { tile = p.raw, count = p.stages, name = "raw_V" }
    buffers.o = not p.packed
      and k:shared { bytes = p.panels * p.consumers * p.panel.bytes, align = p.panel.align, name = "O" }
    rings.raw = k:pipeline { stages = p.stages, arrivals = p.transposers, name = "raw_value" }
  end
  if p.splits > 1 then
    buffers.maxima = k:shared { bytes = p.join.maxima, align = 16, name = "maxima" }
    buffers.free = k:shared { bytes = 8, align = 8, name = "stages_free" }
    buffers.arrived = k:shared { bytes = 8 * p.consumers, align = 8, name = "parts_arrived" }
  end
  return buffers, rings
end

-- What one thread does before all others begin.
local function begin(g)
  local k, p, maps, rings = g.k, g.p, g.maps, g.rings
  for _, name in ipairs { "Q", "K", "V", "O" } do
    if maps[name] and maps[name].pointee == nil then k:prefetch_tensormap(maps[name]) end
  end
  if p.splits > 1 then splits.begin_join(k, p, g.buffers) end
  for _, ring in ipairs { rings.q, rings.k, rings.v, g.scheduler, rings.raw } do ring:init() end
end

--- The kernel of a plan (of plan.make), with these parameters. While it is emitted it is a table `g`: k, p; maps and
--- sizes, its parameters; buffers and rings; scheduler (attention/scheduler.lua).
function module.make(p, list)
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster } }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.maps.O = g.maps.O or g.sizes.O
    local readers = 4 * p.consumers
    g.buffers, g.rings = stages_of(k, p, p.split_columns and 2 * readers or readers)
    g.scheduler = scheduler.scheduler(g, readers + p.transposers + p.copiers - 1)

    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function() begin(g) end)
    -- The next launch's CTAs may come as this one's go. What the launch before has written is there after the wait.
    k:griddepcontrol_launch_dependents()
    k:griddepcontrol_wait()
    fp8.ones(k, p, g.buffers.v)
    meeting.all(k, p.cluster)
    k:if_((thread >> 7):eq(0), function()
      k:setmaxnreg_dec(p.registers[1])
      k:if_(thread:eq(0), function() produce(g) end)
      if p.copiers == 3 then
        for warp, name in ipairs { "k", "v" } do
          k:if_((thread >> 5):eq(warp), function() copy_blocks(g, name) end)
        end
      end
      if p.fp8 then k:if_((thread >> 5):ge(4 - p.transposers), function() transpose(g) end) end
    end, function()
      k:setmaxnreg_inc(p.registers[2])
      consume.emit(g)
    end)
    if p.split_columns then meeting.all(k, p.cluster) end -- the other CTA may still write to this one
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
