-- wg.gemm: D = A * B by persistent CTAs. One producer warpgroup copies tiles by TMA, two consumer warpgroups
-- multiply them by wgmma, and CTAs of a cluster share what they load. Written to be read: k:pipeline is the ring
-- between the two, the schedule is a function, the epilogue another.

local element_bytes = { f32 = 4, tf32 = 4, s32 = 4, f16 = 2, bf16 = 2, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local wgmma_k = { f16 = 16, bf16 = 16, tf32 = 8, e4m3 = 32, e5m2 = 32, s8 = 32, u8 = 32 }
local line_bytes = 128 -- of the 128-byte swizzle: a panel of every tile is that wide

return function(wg, internal)
  local fail, options = internal.fail, internal.options

  -- --- the plan: what is decided before the kernel is written ------------------------------------------------

  local keys = { "dtype", "d", "a_major", "b_major", "tile", "stages", "cluster", "group", "name", "registers" }

  local function plan(opts)
    options("wg.gemm", opts, keys)
    local p = {
      dtype = opts.dtype or "bf16", a_major = opts.a_major or "K", b_major = opts.b_major or "K",
      stages = opts.stages, cluster = opts.cluster or 2, group = opts.group or 8, name = opts.name or "gemm",
    }
    p.d = opts.d or (p.dtype == "f16" and "f16" or "bf16")
    local bytes = element_bytes[p.dtype] or fail("wg.gemm: no wgmma multiplies " .. tostring(p.dtype))
    local tile = opts.tile or { 128, 256, line_bytes // bytes }
    p.m, p.n, p.block_k = tile[1], tile[2], tile[3]
    p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
    p.consumers = p.m // 64
    p.threads = 128 * (1 + p.consumers)
    -- A piece is what one CTA loads of a tile that the cluster shares.
    local function operand(mn, major)
      return wg.tile { dtype = p.dtype, mn = mn, k = p.block_k, major = major, swizzle = "128B",
        order = major == "MN" and "K" or "MN" }
    end
    p.a, p.b = operand(p.m, p.a_major), operand(p.n, p.b_major)
    p.b_piece = operand(p.n // p.cluster, p.b_major)
    -- The epilogue stores panels of 64 rows, as wide as a swizzled line, through two buffers a consumer.
    p.d_columns = line_bytes // element_bytes[p.d]
    p.panel = wg.tile { dtype = p.d, mn = 64, k = p.d_columns, major = "K", swizzle = "128B" }
    local fixed = 2 * p.consumers * p.panel.bytes + 1024
    p.stages = p.stages or math.min(8, (232448 - fixed) // (p.a.bytes + p.b.bytes))
    p.registers = opts.registers or (p.consumers == 1 and { 56, 256 } or p.consumers == 2 and { 40, 232 } or { 32, 160 })
    return p
  end

  -- --- the schedule: which tile comes when --------------------------------------------------------------------

  -- Persistent: cluster c takes the tiles c, c + clusters, ... Tiles follow each other down `group` rows of tiles,
  -- then to the next column, so that those in flight at a time share rows of A and columns of B in the L2 cache.
  local function each_tile(k, p, sizes, body)
    local rows = k:div(sizes.M + (p.m * p.cluster - 1), p.m * p.cluster)
    local columns = k:div(sizes.N + (p.n - 1), p.n)
    local clusters = k:div(k:special "nctaid.x", p.cluster)
    local rank = k:rem(k:special "ctaid.x", p.cluster)
    k:loop({ from = k:div(k:special "ctaid.x", p.cluster), to = rows * columns, step = clusters }, function(tile)
      local in_group = columns * p.group
      local group = k:div(tile, in_group)
      local first = group * p.group
      local height = k:min(rows - first, p.group)
      local inside = tile - group * in_group
      local column = k:div(inside, height)
      local row = first + (inside - column * height)
      body((row * p.cluster + rank) * p.m, column * p.n)
    end)
  end

  -- --- the roles ----------------------------------------------------------------------------------------------

  -- Copies one operand's block into a stage: a TMA box for each panel of the tile.
  local function load_boxes(k, map, tile, to, mn, first_k, barrier, mask)
    for _, panel in ipairs(tile.tma_box.panels) do
      local row = panel.mn == 0 and mn or mn + panel.mn
      local column = panel.k == 0 and first_k or first_k + panel.k
      local place = tile.major == "K" and { column, row } or { row, column }
      k:cp_async_bulk_tensor_2d(panel.offset == 0 and to or to + panel.offset, map, place, barrier, { mask = mask })
    end
  end

  local function producer(k, p, ring, maps, stages, sizes)
    local rank = k:rem(k:special "ctaid.x", p.cluster)
    local cursor = ring:cursor()
    local a, b = k:address(stages.a), k:address(stages.b, rank * p.b_piece.bytes)
    local share = rank * p.b_piece.mn
    local mask = p.cluster > 1 and (1 << p.cluster) - 1 or nil
    each_tile(k, p, sizes, function(row, column)
      k:loop({ from = 0, to = sizes.K, step = p.block_k }, function(first_k)
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, p.a.bytes + p.b.bytes)
        load_boxes(k, maps.A, p.a, a + cursor.stage * p.a.bytes, row, first_k, barrier)
        load_boxes(k, maps.B, p.b_piece, b + cursor.stage * p.b.bytes, column + share, first_k, barrier, mask)
        ring:advance(cursor)
      end)
    end)
  end

  -- The descriptors of one stage, without arithmetic on every field: only the start address changes.
  local function descriptors(k, tile, base, stage)
    local first = k:mad_wide_u32(stage, tile.bytes >> 4, base)
    return function(step)
      local ahead = tile:descriptor(0, step) - tile:descriptor(0, 0)
      return ahead == 0 and first or k:add(first, ahead)
    end
  end

  local function multiply(k, p, acc, a, b, first)
    local form = { n = p.n, k = wgmma_k[p.dtype], d = p.accumulator, a = p.dtype, b = p.dtype }
    if element_bytes[p.dtype] == 2 then
      form.trans_a, form.trans_b = p.a_major == "MN" and 1 or 0, p.b_major == "MN" and 1 or 0
    end
    for step = 0, p.block_k // form.k - 1 do
      form.scale_d = step == 0 and first or 1
      k:wgmma_mma_async(acc, a(step), b(step), form)
    end
    k:wgmma_commit_group()
  end

  local function consumer(k, p, ring, maps, stages, sizes)
    local thread = k:special "tid.x"
    local mine = (thread >> 7) - 1 -- which consumer
    local lane = thread & 31
    local half = mine * ((p.a:descriptor(0, 0, 64) - p.a:descriptor(0)) << 4)
    local a0 = k:descriptor(stages.a, { offset = half })
    local b0 = k:descriptor(stages.b)
    local acc = k:regs(p.accumulator, p.n // 2)
    local cursor = ring:cursor()
    local previous = { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    -- Each warp releases the stage in every CTA of the cluster.
    local function release(guard)
      if p.cluster == 1 then return ring:release(previous, { guard = guard and guard & lane:eq(0) or lane:eq(0) }) end
      local arrives = lane:lt(p.cluster)
      ring:release(previous, { guard = guard and guard & arrives or arrives, rank = lane })
    end

    each_tile(k, p, sizes, function(row, column)
      k:loop({ from = 0, to = sizes.K, step = p.block_k }, function(first_k)
        ring:wait(cursor)
        k:wgmma_fence()
        local later = first_k:gt(0)
        multiply(k, p, acc, descriptors(k, p.a, a0, cursor.stage), descriptors(k, p.b, b0, cursor.stage), later)
        k:wgmma_wait_group(1) -- the block before is done: its stage is free
        release(later)
        k:mov(previous.stage, cursor.stage)
        ring:advance(cursor)
      end)
      k:wgmma_wait_group(0)
      release()
      p.epilogue(k, p, acc, maps.D, stages.d, row + (mine << 6), column, mine)
    end)
    k:cp_async_bulk_wait_group(0)
  end

  -- --- the epilogue: accumulators to bf16 or f16, through shared memory, by TMA -------------------------------

  local function store_converted(k, p, acc, map, buffer, row, column, mine)
    local thread = k:special "tid.x" & 127
    local lane, warp = thread & 31, thread >> 5
    local leader = thread:eq(0)
    local base = k:address(buffer, mine * (2 * p.panel.bytes))
    -- Rows of a panel are 128 bytes; unit u of row r lies at u ~ (r & 7), and r & 7 is lane >> 2 here.
    local line = ((warp << 4) + (lane >> 2)) * line_bytes + ((lane & 3) << 2)
    local units = {}
    for u = 0, 7 do units[u] = base + line + (((lane >> 2) ~ u) << 4) end
    local function sync() k:bar_sync(mine + 1, { threads = 128 }) end
    for panel = 0, p.n // p.d_columns - 1 do
      local to = panel % 2 * p.panel.bytes
      k:cp_async_bulk_wait_group(1, { read = true, guard = leader })
      sync()
      for u = 0, 7 do
        for h = 0, 1 do
          local r = 4 * (8 * panel + u) + 2 * h
          local pair = k["cvt_rn_" .. p.d .. "x2_f32"](k, acc[r + 1], acc[r])
          k:st_shared_b32(units[u], pair, { offset = to + 8 * line_bytes * h })
        end
      end
      k:fence_proxy_async { space = "shared::cta" }
      sync()
      k:if_(leader, function()
        k:cp_async_bulk_tensor_store_2d(map, { column + panel * p.d_columns, row }, to == 0 and base or base + to)
        k:cp_async_bulk_commit_group()
      end)
    end
  end

  -- --- the kernel ---------------------------------------------------------------------------------------------

  local function build(p)
    p.epilogue = store_converted
    return wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster } }, function(k)
      local maps = {
        A = k:tensor_map("A", { tile = p.a, constant = true }),
        B = k:tensor_map("B", { tile = p.b_piece, constant = true }),
        D = k:tensor_map("D", p.panel),
      }
      local sizes = { M = k:param("M", "u32"), N = k:param("N", "u32"), K = k:param("K", "u32") }
      local stages = {
        a = k:shared { tile = p.a, count = p.stages, name = "A" },
        b = k:shared { tile = p.b, count = p.stages, name = "B" },
        d = k:shared { tile = p.panel, count = 2 * p.consumers, name = "D" },
      }
      local ring = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers * p.cluster }
      local function sync_all()
        if p.cluster == 1 then return k:bar_sync(0) end
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end

      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function() ring:init() end)
      sync_all()
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        k:if_(thread:eq(0), function() producer(k, p, ring, maps, stages, sizes) end)
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        consumer(k, p, ring, maps, stages, sizes)
      end)
      -- A CTA must not end while others of its cluster may still write to it or arrive at its barriers.
      if p.cluster > 1 then sync_all() end
    end)
  end

  local gemm = {}
  gemm.__index = gemm

  --- A kernel for D = A * B. opts: dtype ("bf16", "f16", ...), d (of the result), a_major, b_major ("K" or "MN"),
  --- tile ({ m, n, k }), stages, cluster (CTAs that share B), group (rows of tiles that are worked on together).
  --- A is M x K, B is K x N; a K-major operand has rows of K elements in memory, an MN-major one rows of M or N.
  function wg.gemm(opts)
    local p = plan(opts or {})
    return setmetatable({ plan = p, kernel = build(p) }, gemm)
  end

  --- The options of a launch for kernel:run and kernel:time.
  function gemm:launch(A, B, D)
    local M, N = D.shape[1], D.shape[2]
    local K = self.plan.a_major == "K" and A.shape[2] or A.shape[1]
    local device = wg.device()
    local p = self.plan
    local tiles = ((M + p.m * p.cluster - 1) // (p.m * p.cluster)) * ((N + p.n - 1) // p.n)
    local clusters = math.min(tiles, ((device and device.sm_count or 132) // p.cluster))
    return { grid = { clusters * p.cluster }, args = { A, B, D, M, N, K }, flops = 2.0 * M * N * K }
  end

  function gemm:run(A, B, D, run)
    local launch = self:launch(A, B, D)
    for key, value in pairs(run or {}) do launch[key] = value end
    launch.flops = nil
    return self.kernel:run(launch)
  end

  function gemm:time(A, B, D, time)
    local launch = self:launch(A, B, D)
    for key, value in pairs(time or {}) do launch[key] = value end
    return self.kernel:time(launch)
  end
end
