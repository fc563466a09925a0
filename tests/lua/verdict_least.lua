-- A kernel may be for launches whose numbers are not too small: others are refused, and its proofs are of these.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

--- A kernel that is right where n is 4 or more, in the property of its name.
local kernels = {
  ["no-deadlock"] = function(least)
    return wg.kernel("waits", { threads = 64 }, function(k)
      local n, tid = k:param("n", "u32", least), k:special "tid.x"
      local full = k:shared { bytes = 8, align = 8, name = "full" }
      k:if_(tid:eq(0), function()
        k:mbarrier_init(k:address(full), 1)
        k:fence_mbarrier_init()
      end)
      k:bar_sync(0)
      k:if_(tid:eq(0), function() k:if_(n:gt(3), function() k:mbarrier_arrive(k:address(full)) end) end)
      k:mbarrier_wait(k:address(full), 0)
    end)
  end,
  initialisation = function(least)
    return wg.kernel("writes", { threads = 32 }, function(k)
      local n, D, x = k:param("n", "u32", least), k:param("D", "u32*"), k:reg "u32"
      k:loop(n >> 2, function(i) k:mov(x, i) end)
      k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(D, x) end)
    end)
  end,
  bounds = function(least)
    return wg.kernel("indexes", { threads = 32 }, function(k)
      local n, D = k:param("n", "u32", least), k:param("D", "u32*")
      k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(k:mad_wide_u32(n, 4, D - 16), 1) end)
    end)
  end,
}
for property, make in pairs(kernels) do
  local proved = verdict(make { least = 4 }, property)
  check.equal({ property, proved.verdict, proved.domain:match "n >= %d+" }, { property, "proved", "n >= 4" })
  for _, least in ipairs { 1, 3 } do
    if verdict(make { least = least }, property).verdict == "proved" then
      error(("proved, and wrong: %s, from %d on"):format(property, least))
    end
  end
  if verdict(make(), property).verdict == "proved" then error("proved, and wrong: " .. property) end
end

-- What is wrong from the least number on is found: here at 9 and more.
local late = wg.kernel("late", { threads = 32 }, function(k)
  local n = k:param("n", "u32", { least = 9 })
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(k:special "tid.x":eq(0), function()
    k:mbarrier_init(k:address(full), 1)
    k:fence_mbarrier_init()
    k:if_(n:lt(9), function() k:mbarrier_arrive(k:address(full)) end)
    k:mbarrier_wait(k:address(full), 0)
  end)
end)
check.equal(verdict(late, "no-deadlock").verdict, "refuted")

local of_four, D = kernels.bounds { least = 4 }, wg.zeros("u32", { 8 })
of_four:run { args = { 4, D }, backend = "sim" }
check.equal(D:totable(), { 1, 0, 0, 0, 0, 0, 0, 0 })
for _, n in ipairs { 3, 0 } do
  check.raises(("kernel indexes, argument 1 (n): %d, and the kernel is declared for 4 and more"):format(n),
    of_four.run, of_four, { args = { n, D }, backend = "sim" })
end
check.raises("n = 3: indexes is declared for 4 and more", of_four.verdicts, of_four, { assume = { n = 3 } })

local function declared(type, least)
  return wg.kernel("declared", { threads = 32 }, function(k) k:param("n", type, { least = least }) end)
end
check.raises("parameter `n`: an integer has a least number, and it is none", declared, "f32", 1)
check.raises("parameter `n`: an integer has a least number, and it is none", declared, "u32*", 1)
check.raises("parameter `n`: the least number is 0, must be 1..4294967295", declared, "u32", 0)
check.raises("parameter `n`: the least number is 128, must be 1..127", declared, "s8", 128)
check.raises("unknown option `most` of k:param", wg.kernel, "declared", { threads = 32 },
  function(k) k:param("n", "u32", { most = 1 }) end)
local large = declared("u64", 1 << 40)
check.raises("the kernel is declared for 1099511627776 and more", large.run, large, { args = { 1 }, backend = "sim" })
large:run { args = { -1 }, backend = "sim" } -- the largest u64

-- Each slice of K has a block of 64.
local splits = wg.gemm { problem = { 128, 128, 8192 }, tile = { 128, 128, 64 }, splits = 4 }
check.raises("is declared for 193 and more", splits.kernel.verdicts, splits.kernel, { assume = { K = 192 } })
