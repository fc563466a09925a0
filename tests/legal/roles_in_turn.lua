-- Two warpgroups take turns by named barriers, one arriving where the other waits; registers move from one role to the
-- other.
-- good: n1 n2 n5
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local rounds = math.tointeger(tonumber(kit.variant:match "%d+" or 1))

local kernel = wg.kernel("turns", { threads = 384 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  local word = k:shared { bytes = 512, align = 16, name = "word" }
  local thread = k:special "tid.x"
  local group = thread >> 7
  k:if_(group:eq(0), function() kit.store(k, { a, b }) end)
  k:fence_proxy_async()
  k:bar_sync(0)
  local at = k:mad_lo_u32(thread & 127, 4, k:mov(word, { type = "u32" }))
  k:if_(group:eq(0), function()
    k:setmaxnreg_dec(40)
  end, function()
    k:setmaxnreg_inc(232)
    local acc = k:regs("f32", 32)
    -- Barrier 2 lets the first consumer go, barrier 3 the second; the first begins.
    k:if_(group:eq(2), function() k:bar_arrive(2, { threads = 256 }) end)
    k:loop(rounds, function(i)
      k:if_(group:eq(1), function() k:bar_sync(2, { threads = 256 }) end, function() k:bar_sync(3, { threads = 256 }) end)
      kit.multiply(k, acc, a, b)
      k:st_shared_b32(at, i)
      k:if_(group:eq(1), function() k:bar_arrive(3, { threads = 256 }) end)
      k:if_(group:eq(2) & i:lt(rounds - 1), function() k:bar_arrive(2, { threads = 256 }) end)
      k:wgmma_wait_group(0)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
