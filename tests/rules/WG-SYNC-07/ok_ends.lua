-- WG-SYNC-07, kept: loops that end, though their conditions look like those of loops that do not.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local function counts(type, first, goes_on, step)
    local i = k:mov(first, { type = type })
    k:while_(function() return goes_on(i) end, function() k:add(i, i, step) end)
  end
  counts("s32", 3, function(i) return i:ge(0) end, -1)
  counts("u32", 3, function(i) return i:gt(0) end, -1)
  counts("u32", 0, function(i) return i:ne(10) end, 2)
  counts("u32", 1, function(i) return (i & 15):ne(10) end, 3)
  counts("u32", 4294967200, function(i) return i:ge(8) end, 8)
  counts("u32", 0, function(i) return (i & 7):lt(7) end, 1)
  counts("s32", 2147483600, function(i) return i:gt(0) end, 1)
  -- What decides changes in the body, from turn to turn or in one of them.
  local again = k:reg "pred"
  k:setp_ge_u32(again, n, 0)
  k:while_(function() return again end, function() k:setp_lt_u32(again, n, 8) end)
  local i, last = k:mov(0, { type = "u32" }), k:reg "pred"
  k:setp_ge_u32(last, n, 8)
  k:while_(function() return last end, function()
    k:add(i, i, 1)
    k:if_(i:eq(5), function() k:setp_lt_u32(last, n, 8) end)
  end)
  -- The last one holds for any n.
  k:while_(function() return n:lt(0) end, function() end)
  k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(k:element(X, 0), i) end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }), 8 } }
