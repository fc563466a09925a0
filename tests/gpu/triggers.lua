-- Which threads of a CTA execute griddepcontrol.launch_dependents before the launch that depends on it may begin: one of
-- them is enough, while other warps still run. Without any, it begins when the launch before has ended.
local wg = require "wgrun"

local wait_ns = 2000000

local function first(who)
  return wg.kernel("first_" .. who, { threads = 64 }, function(k)
    local flag, tid = k:param("flag", "u32*"), k:special "tid.x"
    if who == "one" then
      k:if_(tid:eq(0), function() k:griddepcontrol_launch_dependents() end)
    elseif who == "all" then
      k:griddepcontrol_launch_dependents()
    end
    k:if_(tid:eq(32), function()
      local start = k:special "globaltimer"
      k:while_(function() return (k:special "globaltimer" - start):lt(wait_ns) end, function() end)
      k:st_volatile_global_u32(flag, 1)
    end)
  end)
end

local second = wg.kernel("second", { threads = 32 }, function(k)
  local flag, seen = k:param("flag", "u32*"), k:param("seen", "u32*")
  local alone = k:special("tid.x"):eq(0)
  k:if_(alone, function() k:st_global_u32(seen, k:ld_volatile_global_u32(flag) + 10) end)
  k:griddepcontrol_wait()
  k:if_(alone, function() k:st_global_u32(k:element(seen, 1), k:ld_volatile_global_u32(flag) + 10) end)
end)

local right = true
for who, expected in pairs { none = 1, one = 0, all = 0 } do
  local flag, seen = wg.zeros("u32", 4):to "gpu", wg.zeros("u32", 4):to "gpu"
  -- What it reads before the wait is what this is about.
  local before = first(who):prepare { args = { flag }, backend = "gpu", unchecked = true }
  local after = second:prepare { args = { flag, seen }, backend = "gpu", unchecked = true }
  before:start()
  after:start()
  after:wait()
  local values = seen:to "cpu"
  print(("launch_dependents by %s: before the wait %d, after it %d"):format(who, values[0] - 10, values[1] - 10))
  right = right and values[0] - 10 == expected and values[1] == 11
end
if not right then os.exit(5) end
