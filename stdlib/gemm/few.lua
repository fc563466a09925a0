-- The plan of wg.gemm for products with few tiles, which would leave SMs without one: smaller tiles, parts of K, which the CTAs of a
-- cluster multiply (reduction/exchange.lua), clusters whose CTAs share copies, and A and B exchanged. A model, whose constants were fitted to 11,700 runs
-- of 364 shapes on an H200 (docs/measurements.md), says how many cycles each choice takes. It counts lines of K: 128 bytes of each row.

return function(wg, internal)
  local ceil_div, consumers_of = internal.ceil_div, internal.gemm_consumers
  local resident, sms = internal.clusters_at_a_time, wg.target.multiprocessors

  -- B is taken for weights, which come from memory, and A for activations, which the launch before has left in the L2 cache.
  local activation_cycles = 1.27 -- of a row of A, from the L2 cache, where all SMs read
  local weight_cycles = 2.2 -- of a row of B for which several CTAs ask, while it is on its way from memory
  local multicast_cycles = 0.65 -- of a row that a copy brings to several CTAs
  local idle_share = 0.31 -- of these times, what is left where the other SMs do not read
  local latency = 1550 -- from the copy of a stage to its arrival
  local product_share = 0.935 -- of the time that the tensor cores should take, since what limits one block hides behind another's limit
  local three_consumers = 1.08 -- how much longer they take where three consumers share a tile
  local epilogue_cycles = 1200 -- for 64 x 256 sums of a consumer
  local exchange_bytes = 19 -- of sums that a CTA receives in a cycle
  local cluster_cycles = 1200 -- until all CTAs of a cluster have begun, and ended
  local memory_share = 0.963 -- of the memory's bandwidth
  local uneven = 0.3 -- how much longer memory takes for each share of the rounds' CTAs that have no tile
  local hidden = 0.64 -- of the shorter of the SMs' and memory's time

  local most_tiles = 110 -- of 128 x 256, up to which a product has few
  local most_rows = 400 -- of A, up to which the model counts whatever there is of B
  -- Tiles with scales for blocks of K, and what share of the tensor cores' speed their main loop reaches.
  local scaled_tiles = { { 64, 64, 0.35 }, { 64, 128, 0.5 }, { 128, 64, 0.5 }, { 128, 128, 0.75 }, { 192, 128, 0.955 }, { 128, 192, 0.87 }, { 128, 256, 0.91 } }
  local columns = { 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 }
  local alone = { 1, 1 }
  local clusters = { [true] = { { 2, 1 }, { 4, 1 }, { 1, 2 }, { 2, 2 }, { 4, 2 } }, [false] = { { 2, 1 }, { 4, 1 }, { 1, 4 }, { 4, 2 }, { 2, 4 } } }

  -- The cycles that each of `active` CTAs takes for one line of K: those of the products, of the copies or of a stage's way, whichever are
  -- most, and a little of the others.
  local function line_cycles(c, active)
    local products = math.max(c.m * c.n / 32 / c.speed, c.m + c.m * c.n / 64) -- the second: wgmma reads A and B from shared memory
    local copies = activation_cycles * c.activations / c.activation_ctas + (c.asked_again and weight_cycles * c.weights / c.weight_ctas or 0)
      + multicast_cycles * ((c.activation_ctas > 1 and c.activations or 0) + (c.weight_ctas > 1 and c.weights or 0))
    copies = copies * (idle_share + (1 - idle_share) * active / sms) * c.problem.l2
    local stage = latency / c.lines / (c.stages - 0.5)
    products, copies, stage = products * products, copies * copies, stage * stage
    return math.sqrt(math.sqrt(products * products + copies * copies + stage * stage))
  end

  -- The cycles of the whole product.
  local function cycles_of(c)
    local problem, ctas = c.problem, math.max(c.splits, c.cluster[1] * c.cluster[2])
    local at_a_time = resident[ctas]
    local units = c.splits > 1 and c.m_tiles * c.n_tiles or ceil_div(c.m_tiles, c.cluster[1]) * ceil_div(c.n_tiles, c.cluster[2])
    local rounds, rest = units // at_a_time, units % at_a_time
    local blocks = c.m // 64 // consumers_of(c.m)
    local behind = (epilogue_cycles * blocks * c.n / 256 + c.m * c.n * problem.operations) / c.owners
      + (c.splits - 1) * c.m * c.n * 4 / c.owners / exchange_bytes
    local part = ceil_div(ceil_div(problem.lines, c.lines), c.splits) * c.lines
    local of_sms = rounds * (part * line_cycles(c, sms) + behind) + (rest > 0 and part * line_cycles(c, rest * ctas) + behind or 0)
    local without_tile = 1 - units / (ceil_div(units, at_a_time) * at_a_time)
    local of_memory = problem.bytes / (memory_share * problem.memory) * (1 + uneven * without_tile)
    return math.max(of_sms, of_memory) + (1 - hidden) * math.min(of_sms, of_memory) + (ctas > 1 and cluster_cycles or 0)
  end

  -- A choice for the problem: a tile of D or of its transpose, the lines of K in a block, the CTAs of a cluster along M and N, the parts
  -- of K. nil where it does not fit.
  local function choice(problem, swapped, m, n, lines, cluster, splits, speed)
    local unit, owners = swapped and 8 or 16, splits
    if n % unit ~= 0 then return nil end
    while n % (owners * unit) ~= 0 do owners = owners - 1 end
    local received = (splits - 1) * m * n * 4 // owners
    local stages = (wg.target.cta_shared - 1024 - received - consumers_of(m) * 2 * 64 * 128) // ((m + n) * lines * 128)
    local blocks = ceil_div(problem.lines, lines)
    if splits > 1 and (blocks < 2 * splits or received > internal.most_received) or stages < 3 then return nil end
    local rows, columns = problem.M, problem.N
    if swapped then rows, columns = columns, rows end
    local m_tiles, n_tiles, along_m, along_n = ceil_div(rows, m), ceil_div(columns, n), cluster[1], cluster[2]
    if m_tiles % along_m ~= 0 or 10 * n_tiles < 9 * ceil_div(n_tiles, along_n) * along_n then return nil end -- CTAs without a tile
    local m_unit, n_unit = problem.m_unit, problem.n_unit -- of rows that a copy brings
    if swapped then m_unit, n_unit = n_unit, m_unit end
    -- Pairs do not pay where more than four CTAs want the same rows of B.
    if (swapped and along_n == 2 and n_tiles or not swapped and along_m == 2 and m_tiles or 0) > 4 then return nil end
    if m // along_n % m_unit ~= 0 or n // along_m % n_unit ~= 0 or m % along_n ~= 0 or n % along_m ~= 0 then return nil end
    -- The rows of A and of B in a tile, in the mean: at an edge, boxes have those that are left. And the CTAs that share a copy of them.
    local activations, weights, activation_ctas, weight_ctas, weight_tiles = rows / m_tiles, columns / n_tiles, along_n, along_m, m_tiles
    if swapped then
      activations, weights, activation_ctas, weight_ctas, weight_tiles = weights, activations, along_m, along_n, n_tiles
    end
    return {
      problem = problem, swapped = swapped, m = m, n = n, lines = lines, cluster = cluster, splits = splits, owners = owners,
      stages = math.min(stages, 12), m_tiles = m_tiles, n_tiles = n_tiles, speed = speed or 1 / (m == 192 and three_consumers * product_share or product_share),
      activations = activations, weights = weights, activation_ctas = activation_ctas, weight_ctas = weight_ctas,
      asked_again = weight_tiles > weight_ctas,
    }
  end

  -- The columns of tiles of D's transpose, whose columns are the M rows of A: as many as up to five tiles need, in eights, and a few
  -- more, of which more CTAs of a cluster can store some.
  local function columns_of(M, integers)
    local list, seen = {}, {}
    for tiles = ceil_div(M, 256), math.max(5, ceil_div(M, 256)) do
      for _, unit in ipairs(integers and M > 32 and { 16, 32 } or { 8, 16, 32 }) do -- wgmma of integers: multiples of 16 (PTX ISA 9.7.15.5)
        local n = ceil_div(M, unit * tiles) * unit
        if n <= 256 and (n >= 40 or tiles == 1) and not seen[n] then
          seen[n], list[#list + 1] = true, n
        end
      end
    end
    return list
  end

  -- Calls visit(swapped, m, n, lines, speed) for each tile that is worth a try.
  local function each_tile(problem, given, visit)
    if given.tile then return visit(given.swap, given.tile[1], given.tile[2], given.tile[3] * problem.element / 128, 1) end
    if given.scaled then
      for _, tile in ipairs(scaled_tiles) do visit(false, tile[1], tile[2], 1, tile[3]) end
      return
    end
    if given.swap ~= true then
      for m = 64, 256, 64 do
        for _, n in ipairs(columns) do
          local fits = n <= (m == 192 and 192 or m == 256 and 176 or 256) -- more leave no registers
          if fits and (m == 64 or problem.M > m - 64) then visit(false, m, n, 1) end
        end
      end
    end
    if given.swap ~= false then
      for _, n in ipairs(columns_of(problem.M, problem.integers)) do
        for _, lines in ipairs(n <= 64 and { 1, 2, 4 } or { 1, 2 }) do
          visit(true, 64, n, lines)
          visit(true, 128, n, lines)
        end
      end
    end
  end

  -- Calls visit(c, cycles) for each choice that is worth a try, and the cycles that it takes; `given` as in internal.few_tiles.
  local function each_choice(p, M, N, K, bytes, given, visit)
    local e, few = p.epilogue, M * N <= most_tiles * 128 * 256 or M <= most_rows and not given.scaled
    if e.gate or e.quantize or e.row_sums or not few or (given.splits or 1) > #resident then return end
    local chip = internal.chip()
    local problem = {
      M = M, N = N, lines = ceil_div(K * bytes, 128), element = bytes, bytes = (M + N) * K * bytes + M * N * internal.element_bytes[p.d],
      integers = p.accumulator == "s32", operations = e.cycles, l2 = chip.l2, memory = chip.memory,
      m_unit = given.a_major == "MN" and 64 or 8, n_unit = given.b_major == "MN" and 64 or 8,
    }
    each_tile(problem, given, function(swapped, m, n, lines, speed)
      if not (e.plain or m * n <= 256 * 192) then return end
      local function consider(cluster, splits)
        local c = choice(problem, swapped, m, n, lines, cluster, splits, speed)
        if c then visit(c, cycles_of(c)) end
      end
      -- Parts of K as long as all CTAs with one are done in two rounds.
      local tiles = swapped and ceil_div(N, m) * ceil_div(M, n) or ceil_div(M, m) * ceil_div(N, n)
      for splits = given.splits or 1, given.splits or math.max(1, math.min(#resident, 2 * sms // tiles)) do consider(alone, splits) end
      local may_share = not (given.tile or given.scaled or given.cluster or e.beta or e.residual) -- C goes through the ring without clusters alone
      if (given.splits or 1) == 1 and may_share then
        for _, cluster in ipairs(clusters[swapped]) do consider(cluster, 1) end
      end
    end)
  end

  local function made(c, bytes)
    return { tile = { c.m, c.n, math.tointeger(c.lines * 128 // bytes) }, splits = c.splits, cluster = c.cluster, swapped = c.swapped }
  end

  --- What a product of M x N x K with few tiles takes: { tile = { m, n, block of K }, splits =, cluster =, swapped = }, where a swapped
  --- product's tile is that of D's transpose. nil where the product has many tiles, or where the epilogue wants whole tiles. `bytes`: of an
  --- element. given: `a_major` and `b_major`; `tile`, `splits`, `cluster` and whether A and B are exchanged, `swap`, where that is chosen
  --- already; and whether the operands have scales for blocks of K, `scaled`.
  function internal.few_tiles(p, M, N, K, bytes, given)
    local best, least
    each_choice(p, M, N, K, bytes, given, function(c, cycles)
      if not least or cycles < least then best, least = c, cycles end
    end)
    return best and made(best, bytes)
  end

  --- The `most` choices that the model finds fastest, the fastest first; otherwise as internal.few_tiles.
  function internal.few_candidates(p, M, N, K, bytes, given, most)
    local list = {}
    each_choice(p, M, N, K, bytes, given, function(c, cycles)
      local one = made(c, bytes)
      one.cycles = cycles
      list[#list + 1] = one
    end)
    table.sort(list, function(a, b) return a.cycles < b.cycles end)
    return { table.unpack(list, 1, math.min(#list, most)) }
  end
end
