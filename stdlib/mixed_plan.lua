-- The plan of wg.gemm{ b_type = }: tile, parts of K and stages for weights of 4 or 8 bits.

return function(wg, internal)
  local fail, options, target = internal.fail, internal.options, wg.target
  local ceil_div = internal.ceil_div
  local bits_of = { s4 = 4, u4 = 4, s8 = 8, u8 = 8, e4m3 = 8 }
  local block_rows = 64 -- of weights: a warpgroup's
  local most_rows = 256 -- of A that one CTA multiplies by, which is the largest n of wgmma

  --- The elements of K that packed weights are filled up to a multiple of: the largest block of K.
  internal.packed_k = 512

  --- The number of bits of a type of weights; raises for a type that weights cannot have.
  function internal.weight_bits(what, b_type)
    return bits_of[b_type] or fail(("%s: unknown b_type `%s` (legal: s4, u4, s8, u8, e4m3)"):format(what, tostring(b_type)))
  end

  -- Bytes of sums that a warpgroup may receive from the others, when the plan chooses.
  local most_received = 65536

  -- Parts of K, which the CTAs of a cluster multiply: as many as fill the chip, and not more.
  local function choose_splits(p, tiles, blocks)
    local best, least = 1, math.huge
    for _, splits in ipairs { 1, 2, 4, 8 } do
      local time = ceil_div(tiles * splits, target.multiprocessors) / splits
      local fits = blocks >= 4 * splits and (splits * p.k_parts - 1) * p.sum_bytes <= most_received
      if fits and time < 0.95 * least then best, least = splits, time end
    end
    return best
  end

  local function splits_of(p, given, tiles, blocks)
    if given == nil then return choose_splits(p, tiles, blocks) end
    local splits = internal.whole("wg.gemm: splits", given, 1, target.portable_cluster)
    if splits & (splits - 1) ~= 0 then fail(("wg.gemm: splits is %d, must be 1, 2, 4 or 8 with b_type: the CTAs of a cluster"):format(splits)) end
    return splits
  end

  -- The rows of weights of a tile, when the plan chooses: 64 where that makes a tile for each SM, so that K needs no parts, and where the
  -- rows of A, which each tile reads, are few beside the weights.
  local function rows_of(p, M, N, splits)
    local tiles = ceil_div(M, p.n) * ceil_div(N, 64)
    local few = p.n <= (p.bits == 4 and 32 or 16)
    return few and (splits or 1) == 1 and tiles <= target.multiprocessors and 2 * tiles > target.multiprocessors and 64 or 128
  end

  -- The weights are wgmma's A: a tile has 64 or 128 rows of them, which are columns of D, and n rows of A.
  local function tile_of(p, opts, M, N)
    local tile = opts.tile or {}
    local chosen = ceil_div(ceil_div(M, ceil_div(M, most_rows)), 8) * 8 -- as few tiles as possible, all equal
    p.n = internal.whole("wg.gemm: tile[2]", tile[2] or chosen, 8, most_rows)
    if p.n % 8 ~= 0 then fail(("wg.gemm: tile[2] is %d, must be a multiple of 8 with b_type: the rows of A"):format(p.n)) end
    if M < p.n and p.n <= 32 then p.few = M end -- rows of A: boxes of so many come sooner than boxes with rows outside
    p.m = tile[1] or rows_of(p, M, N, opts.splits)
    if p.m ~= 64 and p.m ~= 128 then fail(("wg.gemm: tile[1] is %s, must be 64 or 128 with b_type: the rows of B"):format(tostring(p.m))) end
    -- Where sums are few, four warpgroups share the tile, each with 64 rows and a part of a block of K: converting takes many warps.
    p.block_k = tile[3] or (p.n <= 48 and 256 or p.n <= 128 and 128 or 64) * (128 // p.m)
    if p.block_k ~= 64 and p.block_k ~= 128 and p.block_k ~= 256 and (p.block_k ~= 512 or p.m == 128) then
      fail(("wg.gemm: tile[3] is %s, must be 64, 128, 256 or, with 64 rows of B, 512 with b_type"):format(tostring(p.block_k)))
    end
    p.part_k = math.min(p.block_k, 128) -- of a warpgroup
    p.k_parts, p.blocks = p.block_k // p.part_k, p.m // block_rows
    p.consumers = p.blocks * p.k_parts
    p.sum_bytes = block_rows * p.n * 4 -- of a warpgroup
    p.scales_sums = p.n <= 64 and p.group % p.part_k == 0 -- rather than each weight
    p.steps = p.n <= (p.bits == 4 and 32 or 16) and p.part_k == 128 and 4 or 2 -- of K, which are converted and then multiplied at a time
  end

  local function group_of(given)
    local group = internal.whole("wg.gemm: group", given or 128, 32, 1 << 30)
    if group ~= 32 and group ~= 64 and group % 128 ~= 0 then
      fail(("wg.gemm: group is %d, must be 32, 64 or a multiple of 128 with b_type"):format(group))
    end
    return group
  end

  -- Shared memory: the stages, the sums that the CTAs of a cluster send each other, and D's panels. A panel lies where the sums
  -- were, unless C comes to it by a copy, which would have to be ordered after the sums have been read.
  local function stages_of(p, given)
    p.weight_bytes = block_rows * p.block_k * p.bits // 8 -- of 64 rows in a stage
    p.groups_of_part = math.max(1, p.part_k // p.group)
    p.scale_copies = p.group > p.part_k and p.k_parts or 1 -- parts that lie in one group have a copy each of its scales
    p.part_scale_bytes = p.groups_of_part * p.m * 2
    p.scale_bytes = p.k_parts * p.part_scale_bytes
    p.parts = p.splits * p.k_parts -- of a tile's sums
    p.owned = ceil_div(p.blocks, p.splits) -- blocks of 64 rows that a CTA puts together and stores
    local received = (p.parts - 1) * p.sum_bytes -- for each of them
    p.panel_offset = (p.epilogue.beta or p.epilogue.residual) and received or 0
    p.exchange_bytes = math.max(received, p.panel_offset + p.panel.bytes)
    local stage = p.blocks * p.weight_bytes + p.a.bytes + (p.zeros and 2 or 1) * p.scale_bytes
    local room = target.cta_shared - p.owned * p.exchange_bytes - 2048 -- the rest for alignment and barriers
    if room < 2 * stage then
      fail(("wg.gemm: two stages take %d bytes, and %d bytes of shared memory are left: fewer splits or a smaller tile"):format(2 * stage, room))
    end
    p.stages = internal.whole("wg.gemm: stages", given or math.min(16, room // stage), 2, math.min(32, room // stage))
  end

  -- Blocks of weights that come without A at the start: `ahead` in the ring, `asked` behind them in the L2 cache, and `told` of the next
  -- launch's there. The first blocks are wanted first, and more than memory brings until A is there keep them waiting (docs/performance.md, weights of
  -- 4 and 8 bits). With 8 rows what a launch asks for at its start is better than what the launch before asked for.
  local function choose_ahead(p)
    p.ahead = p.m == 64 and p.n > 16 and 1 or 2
    p.told = p.next and p.n > 8 and (p.bits == 8 and 1 or p.n > 16 and 2 or 3) or 0
    local asked = p.bits == 8 and (p.n <= 32 and 1 or 0) or p.n == 8 and 2 or p.n <= 24 and 1 or 0
    p.asked = p.constant and p.told == 0 and asked or 0
  end

  -- The epilogue of a D that is written transposed.
  local function epilogue_of(given)
    local e = internal.epilogue_options(given)
    for _, name in ipairs { "gate", "quantize", "row_sums" } do
      if e[name] then fail(("wg.gemm: `epilogue.%s` does not go with b_type"):format(name)) end
    end
    if e.bias then e.bias = e.bias == "row" and "column" or "row" end
    return e
  end

  local legal = {
    a_type = true, b_type = true, group = true, zeros = true, d = true, problem = true, name = true, epilogue = true, tile = true, stages = true,
    splits = true, constant = true, next = true,
  }

  --- The plan for the options of wg.gemm with a b_type.
  function internal.mixed_plan(opts)
    options("wg.gemm", opts)
    for key in pairs(opts) do
      if not legal[key] then fail(("wg.gemm: `%s` does not go with b_type"):format(key)) end
    end
    internal.kinds("wg.gemm", opts, {
      a_type = "string", problem = "table", tile = "table", epilogue = "table", name = "string", d = "string", zeros = "boolean", constant = "string", next = "boolean",
    })
    local p = {
      mixed = true, swapped = true, dtype = opts.a_type or "bf16", b_type = opts.b_type, bits = internal.weight_bits("wg.gemm", opts.b_type),
      name = opts.name or "gemm", zeros = opts.zeros or false, group = group_of(opts.group), scales = {},
    }
    if p.dtype ~= "bf16" and p.dtype ~= "f16" then fail(("wg.gemm: a_type is %s (legal with b_type: bf16, f16)"):format(p.dtype)) end
    p.d = opts.d or p.dtype
    if p.d ~= "bf16" and p.d ~= "f16" then fail(("wg.gemm: d is %s (legal with b_type: bf16, f16)"):format(p.d)) end
    if p.zeros and p.b_type == "e4m3" then fail "wg.gemm: weights of e4m3 have no zero points" end
    if opts.constant and opts.constant ~= "B" then fail(("wg.gemm: constant is %s (legal with b_type: B)"):format(opts.constant)) end
    p.constant, p.next = opts.constant, opts.next
    local problem = opts.problem or { 16, 8192, 8192 }
    for i = 1, 3 do internal.whole(("wg.gemm: problem[%d]"):format(i), problem[i], 1, 0x7FFFFFFF) end
    local M, N, K = problem[1], problem[2], problem[3]
    tile_of(p, opts, M, N)
    p.splits = splits_of(p, opts.splits, ceil_div(N, p.m) * ceil_div(M, p.n), ceil_div(K, p.block_k))
    p.a = wg.tile { dtype = p.dtype, mn = p.n, k = p.block_k, major = "K", order = "MN" }
    p.panel = wg.panel { dtype = p.d, n = p.n, transposed = true }
    p.epilogue, p.vectors = epilogue_of(opts.epilogue or {}), 0
    stages_of(p, opts.stages)
    choose_ahead(p)
    -- A warp that copies besides the consumers; of a warpgroup that gives them its registers, where the sums take many.
    p.registers = p.n > 128 and { 24, 240 } or nil
    p.threads = 128 * p.consumers + (p.registers and 128 or 32)
    return p
  end
end
