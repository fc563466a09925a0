-- Memory orders and scopes between CTAs on the chip beside the simulator: what one CTA writes and then hands on with
-- a flag the other sees, for every way to release and to acquire; and every form of ld, st, red and atom in words.
--   wgrun tests/gpu/orders.lua [--ctas 96] [--rounds 20]
-- Without a device the simulator stands in the chip's place. Exit code 5 when one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")
local options = {}
for i = 1, #arg, 2 do options[arg[i]] = math.tointeger(tonumber(arg[i + 1])) end
local ctas, rounds = options["--ctas"] or (beside.on_chip and 96 or 4), options["--rounds"] or (beside.on_chip and 20 or 1)
local threads = 64

-- Runs the kernel on both back ends, and in later rounds on the chip alone; element i of the last argument must be
-- want(i), or what the simulator has.
local function compare(name, kernel, grid, make, want, round)
  local results = beside.run(name, kernel, grid, make, beside.on_chip and (round or 1) > 1 and { "gpu" } or nil)
  for _, result in ipairs(results or {}) do
    for i = 0, #result - 1 do
      local expected = want and want(i) or results[#results][i]
      if result[i] ~= expected then return beside.wrongly("DIFFERS", "%s: element %d is %s, expected %s", name, i, result[i], expected) end
    end
  end
end

-- --- hand over --------------------------------------------------------------------------------------------------

-- How a thread sets a flag, and how it looks at it. `before` and `after`: fences.
local function ways(scope)
  local out = {}
  for _, write in ipairs { "st_release_" .. scope, "red_release_" .. scope, "atom_acq_rel_" .. scope, "atom_release_" .. scope } do
    for _, read in ipairs { "ld_acquire_" .. scope, "atom_acquire_" .. scope } do out[#out + 1] = { write = write, read = read } end
  end
  for _, fence in ipairs { "fence_acq_rel_" .. scope, "fence_sc_" .. scope } do
    out[#out + 1] = { before = fence, write = "st_relaxed_" .. scope, read = "ld_relaxed_" .. scope, after = fence }
    out[#out + 1] = { before = fence, write = "st_volatile", read = "ld_volatile", after = fence }
    out[#out + 1] = { before = fence, write = "red_relaxed_" .. scope, read = "ld_acquire_" .. scope }
  end
  out[#out + 1] = { before = "fence_release_" .. scope, write = "st_relaxed_" .. scope, read = "ld_relaxed_" .. scope, after = "fence_acquire_" .. scope }
  return out
end

local function set(k, way, space, place)
  if way.before then k[way.before](k) end
  if way.write:match "^red" then
    k[("%s_%s_add_u32"):format(way.write, space)](k, place, 1)
  elseif way.write:match "^atom" then
    k[("%s_%s_exch_b32"):format(way.write, space)](k, place, 1)
  else
    k[("%s_%s_u32"):format(way.write, space)](k, place, 1)
  end
end
local function await(k, way, space, place)
  k:while_(function()
    if way.read:match "^atom" then return k[("%s_%s_or_b32"):format(way.read, space)](k, place, 0):eq(0) end
    return k[("%s_%s_u32"):format(way.read, space)](k, place):eq(0)
  end, function() end)
  if way.after then k[way.after](k) end
end

-- Each CTA waits for the one before, takes what that has left and leaves three times as much and its number.
local function chain(way, cluster, down)
  return wg.kernel("chain", { threads = threads, cluster = cluster }, function(k)
    local flags, X = k:param("flags", "u32*"), k:param("X", "u32*")
    local thread, cta = k:special "tid.x", k:special "ctaid.x"
    local turn = down and k:mov(ctas - 1, { type = "u32" }) - cta or cta
    local other = down and cta + 1 or cta - 1
    local mine = k:element(X, cta * threads + thread)
    k:if_(turn:eq(0), function()
      k:st_global_u32(mine, thread)
    end, function()
      k:if_(thread:eq(0), function() await(k, way, "global", k:element(flags, other)) end)
      k:bar_sync(0)
      -- Another thread's, so that the barrier takes part.
      local theirs = k:ld_global_u32(k:element(X, other * threads + (thread ~ 33)))
      k:st_global_u32(mine, theirs * 3 + cta)
    end)
    k:bar_sync(0)
    k:if_(thread:eq(0), function() set(k, way, "global", k:element(flags, cta)) end)
  end)
end
local function chained(down)
  local x = {}
  for turn = 0, ctas - 1 do
    local cta, other = down and ctas - 1 - turn or turn, down and ctas - turn or turn - 1
    for thread = 0, threads - 1 do
      x[cta * threads + thread] = turn == 0 and thread or (x[other * threads + (thread ~ 33)] * 3 + cta) & 0xFFFFFFFF
    end
  end
  return function(i) return x[i] end
end

for _, down in ipairs { false, true } do
  for _, scope in ipairs { "gpu", "sys" } do
    for _, way in ipairs(ways(scope)) do
      local kernel = chain(way, nil, down)
      for round = 1, rounds do
        compare(("%s chain, %s %s, %s %s"):format(down and "falling" or "rising", way.before or "", way.write, way.read, way.after or ""), kernel,
          { ctas }, function() return { wg.zeros("u32", { ctas }), wg.zeros("u32", { ctas * threads }) } end, chained(down), round)
      end
    end
  end
end

-- In a cluster, through the shared memory of the CTA that waits.
for _, scope in ipairs { "cluster", "gpu" } do
  for _, way in ipairs(ways(scope)) do
    local kernel = wg.kernel("peer", { threads = threads, cluster = { 2 } }, function(k)
      local out = k:param("out", "u32*")
      local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
      local data, flag = k:shared { bytes = 4 * threads, align = 16, name = "data" }, k:shared { bytes = 4, align = 4, name = "flag" }
      local place, at = k:mov(flag, { type = "u32" }), k:mad_lo_u32(thread, 4, k:mov(data, { type = "u32" }))
      k:if_(thread:eq(0), function() k:st_shared_u32(place, 0) end)
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
      local peer = rank ~ 1
      k:st_u32(k:mapa(at, peer), thread * 5 + rank, { space = "shared::cluster" })
      k:bar_sync(0)
      k:if_(thread:eq(0), function()
        set(k, way, "shared_cluster", k:mapa(place, peer))
        await(k, way, "shared", place)
      end)
      k:bar_sync(0)
      k:st_global_u32(k:element(out, rank * threads + thread), k:ld_shared_u32(k:mad_lo_u32(thread ~ 33, 4, k:mov(data, { type = "u32" }))))
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
    end)
    for round = 1, rounds do
      compare(("cluster, %s %s, %s %s"):format(way.before or "", way.write, way.read, way.after or ""), kernel, { 2 },
        function() return { wg.zeros("u32", { 2 * threads }) } end,
        function(i) return (i % threads ~ 33) * 5 + (i // threads ~ 1) end, round)
    end
  end
end

-- --- forms ------------------------------------------------------------------------------------------------------

-- Every order, scope and hint of ld and st moves the same bits.
for _, scope in ipairs { "cta", "cluster", "gpu", "sys" } do
  for _, forms in ipairs {
    { { sem = "release." .. scope }, { sem = "acquire." .. scope } }, { { sem = "relaxed." .. scope }, { sem = "relaxed." .. scope } },
    { { sem = "release." .. scope, evict = "L1::no_allocate" }, { sem = "acquire." .. scope, evict = "L1::evict_last", prefetch = "L2::128B" } },
    { { sem = "volatile" }, { sem = "volatile", prefetch = "L2::64B" } }, { { sem = "mmio.relaxed.sys" }, { sem = "mmio.relaxed.sys" } },
  } do
    for _, vec in ipairs(forms[1].sem:match "^mmio" and { 1 } or { 1, 2, 4 }) do
      local kernel = wg.kernel("words", { threads = threads }, function(k)
        local X, Y = k:param("X", "u32*"), k:param("Y", "u32*")
        local thread = k:special "tid.x"
        local function with(form)
          local out = { type = "u32", space = "global", vec = vec }
          for key, value in pairs(form) do out[key] = value end
          return out
        end
        k:st(k:element(Y, thread * vec), k:ld(k:element(X, thread * vec), with(forms[2])), with(forms[1]))
      end)
      local X = wg.randint { shape = { threads * vec }, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = vec }
      compare(("st %s, ld %s, %d words"):format(forms[1].sem, forms[2].sem, vec), kernel, { 1 },
        function() return { X, wg.zeros("u32", { threads * vec }) } end, function(i) return X[i] end)
    end
  end
end

-- Vectors of red and atom, with a policy: all threads of all CTAs combine small numbers with the same 16 bytes, which
-- is exact in any order.
for _, case in ipairs {
  { "f32", "add", 2 }, { "f32", "add", 4 }, { "f16x2", "add", 2 }, { "f16x2", "add", 4 }, { "bf16x2", "add", 4 }, { "f16", "add", 8 }, { "bf16", "add", 2 },
  { "f16x2", "min", 4 }, { "f16x2", "max", 2 }, { "bf16x2", "min", 2 }, { "bf16x2", "max", 4 }, { "f16", "min", 4 }, { "bf16", "max", 8 },
} do
  for _, name in ipairs { "red", "atom" } do
    for _, hint in ipairs { false, true } do
      local type, op, vec = table.unpack(case)
      local kernel = wg.kernel("vectors", { threads = threads }, function(k)
        local Y = k:param("Y", "u32*")
        local wide = type == "f32"
        -- Of each four threads one brings 1, the others 0; of pairs both halves.
        local one = ({ f32 = 0x3F800000, f16x2 = 0x3C004000, bf16x2 = 0x3F804000, f16 = 0x3C00, bf16 = 0x3F80 })[type]
        local bits = k:selp_b32(one, 0, (k:special "tid.x" & 3):eq(0))
        local value = wide and k:mov_b32(k:reg "f32", bits) or bits
        if type == "f16" or type == "bf16" then value = k:unpack(bits)[0] end
        local values = {}
        for i = 1, vec do values[i] = value end
        local form = { op = op, type = type, vec = vec, space = "global", noftz = not wide and 1 or nil }
        if hint then form.cache, form.policy = 1, k:createpolicy_fractional_L2_evict_first() end
        if name == "red" then k:red(Y, values, form) else k:atom(Y, values, form) end
      end)
      compare(("%s.%s.v%d.%s%s"):format(name, op, vec, type, hint and " with a policy" or ""), kernel, { 4 },
        function()
          local Y = wg.zeros("u32", { 8 })
          if op ~= "add" then for i = 0, 7 do Y[i] = 0x38003800 end end
          return { Y }
        end)
    end
  end
end

-- A property of CUDA's becomes a policy: which one, only the chip says.
do
  local kernel = wg.kernel("convert", { threads = 32 }, function(k)
    local Y = k:param("Y", "u64*")
    for i, property in ipairs { 0x14F0000000000000, 0x12F0000000000000, 0x16F0000000000000, 0x10F0000000000000 } do
      k:st_global_u64(k:element(Y, i - 1), k:createpolicy_cvt_L2(k:mov(property, { type = "u64" })))
    end
  end)
  local Y = wg.zeros("u64", { 4 })
  kernel:run { grid = { 1 }, args = { Y }, backend = beside.backend }
  for i = 0, 3 do print(("createpolicy.cvt gives %016x"):format(Y[i])) end
end

beside.finish()
