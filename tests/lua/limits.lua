-- The limits of docs/limits.md: what is beyond them is an error at the script's line, and not the end of the process.
local wg = require "wgrun"

local function refused(text, f)
  local good, e = pcall(f)
  assert(not good, "no error: " .. text)
  assert(type(e) == "table" and e.message:find(text, 1, true), "expected: " .. text .. "\ngot: " .. tostring(e))
  assert(e.line and e.file:find "limits.lua", "no place: " .. tostring(e))
end

local function nested(depth, block)
  return wg.kernel("nested", {threads = 128}, function(k)
    local p = k:special "tid.x":eq(0)
    local function deeper(left)
      if left > 0 then block(k, p, function() deeper(left - 1) end) else k:add(1, k:mov_u32(2)) end
    end
    deeper(depth)
  end)
end

local function branch(k, p, body) k:if_(p, body) end
local function loop(k, _, body) k:loop(2, function() body() end) end
local function while_(k, _, body)
  local turn = k:mov(0, { type = "u32" })
  k:while_(function() return turn:lt(2) end, function() body(); k:add(turn, turn, 1) end)
end
for _, block in ipairs {branch, loop, while_} do
  local kernel = nested(128, block)
  assert(#kernel:ptx() < 1 << 20 and #kernel:cuda() < 1 << 20)
  kernel:check()
  refused("more than 128 loops and branches inside each other", function() nested(129, block) end)
  refused("more than 128 loops and branches inside each other", function() nested(10000, block) end)
end

refused("name of 257 characters", function() wg.kernel(("k"):rep(257), {}, function() end) end)
refused("beyond the 32764 bytes", function()
  wg.kernel("k", {}, function(k) for i = 1, 4096 do k:param("p" .. i, "u64") end end)
end)
wg.kernel("k", {}, function(k) for i = 1, 4095 do k:param("p" .. i, "u64") end end):ptx()
refused("registers are declared", function()
  wg.kernel("k", {}, function(k) while true do k:regs("u32", 1024) end end)
end)
refused("1048577 instructions: 1048576 at most", function()
  wg.kernel("k", {}, function(k)
    local r = k:reg "u32"
    for _ = 1, 1048577 do k:mov(r, 1) end
  end)
end)

-- Extents at the ends of the integers.
for _, n in ipairs {math.mininteger, math.mininteger + 1, -2147483649, -2147483648, -1, 0, 2147483640, 2147483647,
                    2147483648, 4294967295, 4294967296, math.maxinteger - 7, math.maxinteger} do
  pcall(wg.tile, {dtype = "bf16", mn = n, k = 64})
  pcall(wg.tile, {dtype = "bf16", mn = 64, k = n})
  pcall(wg.tile, {dtype = "b1", mn = n, k = n, major = "MN"})
end
