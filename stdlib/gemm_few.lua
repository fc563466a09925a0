-- The plan of wg.gemm for products with few tiles, which leave SMs without one: smaller tiles and parts of K, which the CTAs of a
-- cluster multiply (exchange.lua), chosen by a model that was fitted to runs of some 60 shapes on an H200 (docs/measurements.md).

return function(wg, internal)
  local ceil_div = internal.ceil_div

  -- Tiles, and what share of the tensor cores' speed their main loop reaches; with scales for blocks of K.
  local scaled_tiles = { { 64, 64, 0.35 }, { 64, 128, 0.5 }, { 128, 64, 0.5 }, { 128, 128, 0.75 }, { 192, 128, 0.955 }, { 128, 192, 0.87 }, { 128, 256, 0.91 } }
  local tiles = {
    { 64, 128, 0.76 }, { 128, 64, 0.7 }, { 128, 96, 0.85 }, { 128, 128, 0.93 }, { 192, 64, 0.7 }, { 192, 96, 0.87 }, { 256, 64, 0.72 },
    { 128, 160, 0.95 }, { 192, 128, 0.94 }, { 128, 192, 0.98 }, { 256, 128, 0.955 }, { 192, 160, 0.96 }, { 128, 224, 0.98 }, { 192, 192, 0.97 }, { 128, 256, 1 },
  }
  local resident = internal.clusters_at_a_time
  local row_cycles = 1.9 -- of a row of an operand, 128 bytes, on its way to shared memory
  local weight_bytes = 37 -- of an operand that comes from memory, in a cycle of an SM
  local memory_bytes = 2450 -- the same for all SMs
  local exchange_bytes = 11.5 -- of sums that a CTA receives in a cycle
  local epilogue_cycles = 1750 -- for 64 x 256 sums of a consumer
  local most_tiles = 100 -- of 128 x 256, up to which a product has few

  -- The cycles that a product of `count` tiles of m x n takes with K in `splits` parts of `part` elements.
  local function cycles_of(c, count, total_bytes, bytes, e)
    local panels = c.part * bytes / 128
    local products = 2 * c.m * c.n * c.part * bytes / 8192 / c.speed
    local main_loop = math.max(products, row_cycles * panels * (c.m + c.rows), c.streamed * c.part * bytes / weight_bytes)
    local blocks = ceil_div(c.m, 64 * (c.m % 192 == 0 and 3 or 2))
    local store = (epilogue_cycles * blocks * c.n / 256 + c.m * c.n * e.cycles) / c.owners
    local sums = (c.splits - 1) * c.m * c.n * 4 / c.owners / exchange_bytes
    local sms, memory = ceil_div(count, resident[c.splits]) * (main_loop + store + sums), total_bytes / memory_bytes
    if c.splits > 1 and c.stages < 4 then sms = 1.25 * sms end -- too few for what a part of K has to bring
    return math.max(sms, memory) + 0.2 * math.min(sms, memory) -- neither hides the other entirely
  end

  -- The elements of K in a block.
  local function block_of(swapped, n, splits, bytes)
    local line = not swapped and 128 or n <= 16 and 512 or (n <= 64 or splits == 1) and 256 or 128
    return line // bytes
  end

  -- The columns of a tile of the transpose with M columns: a few more than those where as many CTAs as possible can store some of them.
  local function columns_of(M, splits)
    local least = ceil_div(M, 8) * 8
    for owners = splits, 2, -1 do
      local n = ceil_div(M, 8 * owners) * 8 * owners
      if 4 * n <= 5 * least and n <= 128 then return n end
    end
    return least
  end

  --- The tile and the number of parts of K for a product with few tiles: { tile = { m, n, block of K }, splits = }, or nil where there are
  --- many, or where the epilogue wants whole tiles. For a swapped product they are those of the transpose. given: `tile` and `splits`, where
  --- they are chosen already, and whether the operands have scales for blocks of K, `scaled`.
  function internal.few_tiles(p, M, N, K, bytes, given)
    local e = p.epilogue
    if p.cluster > 1 or e.gate or e.quantize or e.row_sums or not (p.swapped or M * N <= most_tiles * 128 * 256) then return nil end
    if (given.splits or 1) > #resident then return nil end
    local best, least
    local function consider(m, n, speed, splits, line)
      local unit, owners = p.swapped and 8 or 16, splits
      if n % unit ~= 0 then return end
      while n % (owners * unit) ~= 0 do owners = owners - 1 end
      local block = line or block_of(p.swapped, n, splits, bytes)
      local received = (splits - 1) * m * n * 4 // owners
      local stages = (wg.target.cta_shared - received - 4 * 64 * 128) // ((m + n) * block * bytes)
      local c = {
        m = m, n = n, speed = speed, splits = splits, owners = owners, part = ceil_div(ceil_div(K, block), splits) * block,
        stages = stages, rows = p.swapped and math.min(n, M) or n, streamed = p.swapped and m or M <= 128 and n or 0,
      }
      local rows, columns = p.swapped and N or M, p.swapped and M or N
      local fits = (splits == 1 or ceil_div(K, block) >= 2 * splits and received <= internal.most_received and stages >= 3)
        and (p.b_major ~= "MN" or n % 64 == 0)
      if not fits then return end
      local total = cycles_of(c, ceil_div(rows, m) * ceil_div(columns, n), (M + N) * K * bytes, bytes, e)
      local clearly = not p.swapped and best and splits > best.splits and 0.97 or 1 -- where few bytes are saved, more parts rarely are faster
      if not least or total < clearly * least then best, least = { tile = { m, n, block }, splits = splits }, total end
    end
    for splits = given.splits or 1, given.splits or #resident do
      if given.tile then
        consider(given.tile[1], given.tile[2], 1, splits, given.tile[3])
      elseif p.swapped then
        local n = columns_of(M, splits)
        consider(64, n, 0.75, splits)
        consider(128, n, 0.75, splits)
      else
        for _, tile in ipairs(given.scaled and scaled_tiles or tiles) do
          if e.plain or tile[1] * tile[2] <= 256 * 192 then consider(tile[1], tile[2], tile[3], splits) end
        end
      end
    end
    return best
  end
end
