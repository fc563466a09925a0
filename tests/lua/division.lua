-- Division by numbers that are known when a kernel is built, by way of k:part_of_k: part 1 of K, in blocks of 1, begins at
-- floor(K / splits).
local wg = require "wgrun"
local check = require "check"

-- Dividends around multiples of the divisor, up to the largest, where a reciprocal that is too short is wrong first.
local largest, count = 0xFFFFFFFF, 32
local function dividends(by)
  local last, list = largest // by, {}
  for _, factor in ipairs { 0, 1, 2, last // 3, last // 2, last - 2, last - 1, last } do
    for _, near in ipairs { -1, 0, 1 } do list[#list + 1] = math.max(0, math.min(largest, factor * by + near)) end
  end
  for i = #list, count - 1 do list[i + 1] = largest - i * 12345 end
  return list
end

local function divided(by)
  return wg.kernel("divided_by_" .. by, { threads = count }, function(k)
    local from, to = k:param("from", "const u32*"), k:param("to", "u32*")
    local i = k:special "tid.x"
    local value = k:ld_global_u32(k:element(from, i))
    k:st_global_u32(k:element(to, i), (k:part_of_k { K = value, block = 1, part = 1, splits = by }))
  end)
end

local by_hand = 0 -- kernels that still divide
for _, by in ipairs { 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 19, 21, 27, 48, 64, 80, 96, 100, 112, 127, 128, 144, 160, 176, 192, 208, 224, 240, 641, 65533, 65535 } do
  local kernel, values = divided(by), dividends(by)
  local to = wg.zeros("u32", { count })
  kernel:run { grid = { 1 }, args = { wg.tensor("u32", { count }, values), to } }
  for i, value in ipairs(values) do
    if to[i - 1] ~= value // by then error(("%d / %d is %d, not %d"):format(value, by, value // by, to[i - 1])) end
  end
  if kernel:ptx():find "div%.u32" then by_hand = by_hand + 1 end
end
assert(by_hand < 8, by_hand) -- odd ones whose reciprocals take 33 bits

-- All extents of tiles are divided by without `div`.
for n = 8, 256, 8 do
  check.equal(divided(n):ptx():find "div%.u32", nil)
end
