-- The column of a tile decides what a role of a persistent kernel does: a quotient of a number that each turn of the loop
-- over tiles makes another one. It is anything in each turn; where the role itself is right either way, that is proved.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local properties <const> = { "no-deadlock", "phases", "copy-bytes", "shared-races", "initialisation" }
local full_bytes <const>, edge_bytes <const> = 1024, 512

--- Thread 0 copies boxes for a ring of two stages, smaller ones for tiles of the last column; a warp waits for them. `as`
--- changes a part of it.
local function tiles(as)
  return wg.kernel("tiles", { threads = 64 }, function(k)
    local whole = k:tensor_map("A", { dtype = "f32", box = { 16, 16 }, constant = true })
    local edge = k:tensor_map("A_edge", { dtype = "f32", box = { 16, 8 }, constant = true })
    local rows, N, K = k:param("rows", "u32"), k:param("N", "u32"), k:param("K", "u32")
    local boxes = k:shared { bytes = 2 * full_bytes, align = 128, name = "boxes" }
    local full, empty = check.ring(k, 2)
    local tid, all = k:special "tid.x", rows * ((N + 15) >> 4)
    local function role(body, each_tile)
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:loop({ from = k:special "ctaid.x", to = all, step = k:special "nctaid.x" }, function(tile)
        local at = each_tile(tile)
        k:loop({ from = 0, to = K }, function()
          body(stage, phase, at)
          k:xor(stage, stage, 1)
          k:if_(stage:eq(0), function() k:xor(phase, phase, 1) end)
        end)
      end)
    end
    local function last(tile) return (N - k:div(tile, rows) * 16):le(8) end
    k:if_(tid:eq(0), function()
      local before = k:reg "pred"
      k:setp_eq_u32(before, tid, 1)
      local zero = k:mov(0, { type = "s32" })
      role(function(stage, phase, at)
        k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1)
        local barrier = k:address(full, stage << 3)
        local expected, copied = at.expected(), at.copied()
        k:mbarrier_arrive_expect_tx(barrier, k:selp_u32(as.edge_bytes or edge_bytes, full_bytes, expected))
        local to = k:address(boxes, stage * full_bytes)
        k:if_(copied, function() k:cp_async_bulk_tensor_2d(to, edge, { zero, zero }, barrier) end,
          function() k:cp_async_bulk_tensor_2d(to, whole, { zero, zero }, barrier) end)
      end, function(tile)
        local its = last(tile)
        local function this() return its end
        local at = { expected = this, copied = this }
        if as.tile then as.tile(at, { k = k, tile = tile, last = last, before = before, its = its, rows = rows, N = N }) end
        return at
      end)
    end)
    k:if_(tid:ge(32), function()
      local lane = tid & 31
      role(function(stage, phase)
        k:mbarrier_wait(k:address(full, stage << 3), phase)
        k:bar_warp_sync()
        k:mbarrier_arrive(k:address(empty, stage << 3), { guard = lane:eq(0) })
      end, function(tile)
        if as.consumed then as.consumed { k = k, tile = tile, last = last, lane = lane, empty = empty } end
      end)
    end)
  end)
end

for _, property in ipairs(properties) do
  local one = check.verdict(tiles {}, property)
  check.equal({ property, one.verdict, one.reason }, { property, "proved" })
end

-- Of each a property that it breaks.
for what, of in pairs {
  ["other bytes in the last column alone"] = { "copy-bytes", { edge_bytes = 528 } },
  ["the whole box's bytes there"] = { "no-deadlock", { edge_bytes = full_bytes } },
  ["bytes by the tile, boxes by the next one"] = {
    "copy-bytes", {
      tile = function(at, o)
        local next = o.last(o.tile + 1)
        at.copied = function() return next end
      end,
    },
  },
  ["boxes by the column of the tile before"] = {
    "copy-bytes", {
      tile = function(at, o)
        local kept = o.k:reg "pred"
        o.k:or_pred(kept, o.before, o.before)
        o.k:or_pred(o.before, o.its, o.its)
        at.copied = function() return kept end
      end,
    },
  },
  ["boxes by another width"] = {
    "copy-bytes", {
      tile = function(at, o)
        local other = (o.N - o.k:div(o.tile, o.rows) * 16):le(7)
        at.copied = function() return other end
      end,
    },
  },
  ["boxes by a quotient of the sign"] = {
    "copy-bytes", {
      tile = function(at, o)
        local below = o.k:reg "pred"
        o.k:setp_lt_s32(below, o.k:div(o.tile, o.rows), 5)
        at.copied = function() return below end
      end,
    },
  },
  ["a consumer that leaves out the last column"] = {
    "no-deadlock", {
      consumed = function(o)
        o.k:if_(o.last(o.tile), function() o.k:mbarrier_arrive(o.k:address(o.empty, 0), { guard = o.lane:eq(0) }) end)
      end,
    },
  },
} do
  local property, as = table.unpack(of)
  if check.verdict(tiles(as), property).verdict == "proved" then error(("proved, and wrong: %s"):format(what)) end
end

-- A loop over tiles ends where its counter does, and not where a column may be anything.
local function ends(counts)
  return wg.kernel("ends", { threads = 32 }, function(k)
    local rows, columns, K = k:param("rows", "u32"), k:param("columns", "u32"), k:param("K", "u32")
    local tile = k:mov(k:special "ctaid.x", { type = "u32" })
    k:while_(function() return k:div(tile, rows):lt(columns) end, function()
      k:loop({ from = 0, to = K }, function() k:bar_sync(0) end)
      if counts then k:add(tile, tile, k:special "nctaid.x") end
    end)
  end)
end
if check.verdict(ends(false), "no-deadlock").verdict == "proved" then error "proved, and wrong: a tile that stays" end
