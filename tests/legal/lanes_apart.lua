-- Lanes of a warp that meet in parts: a bar.warp.sync orders the lanes of its mask, and no others. Halves, pairs, pairs in several
-- steps that together make the whole; what one half tells another warp is not what the other half has done.
-- good: ok_halves ok_branches ok_pairs ok_steps ok_told ok_global
-- bad: halves branches overwritten pairs steps told global
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
if kit.each_good() then return end
local is, ok = kit.is, kit.variant:match "^ok" ~= nil
local low, high <const> = 0x0000FFFF, 0xFFFF0000

local kernel = wg.kernel(kit.variant, { threads = 64 }, function(k)
  local Y = k:param("Y", "u32*")
  local words, flags = k:shared { bytes = 256, align = 16, name = "words" }, k:shared { bytes = 8, align = 8, name = "flags" }
  local thread = k:special "tid.x"
  local lane = thread & 31
  local function word(i, of) return k:mad_lo_u32(i, 4, k:mov(of or words, { type = "u32" })) end
  local function keep(value) k:st_global_u32(k:element(Y, thread), value) end
  local function meet(mask) k:bar_warp_sync(k:mov(mask, { type = "u32" })) end
  local half = k:selp(low, high, lane:lt(16), { type = "u32" })
  k:st_shared_u32(word(thread), 0)
  k:if_(thread:lt(2), function() k:st_shared_u32(word(thread, flags), 0) end)
  k:bar_sync(0)
  if is("halves", "ok_halves", "branches", "ok_branches") then
    k:st_shared_u32(word(thread), 1)
    if is("halves", "ok_halves") then k:bar_warp_sync(half)
    else k:if_(lane:lt(16), function() k:bar_warp_sync(low) end, function() k:bar_warp_sync(high) end) end
    keep(k:ld_shared_u32(word(thread ~ (ok and 8 or 16)))) -- EXPECT(halves branches): WG-RACE-01
  elseif is "overwritten" then
    local value = k:ld_shared_u32(word(thread ~ 16))
    k:bar_warp_sync(half)
    k:st_shared_u32(word(thread), value) -- EXPECT(overwritten): WG-RACE-01
  elseif is("pairs", "ok_pairs") then
    k:st_shared_u32(word(thread), 1)
    meet(k:shl_b32(3, lane & 30))
    keep(k:ld_shared_u32(word(thread ~ (ok and 1 or 2)))) -- EXPECT(pairs): WG-RACE-01
  elseif is("steps", "ok_steps") then
    k:st_shared_u32(word(thread), 1)
    local distance = 1
    while distance < (ok and 32 or 16) do
      meet(k:shl_b32(1, lane) | k:shl_b32(1, lane ~ distance))
      distance = distance * 2
    end
    keep(k:ld_shared_u32(word(thread ~ 31))) -- EXPECT(steps): WG-RACE-01
  elseif is("told", "ok_told") then
    k:if_(thread:lt(32), function()
      k:st_shared_u32(word(thread), 1) -- MAYBE(told): WG-RACE-01
      k:bar_warp_sync(half)
      k:st_release_cta_shared_u32(word(lane >> 4, flags), 1, { guard = (lane & 15):eq(0) })
    end, function()
      local flag = word(k:mov(ok and 0 or 1, { type = "u32" }), flags)
      k:while_(function() return k:ld_acquire_cta_shared_u32(flag):eq(0) end, function() end)
      keep(k:ld_shared_u32(word(lane & 15))) -- MAYBE(told): WG-RACE-01
    end)
  else
    k:st_global_u32(k:element(Y, thread), 1)
    k:bar_warp_sync(half)
    k:st_global_u32(k:element(Y, thread + 64), k:ld_global_u32(k:element(Y, thread ~ (ok and 1 or 16)))) -- EXPECT(global): WG-RACE-04
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 128 }) } }
