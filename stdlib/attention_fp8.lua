-- What wg.attention does for 8-bit elements only: V is transposed, keys have an order of their own, and factors scale the tensors. Their
-- probabilities have a file of their own, attention_fp8_weights.lua.
--
-- wgmma takes B of 8-bit types with K contiguous (PTX ISA 9.7.15.5.1), which are the keys in P * V. Warps of their own turn blocks of V,
-- keys x dim as TMA brings them, into dim x keys; ldmatrix with .trans does so for pairs of elements.
--
-- P must not leave its registers: four neighbours of a row in the fragment of A belong to one thread, which has pairs of
-- columns 8 apart in the accumulators of the scores. Nothing has to move if the keys of P and of V are put into another
-- order, the same for both: place 4 t + 2 j + e of 16 has key 8 j + 2 t + e (t below 4; j and e below 2). In this
-- order two 8 x 8 matrices of ldmatrix.trans have them, too. PTX ISA 9.7.15.5.1, figures of the fragments A and D.

return function(internal)
  -- Addresses of 16-byte units of a K-major tile: units(stage) returns at(unit, ahead), which returns an address and an offset, for the unit
  -- `unit + more` of the line `line`, and `ahead` lines further down. `line` and `more` are registers, `more` is less than the
  -- number that `unit` is a multiple of (nil: 0), and `ahead` is a multiple of 8, the period of the swizzle.
  local function units_of(k, tile, base, line, more)
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

  --- Writes the rows of ones, once for each stage. A barrier must follow; wgmma sees them by the fence of the warps that transpose.
  function internal.attention_ones(k, p, buffer)
    if p.ones == 0 then return end
    local line, thread, one = p.v.atom_k, k:special "tid.x", k:mov(0x38383838, { type = "b32" }) -- 1.0, four times
    local to, guard = k:address(buffer) + (thread << 2), thread:lt(p.ones * line // 4)
    for stage = 0, p.stages - 1 do
      for panel = 0, p.block // line - 1 do
        k:st_shared_b32(to, one, { offset = stage * p.v.bytes + (panel * p.v.mn + p.dim) * line, guard = guard })
      end
    end
  end

  --- The role of the warps that transpose V, of which this is number `mine` (a register): blocks(body) executes body for each block. The warps take
  --- 32 keys of it in turn.
  function internal.transpose_values(k, p, rings, buffers, mine, blocks)
    local lane = k:special "tid.x" & 31
    local cursor = rings.raw:cursor() -- of both rings, which have equally many stages
    -- A register has two dims of two keys. The even lines of a tile share half of the banks, so that half of the lanes give their
    -- odd dim to the matrix where the others give their even one.
    local upper = lane:ge(16)
    local even, odd = k:selp_b32(0x7531, 0x6420, upper), k:selp_b32(0x6420, 0x7531, upper)
    -- ldmatrix: lane i names key i of 32. stmatrix: lane i names the line of 16 in matrix i / 8; of the
    -- four matrices, 0 and 1 have the first 16 keys, 2 and 3 the next ones.
    local in_matrix = lane & 7
    local dim = (in_matrix << 1) + ((in_matrix >> 2) ~ (lane >> 3 & 1))
    local from_units = units_of(k, p.raw, k:address(buffers.raw), lane + (mine << 5))
    -- A line has all units of some keys: of one warp's 32, or of two warps'.
    local panels = p.v.atom_k == 32
    local base = k:address(buffers.v)
    local to_units = units_of(k, p.v, panels and base + mine * (p.v.mn * 32) or base, dim, panels and lane >> 4 or (mine << 1) + (lane >> 4))

    -- 32 keys and 16 dims at a time. Of p.pieces of them on their way the first is stored when one more has been asked for.
    local function pieces_from(key, from, to)
      local words, last = k:regs("b32", 4 * p.pieces), p.dim // 16 - 1
      local function of(chunk) return words:slice(4 * (chunk % p.pieces), 4) end
      local function load(chunk)
        if chunk > last then return end
        local at, offset = from(chunk, key)
        k:ldmatrix_x4(of(chunk), at, { trans = 1, offset = offset })
      end
      for chunk = 0, p.pieces - 1 do load(chunk) end
      for chunk = 0, last do
        local w, out = of(chunk), k:regs("b32", 4)
        for half = 0, 2, 2 do
          k:prmt(out[half], w[half], w[half + 1], even)
          k:prmt(out[half + 1], w[half], w[half + 1], odd)
        end
        load(chunk + p.pieces)
        local at, offset = to(key // 16, 16 * chunk)
        k:stmatrix_x4(at, out, { offset = offset })
      end
    end

    blocks(function()
      rings.raw:wait(cursor)
      rings.v:acquire(cursor)
      local from, to = from_units(cursor.stage), to_units(cursor.stage)
      for key = 0, p.block - 1, 32 * p.transposers do
        local left = (p.block - key) // 32 -- warps that still find keys
        local function body() pieces_from(key, from, to) end
        if left < p.transposers then k:if_(mine:lt(left), body) else body() end
      end
      k:fence_proxy_async { space = "shared::cta" } -- wgmma reads what was written, and TMA overwrites what was read
      k:bar_warp_sync()
      rings.raw:release(cursor, { lane = lane })
      k:mbarrier_arrive(rings.v:full_barrier(cursor), { guard = lane:eq(0) })
      rings.raw:advance(cursor)
    end)
  end

  --- The factors of the scores, `scale`, and of the bound of their tanh, `cap` (option `softcap`), and load(at), which multiplies
  --- those of Q and K of the tile's head and sequence into them and returns that of V; without the option `descale` nil.
  function internal.attention_factors(k, p, sizes)
    local factors = { scale = sizes.scale, cap = sizes.cap, load = function() end }
    if not p.descale then return factors end
    local scaled = p.softcap and "cap" or "scale"
    factors[scaled] = k:mov(sizes[scaled], { type = "f32" })
    function factors.load(at)
      local place = p.descale == "head" and at.batch * p.kv_heads + internal.divided(k, at.head, p.heads // p.kv_heads) or 0
      local function of(name) return k:ld_global_f32(k:element(sizes[name .. "_descale"], place)) end
      k:mov(factors[scaled], sizes[scaled] * of "q" * of "k")
      return of "v"
    end
    return factors
  end
end
