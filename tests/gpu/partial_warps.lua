-- Barriers of the CTA that a part of a warp executes: which launches end, with what, and which hang.
--   wgrun tests/gpu/partial_warps.lua
-- Without a device the simulator stands in the chip's place.
local wg = require "wgrun"
local backend = wg.device() and "gpu" or "sim"
if backend == "sim" then print(("skipped: no device (%s); the simulator alone"):format((select(2, wg.device())))) end

-- c: thread, lane, low (lanes 0 to 15), X (64 words of global memory, 0 at first), s (64 words of shared memory). A body leaves
-- in X what it saw; `want(thread)` is what an order by the barrier gives.
local function mark(k, c) k:st_shared_u32(c.own, 5) end
local function look(k, c) k:st_global_u32(k:element(c.X, c.thread), k:ld_shared_u32(c.other)) end
local function say(k, c, value) k:st_global_u32(k:element(c.X, c.thread), value) end
local cases = {
  { "barrier.sync by half a warp, the others end", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "barrier.sync by half a warp, the others store and end", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_sync(1, { threads = 64 }) end)
    look(k, c)
  end },
  { "barrier.sync at two places, one barrier", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_sync(1, { threads = 64 }) end, function() k:barrier_sync(1, { threads = 64 }) end)
    look(k, c)
  end },
  { "barrier.sync at two barriers", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_sync(1, { threads = 64 }) end, function() k:barrier_sync(2, { threads = 64 }) end)
    look(k, c)
  end },
  { "barrier.sync of one warp by its halves in turn", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_sync(1, { threads = 32 }) end, function()
      k:nanosleep(1000)
      k:barrier_sync(1, { threads = 32 })
    end)
    look(k, c)
  end, 32 },
  { "barrier.arrive by half a warp of two", function(k, c)
    mark(k, c)
    k:if_(c.thread:lt(32), function()
      k:if_(c.low, function() k:barrier_arrive(1, { threads = 64 }) end)
    end, function() k:barrier_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "barrier.arrive by both halves of a warp in turn", function(k, c)
    mark(k, c)
    k:if_(c.thread:lt(32), function()
      k:if_(c.low, function() k:barrier_arrive(1, { threads = 64 }) end, function() k:barrier_arrive(1, { threads = 64 }) end)
    end, function() k:barrier_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "the same, 96 threads", function(k, c)
    mark(k, c)
    k:if_(c.thread:lt(32), function()
      k:if_(c.low, function() k:barrier_arrive(1, { threads = 96 }) end, function() k:barrier_arrive(1, { threads = 96 }) end)
    end, function() k:barrier_sync(1, { threads = 96 }) look(k, c) end)
  end },
  { "barrier.arrive by half a warp, then barrier.sync by all", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_arrive(1, { threads = 64 }) end)
    k:barrier_sync(2, { threads = 64 })
    look(k, c)
  end },
  { "the same at one barrier", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_arrive(1, { threads = 64 }) end)
    k:barrier_sync(1, { threads = 64 })
    look(k, c)
  end },
  { "bar.sync by half a warp, the others end", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:bar_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "bar.sync by half a warp, the others store and end", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:bar_sync(1, { threads = 64 }) end)
    look(k, c)
  end },
  { "bar.sync at two barriers", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:bar_sync(1, { threads = 64 }) end, function() k:bar_sync(2, { threads = 64 }) end)
    look(k, c)
  end },
  { "bar.arrive by both halves of a warp in turn", function(k, c)
    mark(k, c)
    k:if_(c.thread:lt(32), function()
      k:if_(c.low, function() k:bar_arrive(1, { threads = 64 }) end, function() k:bar_arrive(1, { threads = 64 }) end)
    end, function() k:bar_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "bar.sync of all threads, half of each warp has ended", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:bar_sync(0) look(k, c) end)
  end },
  { "barrier.arrive by half a warp of two, the others end later", function(k, c)
    mark(k, c)
    k:if_(c.thread:lt(32), function()
      k:if_(c.low, function() k:barrier_arrive(1, { threads = 64 }) end, function() k:nanosleep(20000) end)
    end, function() k:barrier_sync(1, { threads = 64 }) look(k, c) end)
  end },
  { "barrier.red.popc by half a warp, the others end", function(k, c)
    k:if_(c.low, function() say(k, c, k:barrier_red_popc_u32(1, c.lane:lt(5), { threads = 64 })) end)
  end },
  { "barrier.red.popc by halves at two places", function(k, c)
    local p = c.lane:lt(21)
    k:if_(c.low, function() say(k, c, k:barrier_red_popc_u32(1, p, { threads = 64 })) end, function()
      say(k, c, k:barrier_red_popc_u32(1, p, { threads = 64 }))
    end)
  end },
  { "barrier.red.and by halves, one thread says no", function(k, c)
    local p = c.thread:ne(40)
    local function vote() say(k, c, k:selp(1, 2, k:barrier_red_and_pred(1, p, { threads = 64 }), { type = "u32" })) end
    k:if_(c.low, vote, vote)
  end },
  { "barrier.red.or by halves, one thread says yes", function(k, c)
    local p = c.thread:eq(3)
    local function vote() say(k, c, k:selp(1, 2, k:barrier_red_or_pred(1, p, { threads = 64 }), { type = "u32" })) end
    k:if_(c.low, vote, vote)
  end },
  { "barrier.red.and by half a warp, the others end", function(k, c)
    local p = c.lane:lt(16)
    k:if_(c.low, function() say(k, c, k:selp(1, 2, k:barrier_red_and_pred(1, p, { threads = 64 }), { type = "u32" })) end)
  end },
  { "bar.red.popc by half a warp, the others end", function(k, c)
    k:if_(c.low, function() say(k, c, k:bar_red_popc_u32(1, c.lane:lt(5), { threads = 64 })) end)
  end },
  { "barrier.cluster by halves at two places", function(k, c)
    mark(k, c)
    local function meet() k:barrier_cluster_arrive_unaligned() k:barrier_cluster_wait_unaligned() end
    k:if_(c.low, meet, meet)
    look(k, c)
  end, 64, 2 },
  { "barrier.cluster by half of each warp, the others end", function(k, c)
    mark(k, c)
    k:if_(c.low, function()
      k:barrier_cluster_arrive_unaligned()
      k:barrier_cluster_wait_unaligned()
      look(k, c)
    end)
  end, 64, 2 },
  { "barrier.cluster.aligned, half of each warp has ended", function(k, c)
    mark(k, c)
    k:if_(c.low, function()
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
      look(k, c)
    end)
  end, 64, 2 },
  { "barrier.cluster: halves arrive apart, all wait", function(k, c)
    mark(k, c)
    k:if_(c.low, function() k:barrier_cluster_arrive_unaligned() end, function()
      k:nanosleep(20000)
      k:barrier_cluster_arrive_unaligned()
    end)
    k:barrier_cluster_wait_unaligned()
    look(k, c)
  end, 64, 2 },
  { "barrier.cluster: one half arrives alone, all wait", function(k, c)
    k:if_(c.low, function() k:barrier_cluster_arrive_unaligned() end)
    k:barrier_cluster_wait_unaligned()
  end, 64, 2 },
}
-- Those behind this name: `wgrun tests/gpu/partial_warps.lua NAME` begins there.
local first = arg[1]

for i, case in ipairs(cases) do
  if first and case[1] ~= first then goto continue end
  first = nil
  local threads = case[3] or 64
  local kernel = wg.kernel("partial" .. i, { threads = threads, cluster = case[4] and { case[4] } or nil }, function(k)
    local s = k:shared { bytes = 256, align = 16, name = "s" }
    local c = { X = k:param("X", "u32*"), thread = k:special "tid.x" }
    c.lane = c.thread & 31
    c.low = c.lane:lt(16)
    local start = k:mov(s, { type = "u32" })
    c.own = k:mad_lo_u32(c.thread, 4, start)
    c.other = k:mad_lo_u32(c.thread ~ (threads - 1), 4, start)
    k:st_shared_u32(c.own, 0)
    k:bar_sync(0)
    case[2](k, c)
  end)
  local X = wg.zeros("u32", { threads })
  local good, message = pcall(kernel.run, kernel, { grid = { case[4] or 1 }, args = { X }, backend = backend, unchecked = true, timeout_ms = 700 })
  local text
  if good then
    local saw, from = {}, 0
    for t = 0, threads - 1 do
      if t == threads - 1 or X[{ t + 1 }] ~= X[{ t }] then
        saw[#saw + 1] = ("%d times %d"):format(t + 1 - from, X[{ t }])
        from = t + 1
      end
    end
    text = "ends; saw " .. table.concat(saw, ", ")
  else
    message = tostring(message)
    text = message:match "CUDA_ERROR_[%w_]+" or message:match "%[WG%-%w+%-%d+%]" or message:gsub("%s+", " "):sub(1, 150)
  end
  print(("%-52s %s"):format(case[1], text))
  io.stdout:flush()
  ::continue::
end
