-- What wg.attention does for 8-bit elements only: V is transposed, keys have an order of their own, and factors scale
-- the tensors. Their probabilities have a file of their own, attention/fp8_weights.lua.
--
-- wgmma takes B of 8-bit types with K contiguous only (PTX ISA 9.7.15.5.1), and in P * V that is the extent of the
-- keys. Between the producer and the consumers stand warps that transpose, and two rings: blocks of V as TMA brings
-- them, keys x dim (`raw`), and dim x keys (`v`). They use ldmatrix with .trans, which transposes pairs of elements,
-- and put the two of a pair apart (prmt).
--
-- P must not leave its registers. In the fragment of A a thread has four neighbours of a row, in the accumulators of
-- the scores two pairs of columns that are 8 apart. Nothing has to move if the keys of P and of V are put into another
-- order, the same for both: place 4 t + 2 j + e of 16 has key 8 j + 2 t + e (t below 4; j and e below 2). Two 8 x 8
-- matrices of ldmatrix.trans have their keys in this order as well. PTX ISA 9.7.15.5.1, figures of the fragments A and
-- D.

local division = require "wgrun.builder.division"

local module = {}

-- Addresses of 16-byte units of a K-major tile: units(stage) returns at(unit, ahead), which returns the address and the
-- offset of unit `unit + more` of a line, `ahead` lines below `line`. `line` and `more` are registers; `more` (nil: 0)
-- is less than the number that `unit` is a multiple of, and `ahead` is a multiple of 8, the period of the swizzle.
local function units_of(tile, base, line, more)
  local bytes = tile.atom_k -- of a line of a panel
  local units = bytes >> 4
  local turn = bytes == 128 and line & 7 or bytes == 64 and line >> 1 & 3 or line >> 2 & 1
  local in_stage = base + (line * bytes + ((more and turn ~ more or turn) << 4))
  return function(stage)
    local known = { [0] = in_stage + stage * tile.bytes }
    return function(unit, ahead)
      local inside = unit % units
      known[inside] = known[inside] or known[0] ~ (inside << 4)
      return known[inside], (unit // units * tile.mn + ahead) * bytes
    end
  end
end

--- Writes the rows of ones, once for each stage. A barrier must follow; wgmma sees them by the fence of the warps that
--- transpose.
function module.ones(k, p, buffer)
  if p.ones == 0 then return end
  local line, thread, one = p.v.atom_k, k:special "tid.x", k:mov(0x38383838, { type = "b32" }) -- 1.0, four times
  local to, guard = k:address(buffer) + (thread << 2), thread:lt(p.ones * line // 4)
  for stage = 0, p.stages - 1 do
    for panel = 0, p.block // line - 1 do
      k:st_shared_b32(to, one, { offset = stage * p.v.bytes + (panel * p.v.mn + p.value_dim) * line, guard = guard })
    end
  end
end

-- What a transposing warp has: where its lanes read and write in the stages, and how they put two elements apart. For
-- ldmatrix (PTX ISA 9.7.14.5.15) lane i names key i of 32; for stmatrix (9.7.14.5.16) it names line i % 8 of matrix i /
-- 8, where matrices 0 and 1 have the first 16 keys, 2 and 3 the next ones.
local function transposer_of(g, mine)
  local k, p, rings, buffers = g.k, g.p, g.rings, g.buffers
  local lane = k:special "tid.x" & 31
  local me = { k = k, p = p, lane = lane }
  me.cursor = rings.raw:cursor() -- of both rings, which have equally many stages
  -- A register has two dims of two keys. The even lines of a tile share half of the banks, so that half of the lanes
  -- give their odd dim to the matrix where the others give their even one.
  local upper = lane:ge(16)
  me.even, me.odd = k:selp_b32(0x7531, 0x6420, upper), k:selp_b32(0x6420, 0x7531, upper)
  local in_matrix = lane & 7
  local dim = (in_matrix << 1) + ((in_matrix >> 2) ~ (lane >> 3 & 1))
  me.from_units = units_of(p.raw, k:address(buffers.raw), lane + (mine << 5))
  -- A line has all units of some keys: of one warp's 32, or of two warps'.
  local panels = p.v.atom_k == 32
  local base = k:address(buffers.v)
  me.to_units = units_of(
    p.v, panels and base + mine * (p.v.mn * 32) or base, dim, panels and lane >> 4 or (mine << 1) + (lane >> 4))
  return me
end

-- Transposes 32 keys from `key` on, 16 dims at a time. p.chunks of these are loaded ahead: the first of them is stored
-- when one more has been asked for.
local function transpose_keys(me, key, from, to)
  local k, p = me.k, me.p
  local words, last = k:regs("b32", 4 * p.chunks), p.value_dim // 16 - 1
  local function of(chunk) return words:slice(4 * (chunk % p.chunks), 4) end
  local function load(chunk)
    if chunk > last then return end
    local at, offset = from(chunk, key)
    k:ldmatrix_x4(of(chunk), at, { trans = 1, offset = offset })
  end
  for chunk = 0, p.chunks - 1 do load(chunk) end
  for chunk = 0, last do
    local loaded, out = of(chunk), k:regs("b32", 4)
    for pair = 0, 2, 2 do
      k:prmt(out[pair], loaded[pair], loaded[pair + 1], me.even)
      k:prmt(out[pair + 1], loaded[pair], loaded[pair + 1], me.odd)
    end
    load(chunk + p.chunks)
    local at, offset = to(key // 16, 16 * chunk)
    k:stmatrix_x4(at, out, { offset = offset })
  end
end

--- The role of the warps that transpose V, of which this is number `mine` (a register): blocks(body) executes body for
--- each block. The warps take 32 keys of it in turn.
function module.transpose_values(g, mine, blocks)
  local k, p, rings, me = g.k, g.p, g.rings, transposer_of(g, mine)
  local cursor = me.cursor
  blocks(function()
    rings.raw:wait(cursor)
    rings.v:acquire(cursor)
    local from, to = me.from_units(cursor.stage), me.to_units(cursor.stage)
    for key = 0, p.block - 1, 32 * p.transposers do
      local left = (p.block - key) // 32 -- warps that still find keys
      local function body() transpose_keys(me, key, from, to) end
      if left < p.transposers then k:if_(mine:lt(left), body) else body() end
    end
    k:fence_proxy_async { space = "shared::cta" } -- wgmma reads what was written, and TMA overwrites what was read
    k:bar_warp_sync()
    rings.raw:release(cursor, { lane = me.lane })
    k:mbarrier_arrive(rings.v:full_barrier(cursor), { guard = me.lane:eq(0) })
    rings.raw:advance(cursor)
  end)
end

--- The factors of the scores, `scale`, and of the bound of their tanh, `cap` (option `softcap`), and load(at), which
--- multiplies those of Q and K of the tile's head and sequence into them and returns that of V; without the option
--- `descale` nil.
function module.factors(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local factors = { scale = sizes.scale, cap = sizes.cap, load = function() end }
  if not p.descale then return factors end
  local scaled = (p.softcap or p.score) and "cap" or "scale"
  factors[scaled] = k:mov(sizes[scaled], { type = "f32" })
  function factors.load(at)
    local place = p.descale == "head" and at.batch * p.kv_heads + division.divided(k, at.head, p.heads // p.kv_heads)
      or 0
    local function of(name) return k:ld_global_f32(k:element(sizes[name .. "_descale"], place)) end
    k:mov(factors[scaled], sizes[scaled] * of "q" * of "k")
    return of "v"
  end
  return factors
end

return module
