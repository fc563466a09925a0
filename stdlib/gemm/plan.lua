-- The plan of wg.gemm: tile, schedule, stages and registers, taken from the options or, where these leave them open,
-- chosen by a model of the time that the problem takes.

local result = { f16 = "f16", bf16 = "bf16", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32", u8 = "s32" }

return function(wg, internal)
  local fail, options, target = internal.fail, internal.options, wg.target
  local element_bytes, ceil_div, consumers_of = internal.element_bytes, internal.ceil_div, internal.gemm_consumers
  local fitted = require("wgrun.cost.fitted").gemm

  --- What decides which tiles are worth a try for options of wg.gemm: "sparse", "scaled" (for blocks of K), "grouped" or "dense".
  function internal.gemm_kind(opts)
    local scaled = type(opts.scales) == "table" and opts.scales.a == "1x128"
    return opts.sparse and "sparse" or scaled and "scaled" or opts.groups and "grouped" or "dense"
  end

  --- The tiles of D and schedules that are worth a try for a plan of that kind with so many products, of "few" tiles or by
  --- default "many", and the share of the tensor cores' `speed` that their main loops reach; `width` are the columns of the
  --- accumulators.
  function internal.gemm_candidates(kind, products, of)
    local list = {}
    for _, schedule in ipairs { "cooperative", "pingpong" } do
      for _, c in ipairs(fitted.tiles[kind][schedule] or {}) do
        if not c.of or c.of == (of or "many") then
          list[#list + 1] = { tile = { c[1], c[2] // products }, width = c[2], schedule = schedule, speed = c[3], line = c.line or 128 }
        end
      end
    end
    return list
  end

  -- Rows of tiles that the order covers before it goes on to the next column: those that were fastest. CTAs that need the same rows of
  -- weights follow each other: those of a column, or with A and B exchanged of a row. A sparse A has half of B's bytes:
  -- 2816 of its rows make a wave of 132 tiles of 128x256 22 by 6 tiles.
  local function rows_in_order(p, kind)
    if p.swapped then return 1 end
    if p.own_tiles then return 8 end
    return kind == "dense" and 12 or kind == "sparse" and 2816 // p.m or 16
  end

  -- The candidate that takes the fewest cycles for the problem, among those of `schedule` if one is given.
  local function choose(p, M, N, K, bytes, schedule, kind, groups, halves)
    local best, least
    local d_bytes, e = element_bytes[p.d], p.epilogue
    local problem = { kind = kind, M = M, N = N, row_bytes = (kind == "sparse" and K // 2 or K) * bytes, groups = groups, halves = halves }
    problem.group_bytes = groups and bytes * K * (M + groups * N * p.products) + d_bytes * M * N
    for _, c in ipairs(internal.gemm_candidates(kind, p.products)) do
      local m, n = c.tile[1], c.tile[2]
      local total = internal.candidate_cycles(c, problem, e)
      local fits = (n * d_bytes % 64 == 0 or n % 16 == 0) and (p.b_major ~= "MN" or n % 64 == 0)
        and (not schedule or schedule == c.schedule) and (not e.quantize or n % 128 == 0)
        and (e.plain or m * c.width <= 256 * 192) -- more accumulators leave no registers for operations
      if fits and (not least or total < least) then best, least = c, total end
    end
    return best
  end

  -- What the option `scales` says: along what of the accumulators those of A and of B go, or that they are of blocks.
  local function scales_of(p, given)
    if not given then return {} end
    options("wg.gemm, scales", given)
    if given.a == "1x128" or given.b == "128x128" then
      if given.a ~= "1x128" or given.b ~= "128x128" then fail 'wg.gemm, scales: a = "1x128" and b = "128x128" go together' end
      if p.dtype ~= "e4m3" and p.dtype ~= "e5m2" then fail("wg.gemm, scales: scales for blocks are of e4m3 and e5m2, not of " .. p.dtype) end
      return { a_scales = "block", b_scales = "block" }
    end
    local function along(which, rows)
      local kind = given[which]
      if kind ~= nil and kind ~= "row" and kind ~= "tensor" then
        fail(("wg.gemm, scales: unknown %s `%s` (legal: %s, row, tensor)"):format(which, tostring(kind), which == "a" and "1x128" or "128x128"))
      end
      return kind == "tensor" and "all" or kind and rows
    end
    return { a_scales = along("a", p.swapped and "column" or "row"), b_scales = along("b", p.swapped and "row" or "column") }
  end

  local function whole(name, value, least, most) return internal.whole("wg.gemm: " .. name, value, least, most) end

  local function one_of(name, value, legal)
    for _, candidate in ipairs(legal) do if value == candidate then return value end end
    fail(("wg.gemm: unknown %s `%s` (legal: %s)"):format(name, tostring(value), table.concat(legal, ", ")))
  end

  -- Whether A and B may be exchanged, and D be written transposed: for few rows, since wgmma's M is 64. Where the option is given, whether they are.
  local function swap_of(p, opts, kind)
    local e = p.epilogue
    local possible = element_bytes[p.d] == 2 and kind == "dense" and not opts.groups and not (e.gate or e.row_sums or e.quantize)
    if opts.swap_ab == nil then return possible end
    if type(opts.swap_ab) ~= "boolean" then fail("wg.gemm: swap_ab must be true or false, not " .. tostring(opts.swap_ab)) end
    if opts.swap_ab and not possible then
      fail "wg.gemm: `swap_ab` requires a D of 16 bits and dense operands, without `groups`, scales for blocks, a gate, row sums and a quantised D"
    end
    return opts.swap_ab
  end

  -- Sets the tile; for a swapped problem, the tile of the transpose.
  local function tile_of(p, M, bytes, given, chosen)
    local tile = given or chosen.tile
    if p.swapped then
      tile = given or M <= 16 and { 64, 16, 512 // bytes } or { 64, M <= 32 and 32 or M <= 64 and 64 or 128, 256 // bytes }
    end
    p.m, p.n = whole("tile[1]", tile[1], 64, 512), whole("tile[2]", tile[2], 8, 256 // p.products)
    p.width = p.n * p.products -- columns of accumulators
    p.block_k = whole("tile[3]", tile[3] or (given and 128 or chosen.line) // bytes, p.k_step, 1024)
    p.own_tiles = p.schedule == "pingpong"
    p.consumers = p.own_tiles and 2 or consumers_of(p.m)
    local rows = p.own_tiles and 64 or 64 * p.consumers
    if p.m % rows ~= 0 then fail(("wg.gemm: tile[1] is %d, must be a multiple of %d for %s"):format(p.m, rows, p.schedule)) end
    if p.block_k % p.k_step ~= 0 then fail(("wg.gemm: tile[3] is %d, must be a multiple of %d for %s"):format(p.block_k, p.k_step, p.dtype)) end
    -- Blocks of 64 rows that a consumer holds: its own tile, or its share of a common one.
    p.blocks = p.m // 64 // (p.own_tiles and 1 or p.consumers)
    local most = p.consumers == 3 and 104 or 208
    if p.blocks * p.width // 2 > most then
      fail(("wg.gemm: a tile of %d x %d, %s, takes %d accumulators a thread: at most %d fit"):format(p.m, p.n, p.schedule, p.blocks * p.width // 2, most))
    end
  end

  -- The number of parts of K: the option, or the model's choice where the problem is known.
  local function splits_of(p, opts, M, N, K, bytes, chosen)
    if opts.splits then
      if opts.splits > 1 and p.own_tiles then fail "wg.gemm: `splits` requires the cooperative schedule" end
      return opts.splits
    end
    if not opts.problem or p.own_tiles then return 1 end
    if p.swapped then M, N = N, M end
    if p.sparse then K = K // 2 end
    local cycles = internal.product_cycles(p.m, p.width, K * bytes) / (opts.tile and 1 or chosen.speed)
    if p.swapped then cycles = math.max(cycles, internal.memory_cycles(p.m, p.n, K * bytes)) end
    return (internal.best_splits(p.m, p.n, ceil_div(M, p.m) * ceil_div(N, p.n), cycles, K // p.block_k, p.epilogue))
  end

  -- The number of parts of K for the tiles of the last round: the option, or the model's choice where the problem is known.
  local function last_splits_of(p, opts)
    local possible = p.scaled and not p.groups and p.cluster == 1 and p.splits == 1
    if opts.last_splits then
      local splits = whole("last_splits", opts.last_splits, 1, 64)
      if splits > 1 and not possible then fail "wg.gemm: `last_splits` requires scales for blocks, without `groups` and `cluster`" end
      return splits
    end
    if not opts.problem or not possible then return 1 end
    local M, N, K = table.unpack(opts.problem, 1, 3)
    local cycles = internal.product_cycles(p.m, p.n, K)
    return (internal.best_last_splits(p.m, p.n, ceil_div(M, p.m) * ceil_div(N, p.n), cycles, K // p.block_k, p.epilogue))
  end

  -- Whether CTAs share the blocks of the tiles in the last, partial round.
  local function stream_of(p, opts)
    if opts.stream_k == nil then return false end
    if type(opts.stream_k) ~= "boolean" then fail("wg.gemm: stream_k must be true or false, not " .. tostring(opts.stream_k)) end
    if opts.stream_k and (p.own_tiles or p.cluster > 1 or p.splits > 1) then
      fail "wg.gemm: `stream_k` requires the cooperative schedule, without `cluster` and `splits`"
    end
    return opts.stream_k
  end

  -- A sparse A stores half of its K, and indices of 4 bits for each two elements. Its rounds take two blocks of K, since
  -- the registers with the indices of a block must not change before its product is complete.
  local function sparse_of(p, opts, bytes)
    p.round_k, p.metadata_bytes = p.block_k, 0
    p.sparse = opts.sparse and one_of("sparse", opts.sparse, { "A" })
    if not p.sparse then return end
    if p.a_major ~= "K" then fail "wg.gemm: a sparse A must be K-major" end
    if p.block_k * bytes ~= 128 then fail(("wg.gemm: tile[3] is %d, must be %d for a sparse A"):format(p.block_k, 128 // bytes)) end
    p.round_k = 2 * p.block_k
    p.metadata_words = bytes == 1 and 2 or 1 -- of a thread, for 64 rows of a block of K
    p.metadata_bytes = p.m // 64 * 512 * p.metadata_words
  end

  -- Whether the tiles of the last round are cut in two, so that twice as many CTAs share them.
  local function halves_of(p, opts)
    local possible = not p.own_tiles and p.blocks % 2 == 0 and p.splits == 1 and not p.stream and not p.swapped and not p.scaled and p.cluster_n == 1
      and p.a_major == "K"
    if opts.halves ~= nil and type(opts.halves) ~= "boolean" then fail("wg.gemm: halves must be true or false, not " .. tostring(opts.halves)) end
    if p.groups then return false end -- these are cut in another way
    if opts.halves == nil then
      local tiles = opts.problem and ceil_div(opts.problem[1], p.m) * ceil_div(opts.problem[2], p.n) or 0
      return possible and p.sparse and not p.epilogue.row_sums and internal.gemm_rounds(tiles, true) < internal.gemm_rounds(tiles) or false
    end
    if opts.halves and not possible then
      fail "wg.gemm: `halves` requires the cooperative schedule, a K-major A and 128 rows of a tile for each consumer, without `splits`, `stream_k`, `swap_ab`, a cluster along N and scales for blocks"
    end
    return opts.halves
  end

  -- The rows of the last tile of A and of B, where it is not full: the producer copies boxes of so many rows there, since those of which
  -- many lie outside are slow (docs/performance.md).
  local function edges_of(p, opts, bytes)
    if not opts.problem or p.groups or p.sparse or p.halves or p.block_k * bytes % 128 ~= 0 then return {} end
    local M, N = opts.problem[1], opts.problem[2]
    if p.swapped then M, N = N, M end
    local function edge(extent, tile, major)
      local rows = extent % tile
      return rows > 0 and tile - rows >= 8 and major == "K" and rows or nil
    end
    return { A = p.cluster_n == 1 and edge(M, p.m, p.a_major) or nil, B = p.cluster_m == 1 and p.products == 1 and edge(N, p.n, p.b_major) or nil }
  end

  --- The plan for the options of wg.gemm.
  function internal.gemm_plan(opts)
    options("wg.gemm", opts)
    if opts.b_type ~= nil then return internal.mixed_plan(opts) end
    for _, key in ipairs { "a_type", "zeros", "next", "group_size" } do
      if opts[key] ~= nil then fail(("wg.gemm: `%s` goes with b_type"):format(key)) end
    end
    internal.kinds("wg.gemm", opts, {
      problem = "table", tile = "table", scales = "table", registers = "table", epilogue = "table", name = "string", dtype = "string", d = "string",
    })
    local p = {
      dtype = opts.dtype or "bf16", a_major = opts.a_major or "K", b_major = opts.b_major or "K",
      raster = one_of("raster", opts.raster or "grouped", { "grouped", "hilbert" }), name = opts.name or "gemm",
    }
    p.k_step = internal.k_of_wgmma("wg.gemm", p.dtype)
    local bytes = element_bytes[p.dtype]
    local e = internal.epilogue_options(opts.epilogue or {})
    p.epilogue, p.products = e, e.gate and 2 or 1
    p.d = opts.d or e.quantize and "e4m3" or opts.scales and bytes == 1 and "bf16" or result[p.dtype]
    if not internal.to_output[p.d] then wg.panel { dtype = p.d, n = 128 } end
    p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
    local problem = opts.problem or { 4096, 4096, 4096 }
    for i = 1, 3 do whole(("problem[%d]"):format(i), problem[i], 1, 0x7FFFFFFF) end
    local M, N, K = problem[1], problem[2], problem[3]
    local kind = internal.gemm_kind(opts)
    local may_swap = swap_of(p, opts, kind)
    local splits = opts.splits and whole("splits", opts.splits, 1, 64)
    local cluster_m, cluster_n = internal.cluster_of("wg.gemm", opts.cluster)
    local may_be_few = opts.problem and (kind == "dense" or kind == "scaled") and opts.schedule ~= "pingpong" and cluster_m * cluster_n == 1
      and not (opts.last_splits or opts.groups or opts.stream_k or opts.halves)
    local function few_tiles(tile, swap)
      if not may_be_few then return nil end
      local given = { splits = splits, tile = tile, swap = swap, cluster = opts.cluster, scaled = kind == "scaled", a_major = opts.a_major, b_major = opts.b_major }
      return internal.few_tiles(p, M, N, K, bytes, given)
    end
    if not may_swap then p.swap = false else p.swap = opts.swap_ab end -- nil: whichever is faster
    local few = not opts.tile and few_tiles(nil, p.swap) or nil
    if few then p.swapped = few.swapped else p.swapped = may_swap and (opts.swap_ab or M <= 128) end
    p.scales = scales_of(p, opts.scales)
    local blockwise = p.scales.a_scales == "block"
    if blockwise and opts.sparse then fail "wg.gemm: scales for blocks are of a dense A" end
    p.constant = opts.constant and one_of("constant", opts.constant, { "A", "B" })
    if p.swapped then
      p.a_major, p.b_major = p.b_major, p.a_major
      if p.constant then p.constant = p.constant == "A" and "B" or "A" end
      if e.bias then e.bias = e.bias == "row" and "column" or "row" end
    end
    local schedule = opts.schedule and one_of("schedule", opts.schedule, { "cooperative", "pingpong" })
      or ((few or opts.tile or p.swapped or opts.splits or kind == "sparse" or kind == "scaled") and "cooperative")
    if blockwise and schedule ~= "cooperative" then fail "wg.gemm: scales for blocks require the cooperative schedule" end
    local groups = opts.groups and whole("problem[4]", problem[4] or 1, 1, 0xFFFF) or nil
    local chosen = choose(p, M, N, K, bytes, schedule, kind, groups, opts.halves)
    if not (chosen or opts.tile) then fail(("wg.gemm: no tile is known for schedule = \"%s\" here: give a `tile`"):format(schedule)) end
    p.schedule = schedule or chosen.schedule
    tile_of(p, M, bytes, opts.tile or few and few.tile, chosen)
    if opts.tile then few = few_tiles({ p.m, p.n, p.block_k }, p.swapped) end
    p.cluster_m, p.cluster_n = cluster_m, cluster_n
    if few and not opts.tile then p.cluster_m, p.cluster_n = few.cluster[1], few.cluster[2] end
    p.cluster, p.fillers = p.cluster_m * p.cluster_n, p.cluster_m + p.cluster_n - 1 -- fillers: CTAs that fill a CTA's stages
    sparse_of(p, opts, bytes)
    p.splits = few and few.splits or (blockwise or opts.groups) and (opts.splits or 1) or splits_of(p, opts, M, N, K, bytes, chosen)
    p.stream = stream_of(p, opts)
    internal.plan_groups(p, opts)
    if blockwise then
      if p.stream then fail "wg.gemm: scales for blocks go without `stream_k`" end
      internal.plan_block_scales(p)
    end
    p.halves = halves_of(p, opts)
    p.last_splits = last_splits_of(p, opts)
    p.parts = p.stream and 2 or math.max(p.splits, p.last_splits) -- into which a tile's K is cut, where it is
    -- Not in clusters, whose CTAs must load the same block of the shared operand at the same time.
    p.rotated = p.swapped and M <= 16 and p.splits == 1 and p.cluster == 1 and not p.stream
    p.group = whole("group", opts.group or rows_in_order(p, kind), 1, 0xFFFF)
    -- Operands that are used once and should not stay in the L2 cache: A where a tile has all columns of D, and a D
    -- that would fill more than half of the cache.
    p.once = { A = p.swapped and M <= p.n, D = opts.problem and M * N * element_bytes[p.d] > target.l2 // 2 }
    p.threads = 128 * (1 + p.consumers)
    local function operand(mn, major, k)
      return wg.tile { dtype = p.dtype, mn = mn, k = k or p.block_k, major = major, order = major == "MN" and "K" or "MN" }
    end
    -- What a copy brings is whole rows of a swizzle atom, or of an MN-major operand whole atoms of 128 bytes along M or N.
    for _, part in ipairs { { "cluster", p.cluster_m, p.n, "columns", p.b_major }, { "cluster[2]", p.cluster_n, p.m, "rows", p.a_major } } do
      local name, ctas, extent, what, major = table.unpack(part)
      local unit = major == "MN" and 128 // bytes or 8
      if ctas > 1 and extent % (unit * ctas) ~= 0 then
        local exchanged = p.swapped and (" (rows of %s, which is exchanged with %s)"):format(what == "columns" and "A" or "B", what == "columns" and "B" or "A") or ""
        fail(("wg.gemm: %s is %d, must divide the %d %s of a tile%s into multiples of %d"):format(name, ctas, extent, what, exchanged, unit))
      end
    end
    if p.cluster_n > 1 and (p.groups or p.sparse) then fail "wg.gemm: a cluster along N goes without `groups` and `sparse`" end
    p.a, p.b = operand(p.m, p.a_major, p.sparse and p.block_k // 2), operand(p.width, p.b_major)
    local pieces = p.halves and 2 or p.cluster_n
    p.a_piece = pieces > 1 and operand(p.m // pieces, p.a_major, p.a.k) or p.a -- what one copy brings
    p.exchange = internal.plan_exchange(p)
    if blockwise and p.splits > 1 and not p.exchange then fail "wg.gemm: with scales for blocks `splits` is at most 8, without `groups` and `cluster`, and of a `tile` whose sums fit into shared memory" end
    p.partials = p.parts > 1 and not p.exchange -- whether sums of parts go through global memory
    p.edges = edges_of(p, opts, bytes)
    p.panel = wg.panel { dtype = p.d, n = p.exchange and p.exchange.columns or p.n, transposed = p.swapped }
    internal.check_epilogue(p)
    -- Vectors along columns of D, which the epilogue finds in shared memory.
    p.vectors = (e.bias == "column" and p.products or 0) + (p.scales.a_scales == "column" and p.products or 0) + (p.scales.b_scales == "column" and p.products or 0)
    -- A residual that is loaded while the other consumer multiplies needs room for it.
    local panels = p.own_tiles and (e.beta or e.residual) and 4 or 2
    p.buffers = math.min(whole("buffers", opts.buffers or panels, 1, 8), p.panel.count)
    p.narrow = internal.narrow_tiles(p, opts.halves)
    p.b_piece = operand(p.n // (p.narrow and 2 or p.cluster_m), p.b_major) -- of a product: what one copy brings; in a cluster, the CTA's part of the shared tile
    local fixed = p.consumers * (p.buffers * p.panel.bytes + 4 * p.n * p.vectors + (p.exchange and p.exchange.bytes or 0)) + 1024
    local stage = p.a.bytes + p.b.bytes + p.metadata_bytes + (p.scaled and p.scaled.stride or 0)
    local most = (target.cta_shared - fixed) // stage
    -- At least two: a stage is released while the next one is being multiplied.
    if most < 2 then fail(("wg.gemm: two stages take %d bytes, and %d bytes of shared memory are left"):format(2 * stage, target.cta_shared - fixed)) end
    p.stages = whole("stages", opts.stages or math.min(12, most), 2, most)
    internal.plan_residual(p)
    p.registers = opts.registers
    for i = 1, opts.registers and 2 or 0 do whole(("registers[%d]"):format(i), opts.registers[i], target.least_setmaxnreg, target.most_setmaxnreg) end
    p.registers = p.registers
      or (p.consumers == 1 and { 56, 256 } or p.consumers == 3 and { 32, 160 } or p.blocks * p.width > 256 and { 24, 240 } or { 40, 232 })
    return p
  end
end
