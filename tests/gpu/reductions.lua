-- cp.reduce.async.bulk on the chip beside the simulator, bit for bit: every operation and type, into global memory and into
-- the shared memory of another CTA; and discard.L2 of memory that is written again.
--   wgrun tests/gpu/reductions.lua [--rounds 1]
-- Without a device the simulator stands in the chip's place. Exit code 5 when one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")
local rounds = arg[1] == "--rounds" and math.tointeger(tonumber(arg[2])) or 1
local threads, words <const> = 128, 4096 -- of a CTA

-- Random bits, and among those of floats: zeros, subnormals, infinities, values near each other.
local edges = {
  f16 = { 0x0000, 0x8000, 0x0001, 0x83FF, 0x7C00, 0xFC00, 0x3C00, 0xBC00, 0x7BFF, 0x1400 },
  bf16 = { 0x0000, 0x8000, 0x0001, 0x807F, 0x7F80, 0xFF80, 0x3F80, 0xBF80, 0x7F7F, 0x3380 },
  f32 = { 0, 0x80000000, 1, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x33800000 },
}
local function bits(type, count, seed)
  local out = wg.randint { shape = { count }, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = seed }
  local some = edges[type]
  if some then
    for i = 0, count // 4 - 1 do
      local low, high = some[(i * 7 + seed) % #some + 1], some[(i // 3 + seed) % #some + 1]
      out[i * 4] = type == "f32" and low or low | high << 16
    end
  end
  return out
end

local function is_nan(type, word)
  if type == "f64" then return word & 0x7FFFFFFF >= 0x7FF00000 end
  return type == "f32" and word & 0x7FFFFFFF > 0x7F800000
end
-- Floats of 16 bits are compared by halves: every NaN equals another one.
local function differs(type, x, y)
  if x == y then return false end
  if is_nan(type, x) and is_nan(type, y) then return false end
  local least = ({ f16 = 0x7C00, bf16 = 0x7F80 })[type]
  if not least then return true end
  for shift = 0, 16, 16 do
    local a, b = x >> shift & 0xFFFF, y >> shift & 0xFFFF
    if a ~= b and not (a & 0x7FFF > least and b & 0x7FFF > least) then return true end
  end
  return false
end

local function compare(name, type, kernel, grid, make)
  for round = 1, rounds do
    local results = beside.run(name, kernel, grid, function() return make(round) end)
    if not results or not beside.on_chip then return end
    local got, expected, count, at = results[1]:totable(), results[2]:totable(), 0, nil
    for i, x in ipairs(got) do
      local other = type == "f64" and (i % 2 == 0 and i or i + 1) -- the upper half of a binary64
      local same_nan = other and is_nan(type, got[other]) and is_nan(type, expected[other])
      if differs(type, x, expected[i]) and not same_nan then
        count = count + 1
        at = at or i
      end
    end
    local args = make(round)
    local first = at and #args == 1 and ("%d: %a, simulator %a"):format(at - 1, got[at], expected[at]) or at and ("%d: %08x, simulator %08x, of %08x and %08x"):format(at - 1, got[at], expected[at], args[2][at - 1], args[1][at - 1])
    if count > 0 then
      return beside.wrongly("DIFFERS", "%s: %d of %d words; first %s", name, count, #got, first)
    end
  end
end

-- --- into global memory -----------------------------------------------------------------------------------------

-- Each CTA reduces its words of X into those of D, in four copies.
local function to_global(form)
  return wg.kernel("to_global", { threads = threads }, function(k)
    local X, D = k:param("X", "const u32*"), k:param("D", "u32*")
    local tile = k:shared { bytes = 4 * words, align = 128, name = "tile" }
    local thread, start = k:special "tid.x", k:mov(tile, { type = "u32" })
    local first = k:special "ctaid.x" * words
    for i = 0, words - 1, threads do
      k:st_shared_u32(k:mad_lo_u32(thread + i, 4, start), k:ld_global_u32(k:element(X, first + thread + i)))
    end
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(thread:eq(0), function()
      for part = 0, words - 1, words // 4 do
        k[form](k, k:mad_wide_u32(first + part, 4, D), start + 4 * part, words)
      end
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
end

local ctas <const> = beside.on_chip and 8 or 2
local forms = {
  add = { "u32", "s32", "u64", "f32", "f64", "noftz_f16", "noftz_bf16" },
  min = { "u32", "s32", "u64", "s64", "f16", "bf16" },
  max = { "u32", "s32", "u64", "s64", "f16", "bf16" },
  inc = { "u32" },
  dec = { "u32" },
  ["and"] = { "b32", "b64" },
  ["or"] = { "b32", "b64" },
  xor = { "b32", "b64" },
}
local order = { "add", "min", "max", "inc", "dec", "and", "or", "xor" }
for _, op in ipairs(order) do
  for _, type in ipairs(forms[op]) do
    local element = type:match "[^_]*$"
    local form = ("cp_reduce_async_bulk_%s_%s"):format(op, type)
    compare(form, element, to_global(form), { ctas }, function(round)
      return { bits(element, ctas * words, 2 * round), bits(element, ctas * words, 2 * round + 1) }
    end)
  end
end

-- Subnormals of f32 through a tensor map: word i of shared memory has i % 11 units of the last place, that of D i % 5.
do
  local count <const> = 256
  local kernel = wg.kernel("to_tensor", { threads = threads }, function(k)
    local map = k:tensor_map("D", { dtype = "f32", box = { count } })
    local tile = k:shared { bytes = 4 * count, align = 128, name = "tile" }
    local thread, start = k:special "tid.x", k:mov(tile, { type = "u32" })
    for i = 0, count - 1, threads do k:st_shared_u32(k:mad_lo_u32(thread + i, 4, start), (thread + i) % 11) end
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(thread:eq(0), function()
      k:cp_reduce_async_bulk_tensor_1d_add(map, { k:mov(0, { type = "s32" }) }, tile)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
  compare("cp_reduce_async_bulk_tensor_1d_add of subnormals", "f32 values", kernel, { 1 }, function()
    local D = wg.zeros("f32", { count })
    for i = 0, count - 1 do D[i] = i % 5 * 2.0 ^ -149 end
    return { D }
  end)
end

-- --- into another CTA -------------------------------------------------------------------------------------------

-- Every CTA of a cluster of four reduces its words of X into the two CTAs after it, which begin with those of D.
local function to_cluster(form)
  local size <const>, share <const> = 4, words // 4
  return wg.kernel("to_cluster", { threads = threads, cluster = { size } }, function(k)
    local X, D = k:param("X", "const u32*"), k:param("D", "u32*")
    local from = k:shared { bytes = 4 * share, align = 128, name = "from" }
    local to = k:shared { bytes = 4 * share, align = 128, name = "to" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local first = k:special "ctaid.x" * share
    k:if_(thread:eq(0), function()
      k:mbarrier_init(full, 1)
      k:fence_mbarrier_init()
    end)
    for i = 0, share - 1, threads do
      k:st_shared_u32(k:address(from, (thread + i) * 4), k:ld_global_u32(k:element(X, first + thread + i)))
      k:st_shared_u32(k:address(to, (thread + i) * 4), k:ld_global_u32(k:element(D, first + thread + i)))
    end
    k:fence_proxy_async()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
    k:if_(thread:eq(0), function()
      k:mbarrier_arrive_expect_tx(full, 2 * 4 * share)
      for away = 1, 2 do
        local peer = (rank + away) & (size - 1)
        k[form](k, k:mapa(k:mov(to, { type = "u32" }), peer), from, 4 * share, k:mapa(k:mov(full, { type = "u32" }), peer))
      end
    end)
    k:mbarrier_wait(full, 0)
    for i = 0, share - 1, threads do
      k:st_global_u32(k:element(D, first + thread + i), k:ld_shared_u32(k:address(to, (thread + i) * 4)))
    end
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end)
end

local peers = { add = { "u32", "s32", "u64" }, min = { "u32", "s32" }, max = { "u32", "s32" }, inc = { "u32" }, dec = { "u32" },
  ["and"] = { "b32" }, ["or"] = { "b32" }, xor = { "b32" } }
for _, op in ipairs(order) do
  for _, type in ipairs(peers[op]) do
    local form = ("cp_reduce_async_bulk_cluster_%s_%s"):format(op, type)
    -- Of two different bounds the order of inc and dec would matter.
    local same = op == "inc" or op == "dec"
    compare(form, type, to_cluster(form), { ctas * 4 }, function(round)
      local X = bits(type, ctas * words, 2 * round)
      if same then X = wg.full("u32", { ctas * words }, 0x80000000) end
      return { X, bits(type, ctas * words, 2 * round + 1) }
    end)
  end
end

-- --- discard ----------------------------------------------------------------------------------------------------

-- Lines of D are discarded and written; those between them are not touched.
for _, form in ipairs { "discard_global_L2", "discard_L2" } do
  local kernel = wg.kernel("discards", { threads = threads }, function(k)
    local X, D = k:param("X", "const u32*"), k:param("D", "u32*")
    local thread = k:special "tid.x"
    local word = k:special "ctaid.x" * words + thread
    for part = 0, words - 1, 2 * threads do
      k[form](k, k:element(D, word - (thread & 31) + part), { guard = (thread & 31):eq(0) })
      k:bar_sync(0)
      k:st_global_u32(k:element(D, word + part), k:ld_global_u32(k:element(X, word + part)))
    end
  end)
  compare(form, "u32", kernel, { ctas }, function(round)
    return { bits("u32", ctas * words, 2 * round), bits("u32", ctas * words, 2 * round + 1) }
  end)
end

beside.finish()
