-- WG-SYNC-07, broken: what would end these loops never holds, whatever the values are.
local wg = require "wgrun"

wg.kernel("case", { threads = 32 }, function(k)
  local n, y = k:param("n", "u32"), k:param("Y", "u32*")
  local i, wide = k:mov(n), k:mov(0, { type = "u64" })
  k:while_(function() return i:ge(0) end, function() k:sub(i, i, 1) end) -- EXPECT: WG-SYNC-07
  k:st_global_u32(y, i)
end)
wg.kernel("stays_small", { threads = 32 }, function(k)
  local i = k:mov(k:param("n", "u32"))
  k:while_(function() return (i & 7):lt(8) end, function() k:add(i, i, 1) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("not_negative", { threads = 32 }, function(k)
  local i = k:mov(k:param("n", "s32"))
  k:while_(function() return (i & 255):ge(0) end, function() k:sub(i, i, 1) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("no_step", { threads = 32 }, function(k)
  local i, step = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
  k:while_(function() return i:lt(100) end, function() k:add(i, i, step) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("odd_is_not_even", { threads = 32 }, function(k)
  local i = k:mov(1, { type = "u32" })
  k:while_(function() return i:ne(10) end, function() k:add(i, i, 2) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("greatest", { threads = 32 }, function(k)
  local i = k:mov(k:param("n", "s32"))
  k:while_(function() return i:le(2147483647) end, function() k:add(i, i, 1) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("unchanged", { threads = 32 }, function(k)
  local n, half = k:param("n", "u32"), k:reg "u32"
  k:while_(function() return n:gt(0) end, function() k:shr(half, n, 1) end) -- EXPECT: WG-SYNC-07
end)
wg.kernel("inner", { threads = 32 }, function(k)
  local n, i = k:param("n", "u32"), k:mov(0, { type = "u32" })
  k:while_(function() return i:lt(n) end, function()
    local left = k:mov(i)
    k:while_(function() return left:ge(0) end, function() k:sub(left, left, 2) end) -- EXPECT: WG-SYNC-07
    k:add(i, i, 1)
  end)
end)
