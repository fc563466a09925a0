-- What verdicts make of data, of grids that a kernel declares, and of what the first turn of a loop writes: where that is
-- right it is proved, and where it is nearly so it is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict
local function matches(text, pattern)
  if not text:match(pattern) then error(("%q does not match %q"):format(text, pattern), 3) end
end
local function proved(what, kernel, property, assumption)
  local one = verdict(kernel, property)
  check.equal({ what, one.verdict, one.reason or one.assumption }, { what, "proved", assumption })
end
local function undecided(what, kernel, property, reason)
  local one = verdict(kernel, property)
  check.equal({ what, one.verdict, one.assumption and 1 }, { what, "undecided", 1 })
  matches(one.reason, reason)
end

--- A product of one warp, whose metadata `load` returns: load(k, its word of E, lane, ...).
local function product(load, name)
  return wg.kernel("sparse", { threads = 32 }, function(k)
    local E, D = k:param("E", "const u32*"), k:param("D", "f32*")
    local buffer, lane = k:shared { bytes = 256, align = 128, name = "words" }, k:special "laneid"
    local words = load(k, k:element(E, lane), lane, buffer, D, E)
    local d, a, b, c = k:regs("f32", 4), k:regs("b32", 4), k:regs("b32", 4), k:regs("f32", 4)
    for i = 0, 3 do
      k:mov(a[i], 0)
      k:mov(b[i], 0)
      k:mov(c[i], 0)
    end
    k[name or "mma_sp_sync"](k, d, a, b, c, words, { k = 32, d = "f32", a = "bf16", b = "bf16", sp_sel = 0 })
    k:st_global_f32(k:element(D, k:special "ctaid.x" * 32 + lane), d[0])
  end)
end
local of_E <const> = "every word of E is legal sparse metadata of bf16"
local function metadata(what, load) proved(what, product(load), "descriptors", of_E) end
local function no_metadata(what, reason, load) undecided(what, product(load), "descriptors", reason) end

local function loaded(k, at) return k:ld_global_b32(at) end
metadata("words of memory", loaded)
metadata("one of two words", function(k, _, lane, _, _, E)
  local first, second = k:regs("b32", 2), k:regs("b32", 1)
  k:ld_global_v2_b32(first, k:element(E, lane << 1))
  k:mov(second[0], first[1])
  return k:selp_b32(second[0], first[0], lane:gt(3))
end)
metadata("a word or a constant", function(k, at, lane)
  local word = k:mov(0xE4E4E4E4, { type = "b32" })
  k:if_(lane:lt(16), function() k:ld_global_b32(word, at) end)
  return word
end)
metadata("words of another lane", function(k, at) return k:shfl_sync_idx_b32(loaded(k, at), 0, 31) end)
metadata("words through shared memory", function(k, at, lane, buffer)
  k:cp_async_ca(k:address(buffer, lane << 2), at, { bytes = 4 })
  k:cp_async_wait_all()
  k:bar_warp_sync()
  return k:ld_shared_b32(k:address(buffer, lane << 2))
end)
-- A map that is a parameter is of a tensor of its own; one in memory may be of E.
local function stored_by(map_of)
  return function(k, at, _, buffer)
    local word, map, zero = loaded(k, at), map_of(k), k:mov(0, { type = "s32" })
    k:if_(k:elect_sync(), function()
      k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, k:address(buffer))
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
    return word
  end
end
metadata("words beside a store by a map", stored_by(function(k)
  return k:tensor_map("X", { dtype = "u32", box = { 32, 1 } })
end))
no_metadata("words beside a store by a map in memory", "to the metadata", stored_by(function(k)
  return k:param("maps", "u8*")
end))
proved("constants", product(function(k) return k:mov(0x44444444, { type = "b32" }) end), "descriptors")

no_metadata("a constant with a code twice", "0x44444400 .* without a meaning", function(k, at, lane)
  local word = k:mov(0x44444400, { type = "b32" })
  k:if_(lane:lt(16), function() k:ld_global_b32(word, at) end)
  return word
end)
no_metadata("sums", "are computed here", function(k, at) return k:add(loaded(k, at), 1) end)
no_metadata("bytes", "are computed here", function(k, at) return k:cvt_u32_u8(k:ld_global_u8(at)) end)
no_metadata("halves of words", "are computed here", function(k, at) return k:cvt_u32_u16(k:ld_global_u16(at)) end)
no_metadata("copies with zeros behind them", "may write to where", function(k, at, lane, buffer)
  k:cp_async_ca(k:address(buffer, lane << 2), at, { bytes = 4, src_size = k:min(lane, 4) })
  k:cp_async_wait_all()
  k:bar_warp_sync()
  return k:ld_shared_b32(k:address(buffer, lane << 2))
end)
no_metadata("what threads have stored", "may write to where", function(k, at, lane, buffer)
  k:st_shared_b32(k:address(buffer, lane << 2), loaded(k, at))
  k:bar_warp_sync()
  return k:ld_shared_b32(k:address(buffer, lane << 2))
end)
no_metadata("what the kernel writes itself", "to the metadata", function(k, _, lane, _, D)
  local at = k:element(D, lane)
  k:st_global_f32(at, 1.0)
  return k:ld_global_b32(at)
end)
no_metadata("one of two pointers", "come here is not known", function(k, at, lane, _, D)
  return k:ld_global_b32(k:selp_b64(at, k:element(D, lane), lane:lt(4)))
end)

-- Without wgmma's freedom a lower index comes first.
local ordered <const> = "mma_sp_ordered_metadata_sync"
proved("with increasing indices", product(loaded, ordered), "descriptors", of_E .. ", with increasing indices")
check.equal(verdict(product(function(k) return k:mov(0x11111111, { type = "b32" }) end, ordered), "descriptors").verdict, "refuted")

-- A launch of the simulator checks what the proof takes for granted.
local ones = wg.full("u32", { 32 }, 0)
local E_of_zeros = pcall(function() product(loaded):run { grid = 1, backend = "sim", args = { ones, wg.zeros("f32", { 32 }) } } end)
check.equal(E_of_zeros, false)

--- Stores at a place that no CTA has for itself.
local function same_place(grid)
  return wg.kernel("place", { threads = 32, grid = grid }, function(k)
    k:st_global_f32(k:element(k:param("D", "f32*"), k:special "tid.x"), 1.0)
  end)
end
undecided("any grid", same_place(nil), "global-races", "does not ask which CTA")
undecided("a grid of two CTAs", same_place(2), "global-races", "does not ask which CTA")
undecided("two CTAs along z", same_place { 1, 1, 2 }, "global-races", "does not ask which CTA")
proved("one CTA", same_place(1), "global-races")
local _, refused = pcall(function() same_place(1):run { grid = 2, backend = "sim", args = { wg.zeros("f32", { 32 }) } } end)
matches(tostring(refused), "grid {2, 1, 1}: the kernel is declared for {1, 1, 1} alone")
same_place(1):run { backend = "sim", args = { wg.zeros("f32", { 32 }) } }
-- A launch that names no grid has the declared one: each CTA counts itself.
local count = wg.zeros("u32", { 1 })
wg.kernel("count", { threads = 1, grid = { 3, 2 } }, function(k)
  k:red_global_add_u32(k:element(k:param("C", "u32*"), 0), 1)
end):run { backend = "sim", args = { count } }
check.equal(count[0], 6)
check.equal(pcall(wg.kernel, "pairs", { threads = 32, cluster = 2, grid = 3 }, function() end), false)

--- A loop that reads a register in turns where `reads(k, i)`; they are written at the end of each turn under `writes`.
local function turns(reads, writes)
  return wg.kernel("turns", { threads = 32 }, function(k)
    local sum, D = k:regs("u32", 1)[0], k:param("D", "u32*")
    k:loop(k:param("n", "u32"), function(i)
      k:if_(reads(k, i), function() k:st_global_u32(k:element(D, k:special "tid.x"), sum) end)
      k:if_(writes(k, i), function() k:mov(sum, i) end)
    end)
  end)
end
local function after(first) return function(_, i) return i:ge(first) end end
proved("what the turn before has written", turns(after(1), after(0)), "initialisation")
for what, kernel in pairs {
  ["what a later turn writes"] = turns(after(1), after(1)),
  ["the first turn"] = turns(after(0), after(0)),
  ["an odd turn"] = turns(after(1), function(k, i) return (i & 1):eq(1) end),
} do
  local one = verdict(kernel, "initialisation")
  if one.verdict == "proved" then error("proved, and wrong: " .. what) end
end

--- A loop of `trips(k, n)` turns, which writes a register that is read behind it. n is known to be at least 1 of the
--- protocol, which counts to it.
local function written_in(trips)
  return wg.kernel("behind", { threads = 32 }, function(k)
    local sum, D, n = k:regs("u32", 1)[0], k:param("D", "u32*"), k:param("n", "u32")
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(k:special "tid.x":eq(0), function() k:mbarrier_init(bar, 32) end)
    k:bar_sync(0)
    local phase = k:mov(0, { type = "u32" })
    k:loop(trips(k, n), function(i)
      k:mbarrier_arrive(bar)
      k:mbarrier_wait(k:address(bar), phase)
      k:xor(phase, phase, 1)
      k:mov(sum, i)
    end)
    k:st_global_u32(k:element(D, k:special "tid.x"), sum)
  end)
end
proved("n turns", written_in(function(_, n) return n end), "initialisation")
proved("blocks of n", written_in(function(_, n) return (n + 63) >> 6 end), "initialisation")
proved("quotients of blocks", written_in(function(k, n) return k:div(n + 11, 12) + 3 end), "initialisation")
for what, trips in pairs {
  ["whole blocks"] = function(_, n) return n >> 6 end,
  ["blocks of all but two"] = function(_, n) return (n + 61) >> 6 end,
  ["one less"] = function(_, n) return n - 1 end,
  ["a quotient by another number"] = function(k, n) return k:div(n + 3, n) end,
  ["what is written twice"] = function(k, n)
    local count = k:mov(n, { type = "u32" })
    k:mov(count, 0)
    return count
  end,
} do
  local one = verdict(written_in(trips), "initialisation")
  if one.verdict == "proved" then error("proved, and wrong: " .. what) end
end
