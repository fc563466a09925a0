-- k:break_, k:continue_ and k:exit between a wgmma and the wait for it: what the checker finds, and what is clean.
local check = require "check"
local wg = require "wgrun"

local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

--- Builds a kernel from body(m, k); its only finding is of the rule `want`, or there is none.
local function case(name, want, body, threads)
  local m = {}
  local kernel = wg.kernel(name, { threads = threads or 128 }, function(k)
    m.n = k:param("n", "u32")
    m.out = k:param("out", "f32*")
    local a, b = k:descriptor(k:shared(tile, "a")), k:descriptor(k:shared(tile, "b"))
    local acc = k:regs("f32", 32)
    m.acc = acc
    for i = 0, 31 do k:mov(acc[i], 0) end
    function m:mma()
      k:wgmma_mma_async(acc, a, b, { scale_d = 1, n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
      k:wgmma_commit_group()
    end
    function m:read() k:st_global_f32(k:element(self.out, k:special "tid.x"), acc[0]) end
    body(m, k)
  end)
  local found = kernel:check()
  local rules = {}
  for _, finding in ipairs(found) do -- nothing fills the tiles
    if finding.rule ~= "WG-MEM-04" then rules[#rules + 1] = finding.rule end
  end
  check.equal({ name, table.unpack(rules) }, { name, want })
end

case("break_behind_the_wait", nil, function(m, k)
  k:loop(100, function(i)
    k:wgmma_fence()
    m:mma()
    k:wgmma_wait_group(0)
    k:if_(i:eq(m.n), function() k:break_() end)
  end)
  m:read()
end)

case("break_before_the_wait", "WG-GROUP-01", function(m, k)
  k:loop(100, function(i)
    k:wgmma_fence()
    m:mma()
    k:if_(i:eq(m.n), function() k:break_() end)
    k:wgmma_wait_group(0)
  end)
  m:read()
end)

case("exit_before_the_wait", "WG-GROUP-05", function(m, k)
  k:wgmma_fence()
  m:mma()
  k:if_(m.n:eq(0), function() k:exit() end)
  k:wgmma_wait_group(0)
  m:read()
end)

case("continue_before_the_wait", "WG-GROUP-01", function(m, k)
  k:loop(m.n, function(i)
    k:wgmma_fence()
    m:mma()
    k:if_(i:eq(2), function() k:continue_() end)
    k:wgmma_wait_group(0)
    k:add(m.acc[0], m.acc[0], 1)
  end)
  m:read()
end)

case("a_whole_cta_exits", nil, function(m, k)
  k:if_(k:special "ctaid.x":ge(m.n), function() k:exit() end)
  k:wgmma_fence()
  m:mma()
  k:wgmma_wait_group(0)
  m:read()
end)

case("half_a_warpgroup_exits", "WG-SYNC-01", function(m, k)
  k:if_(k:special "tid.x":lt(64), function() k:exit() end)
  k:wgmma_fence()
  m:mma()
  k:wgmma_wait_group(0)
end)

-- Who exits is who has no fence: no such way exists.
case("exit_without_the_fence", nil, function(m, k)
  k:if_(m.n:gt(0), function() k:wgmma_fence() end)
  k:if_(m.n:eq(0), function() k:exit() end)
  m:mma()
  k:wgmma_wait_group(0)
end)

case("nested", nil, function(m, k)
  k:loop(m.n, function(i)
    k:loop(4, function(j)
      k:wgmma_fence()
      m:mma()
      k:wgmma_wait_group(0)
      k:if_(j:eq(m.n), function() k:break_() end)
    end)
    k:if_(i:eq(7), function() k:exit() end)
  end)
  m:read()
end)

-- Warps that leave a loop at different times have different values of what it changed: this is a role.
case("role_from_a_loop", nil, function(m, k)
  local group, turn = k:special "tid.x" >> 7, k:mov_u32(9)
  k:loop(m.n, function(i)
    k:mov(turn, i)
    k:if_(group:le(i), function() k:break_() end)
  end)
  k:if_(turn:eq(0), function()
    k:wgmma_fence()
    m:mma()
    k:wgmma_wait_group(0)
  end)
end, 192)
