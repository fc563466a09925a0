-- Who accesses which byte of shared memory, in two loops inside each other, each up to a number of the launch: what is
-- ordered for all numbers is proved, and what is wrong for some numbers is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function verdict(kernel, property)
  local one = check.verdict(kernel, property, { budget = 1 })
  return one.verdict, one.reason
end

--- Thread 0 copies K blocks for each of T tiles into a ring. Warp 1 adds them up, and stores the sums of a tile through a panel
--- and a bulk copy. as: whether something holds, for each place, where it is left out or comes too early: early (a stage is
--- given back before it is read), unfenced (the panel is copied without a proxy fence), unread (the panel is written again while a copy
--- reads it), unmet (the lanes do not meet before one of them copies), unwritten (a block is not waited for).
local function tiles(stages, as)
  local function is(name, at) return as and as[name] and as[name](at) end
  return wg.kernel("tiles", { threads = 64 }, function(k)
    local A, D = k:param("A", "const u32*"), k:param("D", "u32*")
    local T, K, tid = k:param("T", "u32"), k:param("K", "u32"), k:special "tid.x"
    local room = k:shared { bytes = 128 * stages, align = 128, name = "room" }
    local panel = k:shared { bytes = 128, align = 128, name = "panel" }
    local full, empty = check.ring(k, stages)
    local function when(condition, body)
      if condition == nil then return end
      if condition == true then body() else k:if_(condition, body) end
    end
    local function unless(condition, body)
      if condition == nil then return body() end
      if condition ~= true then k:if_(condition, function() end, body) end
    end
    local function each_block(body, after)
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      k:loop({ from = 0, to = T }, function(tile)
        k:loop({ from = 0, to = K }, function(i)
          body(stage, phase, { tile = tile, i = i, K = K, T = T })
          k:add(stage, stage, 1)
          k:if_(stage:eq(stages), function()
            k:mov(stage, 0)
            k:xor(phase, phase, 1)
          end)
        end)
        if after then after { tile = tile, T = T } end
      end)
    end
    k:if_(tid:eq(0), function()
      each_block(function(stage, phase)
        local bar = k:address(full, stage * 8)
        k:mbarrier_wait(k:address(empty, stage * 8), phase ~ 1)
        k:mbarrier_arrive_expect_tx(bar, 128)
        k:cp_async_bulk(k:address(room, stage * 128), k:element(A, 0), 128, bar)
      end)
    end)
    k:if_(tid:ge(32), function()
      local lane, sum = tid & 31, k:mov(0, { type = "u32" })
      local function give_back(stage)
        k:fence_proxy_async()
        k:bar_warp_sync()
        k:if_(lane:eq(0), function() k:mbarrier_arrive(k:address(empty, stage * 8)) end)
      end
      each_block(function(stage, phase, at)
        unless(is("unwritten", at), function() k:mbarrier_wait(k:address(full, stage * 8), phase) end)
        when(is("early", at), function() give_back(stage) end)
        k:add(sum, sum, k:ld_shared_u32(k:address(room, stage * 128 + lane * 4)))
        unless(is("early", at), function() give_back(stage) end)
      end, function(at)
        k:if_(lane:eq(0), function()
          unless(is("unread", at), function() k:cp_async_bulk_wait_group(0, { read = true }) end)
        end)
        k:bar_warp_sync()
        k:st_shared_u32(k:address(panel, lane * 4), sum)
        unless(is("unfenced", at), function() k:fence_proxy_async() end)
        unless(is("unmet", at), function() k:bar_warp_sync() end)
        k:if_(lane:eq(0), function()
          k:cp_async_bulk_store(k:element(D, at.tile * 32), k:address(panel), 128)
          k:cp_async_bulk_commit_group()
        end)
      end)
      k:if_(lane:eq(0), function() k:cp_async_bulk_wait_group(0) end)
    end)
  end)
end

for _, stages in ipairs { 1, 2, 3, 4, 7 } do
  local right = tiles(stages)
  for _, property in ipairs { "shared-races", "proxy-order", "initialisation" } do
    local its, reason = verdict(right, property)
    check.equal({ stages, property, its, reason }, { stages, property, "proved" })
  end
end

local function always() return true end
local function in_tile(number) return function(at) return at.tile:eq(number) end end
for _, fault in ipairs {
  { "early", "shared-races", always }, { "early", "shared-races", in_tile(1) }, { "early", "shared-races", in_tile(37) },
  { "early", "shared-races", function(at) return at.i:eq(23) end }, { "early", "shared-races", function(at) return (at.i + 1):eq(at.K) end },
  { "early", "shared-races", function(at) return at.K:eq(6) end }, { "early", "shared-races", function(at) return (at.i & 7):eq(7) end },
  { "unfenced", "proxy-order", always }, { "unfenced", "proxy-order", in_tile(0) }, { "unfenced", "proxy-order", in_tile(37) },
  { "unread", "shared-races", always }, { "unread", "shared-races", in_tile(1) }, { "unread", "shared-races", in_tile(37) },
  { "unread", "shared-races", function(at) return (at.tile & 3):eq(2) end },
  { "unmet", "shared-races", always }, { "unmet", "shared-races", in_tile(2) },
  { "unwritten", "initialisation", always }, { "unwritten", "initialisation", in_tile(5) },
  { "unwritten", "shared-races", function(at) return at.i:eq(11) end },
} do
  local name, property, where = table.unpack(fault)
  if verdict(tiles(2, { [name] = where }), property) == "proved" then
    error(("proved, and wrong: %s, at the places of line %d"):format(name, debug.getinfo(where, "S").linedefined))
  end
end
