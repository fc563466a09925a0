-- wg.gemm: D = A * B by persistent CTAs. A producer warpgroup copies tiles by TMA, one or two consumer warpgroups
-- multiply them by wgmma. k:pipeline is the ring between them, k:each_tile the schedule, k:epilogue the way out.

local element_bytes = { f32 = 4, tf32 = 4, s32 = 4, f16 = 2, bf16 = 2, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local wgmma_k = { f16 = 16, bf16 = 16, tf32 = 8, e4m3 = 32, e5m2 = 32, s8 = 32, u8 = 32 }
local result = { f16 = "f16", bf16 = "bf16", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32", u8 = "s32" }
local shared_bytes = 232448
local sms = 132 -- of an H200, where no device says otherwise

return function(wg, internal)
  local fail, options = internal.fail, internal.options

  -- --- the plan: what is decided before the kernel is written ------------------------------------------------

  -- Tiles, and what share of the tensor cores' speed their main loop reaches: fitted to the runs of
  -- docs/performance.md, so that the plan ranks the tiles as the chip did.
  local candidates = {
    { tile = { 128, 256 }, schedule = "cooperative", speed = 1 },
    { tile = { 128, 192 }, schedule = "pingpong", speed = 0.94 },
    { tile = { 128, 128 }, schedule = "pingpong", speed = 0.92 },
    { tile = { 64, 256 }, schedule = "pingpong", speed = 0.90 },
    { tile = { 64, 128 }, schedule = "cooperative", speed = 0.80 },
  }
  local epilogue_cycles = 3500 -- with draining and filling the pipeline; fitted likewise

  local function ceil_div(a, b) return (a + b - 1) // b end

  -- The candidate that takes the fewest cycles for the problem: waves of tiles, and epilogues where nothing hides
  -- them.
  local function choose(M, N, K, dtype)
    local best, least
    for _, c in ipairs(candidates) do
      local m, n = c.tile[1], c.tile[2]
      local waves = ceil_div(ceil_div(M, m) * ceil_div(N, n), sms)
      local cycles = 2 * m * n * K * element_bytes[dtype] / 8192 / c.speed
      local total = c.schedule == "pingpong" and waves * math.max(cycles, epilogue_cycles) + epilogue_cycles
        or waves * (cycles + epilogue_cycles)
      if not least or total < least then best, least = c, total end
    end
    return best
  end

  local keys = { "dtype", "d", "a_major", "b_major", "tile", "stages", "cluster", "group", "name", "registers",
    "buffers", "schedule", "problem", "scale" }

  local function plan(opts)
    options("wg.gemm", opts, keys)
    local p = {
      dtype = opts.dtype or "bf16", a_major = opts.a_major or "K", b_major = opts.b_major or "K",
      cluster = opts.cluster or 1, group = opts.group or 8, name = opts.name or "gemm", scale = opts.scale,
    }
    local bytes = element_bytes[p.dtype]
    if not wgmma_k[p.dtype] then fail("wg.gemm: no wgmma multiplies " .. tostring(p.dtype)) end
    p.d = opts.d or result[p.dtype]
    p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
    local M, N, K = table.unpack(opts.problem or { 4096, 4096, 4096 })
    -- Few rows: the roles of A and B change, since wgmma's M is 64 at least, and D is written transposed.
    p.swapped = M <= 128 and element_bytes[p.d] == 2
    local chosen = choose(M, N, K, p.dtype)
    local tile = opts.tile or chosen.tile
    if p.swapped then
      p.a_major, p.b_major = p.b_major, p.a_major
      tile = opts.tile
        or M <= 16 and { 64, 16, 512 // bytes }
        or { 64, M <= 32 and 32 or M <= 64 and 64 or 128, 256 // bytes }
    end
    p.m, p.n, p.block_k = tile[1], tile[2], tile[3] or 128 // bytes
    p.schedule = opts.schedule or ((opts.tile or p.swapped) and "cooperative") or chosen.schedule
    if p.schedule ~= "cooperative" and p.schedule ~= "pingpong" then
      fail(("wg.gemm: schedule `%s` (legal: cooperative, pingpong)"):format(tostring(p.schedule)))
    end
    p.own_tiles = p.schedule == "pingpong"
    p.rotated = p.swapped and M <= 16
    p.consumers = p.own_tiles and 2 or math.min(p.m // 64, 2)
    -- Blocks of 64 rows that a consumer holds: of a tile of its own, or of its share of a common one.
    p.blocks = p.m // 64 // (p.own_tiles and 1 or p.consumers)
    p.threads = 128 * (1 + p.consumers)
    local function operand(mn, major)
      return wg.tile { dtype = p.dtype, mn = mn, k = p.block_k, major = major, order = major == "MN" and "K" or "MN" }
    end
    p.a, p.b = operand(p.m, p.a_major), operand(p.n, p.b_major)
    p.b_piece = operand(p.n // p.cluster, p.b_major) -- what one CTA loads of the tile that the cluster shares
    p.panel = internal.panel(p.d, p.n, p.swapped)
    p.buffers = math.min(opts.buffers or 2, p.panel.count)
    local fixed = p.buffers * p.consumers * p.panel.bytes + 1024
    p.stages = opts.stages or math.min(12, (shared_bytes - fixed) // (p.a.bytes + p.b.bytes))
    p.registers = opts.registers
      or (p.consumers == 1 and { 56, 256 } or p.blocks * p.n > 256 and { 24, 240 } or { 40, 232 })
    return p
  end

  -- --- the roles ----------------------------------------------------------------------------------------------

  -- Copies `tile` of an operand into its place in a stage: a TMA box for each of its panels. `whole` is the
  -- layout of the stage, of which the tile may be a piece.
  local function load_boxes(k, map, tile, whole, to, mn, first_k, barrier, mask)
    local options_of = { mask = mask }
    for _, panel in ipairs(tile.tma_box.panels) do
      local offset = whole:offset(panel.mn, panel.k)
      local row = panel.mn == 0 and mn or mn + panel.mn
      local column = panel.k == 0 and first_k or first_k + panel.k
      local place = tile.major == "K" and { column, row } or { row, column }
      k:cp_async_bulk_tensor_2d(offset == 0 and to or to + offset, map, place, barrier, options_of)
    end
  end

  local function tiles_of(p, sizes, more)
    local out = { m = p.m, n = p.n, rows = sizes.M, columns = sizes.N, cluster = p.cluster, group = p.group }
    for key, value in pairs(more or {}) do out[key] = value end
    return out
  end

  local function produce(k, p, ring, maps, stages, sizes)
    local cursor = ring:cursor()
    local a, b, share, mask = k:address(stages.a), k:address(stages.b), nil, nil
    if p.cluster > 1 then
      local rank = k:special "cluster_ctarank"
      b, share, mask = b + rank * p.b:offset(p.b_piece.mn, 0), rank * p.b_piece.mn, (1 << p.cluster) - 1
    end
    -- Where a problem is bound by memory, CTAs that all read the same columns of K at a time crowd the same channels:
    -- each begins a block further on than its neighbour, and goes round.
    local from, whole_k
    if p.rotated then
      whole_k = k:div(sizes.K + (p.block_k - 1), p.block_k) * p.block_k
      from = k:rem(k:special "ctaid.x" * p.block_k, whole_k)
    end
    k:each_tile(tiles_of(p, sizes), function(place)
      local row, column = place()
      if share then column = column + share end
      k:loop({ from = 0, to = sizes.K, step = p.block_k }, function(first_k)
        if from then
          first_k = first_k + from
          k:sub(first_k, first_k, whole_k, { guard = first_k:ge(whole_k) })
        end
        ring:acquire(cursor)
        local barrier = ring:expect(cursor, p.a.bytes + p.b.bytes)
        load_boxes(k, maps.A, p.a, p.a, a + cursor.stage * p.a.bytes, row, first_k, barrier)
        load_boxes(k, maps.B, p.b_piece, p.b, b + cursor.stage * p.b.bytes, column, first_k, barrier, mask)
        ring:advance(cursor)
      end)
    end)
  end

  -- The descriptors of one stage: only the start address differs from those of the first.
  local function descriptors(k, tile, base, stage)
    local first = k:mad_wide_u32(stage, tile.bytes >> 4, base)
    return function(step, row)
      local ahead = tile:descriptor(0, step, row or 0) - tile:descriptor(0, 0)
      return ahead == 0 and first or k:add(first, ahead)
    end
  end

  -- acc[i] += (rows of block i) * B for one stage: a commit group.
  local function multiply(k, p, acc, a, b, first)
    local form = { n = p.n, k = wgmma_k[p.dtype], d = p.accumulator, a = p.dtype, b = p.dtype }
    if element_bytes[p.dtype] == 2 then
      form.trans_a, form.trans_b = p.a_major == "MN" and 1 or 0, p.b_major == "MN" and 1 or 0
    end
    for step = 0, p.block_k // form.k - 1 do
      form.scale_d = step == 0 and first or 1
      local b_step = b(step)
      for block = 1, p.blocks do k:wgmma_mma_async(acc[block], a(step, 64 * (block - 1)), b_step, form) end
    end
    k:wgmma_commit_group()
  end

  -- Consumers with tiles of their own take turns: one multiplies while the other stores. It also keeps a consumer
  -- from waiting for a phase that is not the next one to complete: a parity cannot tell the two apart.
  local function turns_of(k, p, stages, mine)
    if not p.own_tiles then return { take = function() end, pass = function() end } end
    local own, other = k:address(stages.turns, mine << 3), k:address(stages.turns, (mine ~ 1) << 3)
    local phase = mine ~ 1 -- the first consumer begins
    local first_lane = (k:special "tid.x" & 31):eq(0)
    return {
      take = function()
        k:mbarrier_wait(own, phase)
        k:xor(phase, phase, 1)
      end,
      pass = function() k:mbarrier_arrive(other, { guard = first_lane }) end,
    }
  end

  local function consume(k, p, ring, maps, stages, sizes)
    local thread = k:special "tid.x"
    local mine, lane = (thread >> 7) - 1, thread & 31
    local shared_tile = not p.own_tiles and p.consumers > 1
    local a_share = shared_tile and mine * ((p.a:descriptor(0, 0, 64 * p.blocks) - p.a:descriptor(0)) << 4) or nil
    local a0, b0 = k:descriptor(stages.a, { offset = a_share }), k:descriptor(stages.b)
    local store, finish = k:epilogue {
      panel = p.panel, map = maps.D, buffer = stages.d, offset = mine * (p.buffers * p.panel.bytes),
      buffers = p.buffers, barrier = mine + 1, scale = sizes.scale,
    }
    local acc = {}
    for block = 1, p.blocks do acc[block] = k:regs(p.accumulator, p.n // 2) end
    local cursor, previous = ring:cursor(), { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    local turns = turns_of(k, p, stages, mine)
    local others = p.own_tiles and k:div(sizes.K + (p.block_k - 1), p.block_k) -- k-blocks of the other's tile
    if others then k:if_(mine:ne(0), function() ring:skip(cursor, others) end) end

    k:each_tile(tiles_of(p, sizes, p.own_tiles and { first = mine, every = 2 }), function(place)
      turns.take()
      k:loop({ from = 0, to = sizes.K, step = p.block_k }, function(first_k)
        ring:wait(cursor)
        k:wgmma_fence()
        local later = first_k:gt(0)
        multiply(k, p, acc, descriptors(k, p.a, a0, cursor.stage), descriptors(k, p.b, b0, cursor.stage), later)
        k:wgmma_wait_group(1) -- the block before is done: its stage is free
        ring:release(previous, { lane = lane, cluster = p.cluster, guard = later })
        k:mov(previous.stage, cursor.stage)
        ring:advance(cursor)
      end)
      turns.pass()
      local row, column = place() -- while the last block is multiplied
      if shared_tile then row = row + mine * (64 * p.blocks) end
      k:wgmma_wait_group(0)
      ring:release(previous, { lane = lane, cluster = p.cluster })
      if others then ring:skip(cursor, others) end
      for block = 1, p.blocks do store(acc[block], block == 1 and row or row + 64 * (block - 1), column) end
    end)
    finish()
  end

  -- --- the kernel ---------------------------------------------------------------------------------------------

  local function build(p)
    return wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster } }, function(k)
      local maps = {
        A = k:tensor_map("A", { tile = p.a, constant = true }),
        B = k:tensor_map("B", { tile = p.b_piece, constant = true }),
        D = k:tensor_map("D", p.panel.box),
      }
      local sizes = { M = k:param("M", "u32"), N = k:param("N", "u32"), K = k:param("K", "u32") }
      if p.scale then sizes.scale = k:param("scale", "f32") end
      local stages = {
        a = k:shared { tile = p.a, count = p.stages, name = "A" },
        b = k:shared { tile = p.b, count = p.stages, name = "B" },
        d = k:shared { bytes = p.buffers * p.consumers * p.panel.bytes, align = 1024, name = "D" },
        turns = p.own_tiles and k:shared { bytes = 16, align = 8, name = "turns" } or nil,
      }
      -- Every warp that reads a stage releases it, in each CTA that fills it.
      local readers = 4 * (p.own_tiles and 1 or p.consumers)
      local ring = k:pipeline { stages = p.stages, arrivals = readers * p.cluster }
      local function sync_all()
        if p.cluster == 1 then return k:bar_sync(0) end
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end

      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function()
        for _, map in pairs(maps) do k:prefetch_tensormap(map) end
        if stages.turns then
          for c = 0, 1 do k:mbarrier_init(k:address(stages.turns, 8 * c), 4) end
        end
        ring:init()
      end)
      -- The next grid of the stream may begin now, as this one may have: its prologue ran beside the end of the grid
      -- before, whose memory is waited for here.
      k:griddepcontrol_launch_dependents()
      k:griddepcontrol_wait()
      sync_all()
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        k:if_(thread:eq(0), function() produce(k, p, ring, maps, stages, sizes) end)
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        consume(k, p, ring, maps, stages, sizes)
      end)
      -- A CTA must not end while others of its cluster may still write to it or arrive at its barriers.
      if p.cluster > 1 then sync_all() end
    end)
  end

  local gemm = {}
  gemm.__index = gemm

  --- A kernel for D = A * B. A is M x K, B is K x N, D is M x N; a K-major operand has rows of K elements in memory,
  --- an MN-major one rows of M or N (16-bit types only).
  --- opts: dtype ("bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"), d (of D: bf16 or f16, f32, s32), a_major, b_major
  ---       ("K" or "MN"), problem ({ M, N, K }: picks the rest for it), tile ({ m, n, k }), schedule ("cooperative":
  ---       two consumers share a tile; "pingpong": each has its own), stages, cluster (CTAs that share B), group
  ---       (rows of tiles in flight together), buffers (panels of a consumer's epilogue), registers ({ producer,
  ---       consumer }), scale (true: D = scale * A * B, a number given at launch), name.
  function wg.gemm(opts)
    local p = plan(opts or {})
    return setmetatable({ plan = p, kernel = build(p) }, gemm)
  end

  -- Extents of D = A * B, or an error that names what does not fit.
  local function extents(p, A, B, D)
    local function matrix(name, tensor)
      local good, shape = pcall(function() return tensor.shape end)
      if not good or type(shape) ~= "table" or #shape ~= 2 then fail(("gemm: %s must be a matrix"):format(name)) end
      return shape[1], shape[2]
    end
    -- The majors of the problem as given: a swapped plan has them the other way round.
    local a_major, b_major = p.a_major, p.b_major
    if p.swapped then a_major, b_major = b_major, a_major end
    local m, k = matrix("A", A)
    if a_major == "MN" then m, k = k, m end
    local n, k_of_b = matrix("B", B)
    if b_major == "MN" then n, k_of_b = k_of_b, n end
    local rows, columns = matrix("D", D)
    if k ~= k_of_b then fail(("gemm: K is %d in A and %d in B"):format(k, k_of_b)) end
    if rows ~= m or columns ~= n then fail(("gemm: D is %d x %d, A * B is %d x %d"):format(rows, columns, m, n)) end
    return m, n, k
  end

  --- The options of a launch for kernel:run and kernel:time. Raises where the extents do not fit each other.
  function gemm:launch(A, B, D, scale)
    local p = self.plan
    local M, N, K = extents(p, A, B, D)
    if p.swapped then A, B, M, N = B, A, N, M end
    local device = wg.device()
    local tiles = ceil_div(M, p.m * p.cluster) * ceil_div(N, p.n)
    local clusters = math.min(tiles, (device and device.sm_count or sms) // p.cluster)
    return { grid = { clusters * p.cluster }, args = { A, B, D, M, N, K, p.scale and (scale or 1) }, flops = 2.0 * M * N * K }
  end

  -- A launch with options of kernel:run or kernel:time on top.
  local function with(launch, more)
    for key, value in pairs(more or {}) do if key ~= "scale" then launch[key] = value end end
    return launch
  end

  --- Runs it. `run`: options of kernel:run, and `scale`.
  function gemm:run(A, B, D, run)
    local launch = with(self:launch(A, B, D, run and run.scale), run)
    launch.flops = nil
    return self.kernel:run(launch)
  end

  --- Makes a launch ready for many starts (kernel:prepare). `run`: as for gemm:run.
  function gemm:prepare(A, B, D, run)
    local launch = with(self:launch(A, B, D, run and run.scale), run)
    launch.flops = nil
    return self.kernel:prepare(launch)
  end

  --- Times it. `time`: options of kernel:time, and `scale`.
  function gemm:time(A, B, D, time)
    return self.kernel:time(with(self:launch(A, B, D, time and time.scale), time))
  end
end
