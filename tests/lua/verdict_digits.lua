-- Addresses that are put together of digits, as those of fragments are: digits of the thread, the CTA and a turn of a
-- loop do not overlap. What is right is proved, and what is nearly so is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

--- Each of 128 threads of each CTA writes words of D: place(k, tid, cx, cy), and in a loop `turns` words from there.
local function writer(place, more)
  more = more or {}
  return wg.kernel("writer", { threads = 128, grid = { more.columns or 8, "any", 1 } }, function(k)
    local D, n = k:param("D", "u32*"), k:param("n", "u32")
    local to = place(k, k:special "tid.x", k:special "ctaid.x", k:special "ctaid.y", n)
    if not more.turns then return k:st_global_u32(k:element(D, to), 1) end
    k:loop(more.turns, function(i) k:st_global_u32(k:element(D, to * more.each + i), 1) end)
  end)
end

local function races(place, more) return verdict(writer(place, more), "global-races").verdict end

--- Weights of the lane among four, the row among eight, the warp, the column of CTAs and its row.
local function fragment(lane, row, warp, column, cta)
  return function(_, tid, cx, cy)
    return (tid & 3) * lane + (tid >> 2 & 7) * row + (tid >> 5) * warp + cx * column + cy * cta
  end
end

local function rows_of(width)
  return function(k, tid, cx, cy, n) return (cy * n + k:min(cx, n - 1)) * width + tid end
end

for what, one in pairs {
  ["a fragment"] = { fragment(256, 1, 8, 32, 1024) },
  ["with room between the digits"] = { fragment(512, 2, 17, 64, 4096) },
  ["turns of a loop"] = { fragment(256, 1, 8, 32, 1024), { turns = 4, each = 4 } },
} do
  local verdict = races(table.unpack(one))
  if verdict ~= "proved" then error(("%s: %s"):format(what, verdict)) end
end

for what, one in pairs {
  ["lanes among columns of CTAs"] = { fragment(128, 1, 8, 32, 1024) },
  ["a row too many for its digit"] = { fragment(256, 1, 7, 32, 1024) },
  ["warps among rows"] = { fragment(256, 1, 4, 32, 1024) },
  ["columns of CTAs among warps"] = { fragment(256, 1, 8, 24, 1024) },
  ["nine columns of CTAs"] = { fragment(256, 1, 8, 32, 1024), { columns = 9 } },
  ["rows of CTAs among lanes"] = { fragment(256, 1, 8, 32, 1023) },
  ["a digit twice"] = { fragment(256, 1, 1, 32, 1024) },
  ["a digit that is left out"] = { fragment(256, 0, 8, 32, 1024) },
  ["a turn too many"] = { fragment(256, 1, 8, 32, 1024), { turns = 5, each = 4 } },
  ["columns of which several are the last"] = { rows_of(128) },
} do
  if races(table.unpack(one)) == "proved" then error("proved, and wrong: " .. what) end
end

-- Bounds are those of the greatest digits.
for bytes, place in pairs {
  ["4096 * nctaid.y"] = fragment(256, 1, 8, 32, 1024),
  ["4096 * nctaid.y + 4"] = function(k, ...) return fragment(256, 1, 8, 32, 1024)(k, ...) + 1 end,
  ["8192 * nctaid.y - 4096"] = fragment(256, 1, 8, 32, 2048),
} do
  local bounds = verdict(writer(place), "bounds")
  if bounds.domain:match "D holds (.-) bytes" ~= bytes then error(("%s: %s"):format(bytes, bounds.domain)) end
end
