-- What a CTA does to itself through shared::cluster: in a launch without clusters, in clusters of one (.reqnctapercluster 1)
-- and of two. Each line says whether it ran right.
--   wgrun tests/gpu/alone.lua [directives]
-- directives: what of .reqnctapercluster, .explicitcluster and the launch makes a cluster of one.
-- Without a device the simulator stands in the chip's place.
local wg = require "wgrun"
local backend = wg.device() and "gpu" or "sim"
if backend == "sim" then print(("skipped: no device (%s); the simulator alone"):format((select(2, wg.device())))) end

-- Each body makes the 32 words of `s` hold 7 in this CTA; `p` is the same place, by mapa of the own rank, and `bar` an mbarrier with
-- one arrival, by mapa as well.
local bodies = {
  { "st.shared::cluster", function(k, c) k:st_shared_cluster_u32(c.p, 7) k:barrier_cluster_arrive() k:barrier_cluster_wait() end },
  { "ld.shared::cluster", function(k, c)
    k:st_shared_u32(c.own, 7)
    k:st_shared_u32(c.own, k:ld_shared_cluster_u32(c.p))
  end },
  { "atom.shared::cluster", function(k, c) k:atom_shared_cluster_add_u32(c.p, 7) end },
  { "mbarrier.arrive.shared::cluster", function(k, c)
    k:st_shared_u32(c.own, 7)
    k:if_(c.first, function() k:mbarrier_arrive_shared_cluster(c.pbar) end)
    k:mbarrier_wait(c.bar, 0)
  end },
  { "st.async", function(k, c)
    k:if_(c.first, function() k:mbarrier_arrive_expect_tx(c.bar, 128) end)
    k:bar_sync(0)
    k:st_async_u32(c.p, 7, c.pbar)
    k:mbarrier_wait(c.bar, 0)
  end },
  { "st.async without mapa", function(k, c)
    k:if_(c.first, function() k:mbarrier_arrive_expect_tx(c.bar, 128) end)
    k:bar_sync(0)
    k:st_async_u32(c.own, 7, c.bar)
    k:mbarrier_wait(c.bar, 0)
  end },
  { "red.async", function(k, c)
    k:if_(c.first, function() k:mbarrier_arrive_expect_tx(c.bar, 128) end)
    k:bar_sync(0)
    k:red_async_add_u32(c.p, 7, c.pbar)
    k:mbarrier_wait(c.bar, 0)
  end },
  { "cp.async.bulk to shared::cluster", function(k, c)
    k:st_shared_u32(c.own + 128, 7)
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(c.first, function()
      k:mbarrier_arrive_expect_tx(c.bar, 128)
      k:cp_async_bulk_cluster(c.p, c.own + 128, 128, c.pbar)
    end)
    k:mbarrier_wait(c.bar, 0)
  end },
}

local function kernel_of(name, body, cluster)
  return wg.kernel(name, { threads = 32, cluster = cluster }, function(k)
    local out = k:param("out", "u32*")
    local s = k:shared { bytes = 256, align = 128, name = "s" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local c = { first = thread:eq(0), bar = k:mov(full, { type = "u32" }) }
    c.own = k:mad_lo_u32(thread, 4, k:mov(s, { type = "u32" }))
    k:st_shared_u32(c.own, 0)
    k:if_(c.first, function()
      k:mbarrier_init(full, 1)
      k:fence_mbarrier_init()
    end)
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
    c.p, c.pbar = k:mapa_u32(c.own, rank), k:mapa_u32(c.bar, rank)
    body(k, c)
    k:bar_sync(0)
    k:st_global_u32(k:element(out, thread + 32 * k:special "ctaid.x"), k:ld_shared_u32(c.own))
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end)
end

local function outcome(run, words)
  local out = wg.zeros("u32", { words })
  local good, message = pcall(run, out)
  if not good then
    message = tostring(message)
    return message:match "CUDA_ERROR_[%w_]+" or message:match "WG%-%w+%-%d+" or message:gsub("%s+", " "):sub(1, 150)
  end
  for i = 0, words - 1 do
    if out[{ i }] ~= 7 then return ("wrong: word %d is %d"):format(i, out[{ i }]) end
  end
  return "right"
end

-- `directives` in place of .minnctapersm in the text, which is launched with these options.
local function of_text(kernel, name, directives, options)
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write((kernel:ptx():gsub("%.minnctapersm 1", directives, 1)))
  file:close()
  local result = outcome(function(out)
    local launch = { grid = { 1 }, args = { out }, backend = backend, unchecked = true, timeout_ms = 1000 }
    for option, value in pairs(options or {}) do launch[option] = value end
    wg.ptx(path)[name]:run(launch)
  end, 32)
  os.remove(path)
  return result
end

if arg[1] == "directives" then
  -- What tells the driver of a cluster of one: three of the bodies, each by the text of a kernel without clusters.
  for _, i in ipairs { 1, 2, 4 } do
    local name = "told" .. i
    local kernel = kernel_of(name, bodies[i][2], 1)
    for _, case in ipairs {
      { "" }, { ".reqnctapercluster 1, 1, 1" }, { ".explicitcluster\n.reqnctapercluster 1, 1, 1" },
      { ".explicitcluster", { cluster = { 1, 1, 1 } } }, { ".explicitcluster\n.reqnctapercluster 1, 1, 1", { cluster = { 1, 1, 1 } } },
    } do
      print(("%-24s %-46s %s"):format(bodies[i][1], case[1]:gsub("\n", " ") .. (case[2] and ", cluster = 1" or ""),
        of_text(kernel, name, case[1], case[2])))
      io.stdout:flush()
    end
  end
  os.exit()
end

for i, case in ipairs(bodies) do
  local name = "alone" .. i
  local alone = kernel_of(name, case[2], 1)
  local results = { outcome(function(out)
    alone:run { grid = { 1 }, args = { out }, backend = backend, unchecked = true, timeout_ms = 1000 }
  end, 32) }
  -- The same text as a cluster of one.
  results[2] = of_text(alone, name, ".explicitcluster\n.reqnctapercluster 1, 1, 1")
  results[3] = outcome(function(out)
    kernel_of(name, case[2], 2):run { grid = { 2 }, args = { out }, backend = backend, unchecked = true, timeout_ms = 1000 }
  end, 64)
  print(("%-34s no cluster: %-34s one: %-34s two: %s"):format(case[1], results[1], results[2], results[3]))
  io.stdout:flush()
end
