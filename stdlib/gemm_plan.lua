-- What wg.gemm decides before the kernel is written: tile, schedule, stages, registers, from the options or, where
-- they leave it open, by a model of the time that the problem takes.

local element_bytes = { f32 = 4, tf32 = 4, s32 = 4, f16 = 2, bf16 = 2, e4m3 = 1, e5m2 = 1, s8 = 1, u8 = 1 }
local wgmma_k = { f16 = 16, bf16 = 16, tf32 = 8, e4m3 = 32, e5m2 = 32, s8 = 32, u8 = 32 }
local result = { f16 = "f16", bf16 = "bf16", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32", u8 = "s32" }
local shared_bytes = 232448

return function(wg, internal)
  local fail, options = internal.fail, internal.options

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

  internal.default_sms = 132 -- of an H200
  function internal.ceil_div(a, b) return (a + b - 1) // b end
  local ceil_div = internal.ceil_div

  -- The candidate that takes the fewest cycles for the problem: waves of tiles, and epilogues where nothing hides
  -- them.
  local function choose(M, N, K, dtype, d)
    local best, least
    for _, c in ipairs(candidates) do
      local m, n = c.tile[1], c.tile[2]
      local waves = ceil_div(ceil_div(M, m) * ceil_div(N, n), internal.default_sms)
      local cycles = 2 * m * n * K * element_bytes[dtype] / 8192 / c.speed
      local total = c.schedule == "pingpong" and waves * math.max(cycles, epilogue_cycles) + epilogue_cycles
        or waves * (cycles + epilogue_cycles)
      local whole_panels = n * element_bytes[d] % 128 == 0
      if whole_panels and (not least or total < least) then best, least = c, total end
    end
    return best
  end

  local keys = { "dtype", "d", "a_major", "b_major", "tile", "stages", "cluster", "group", "name", "registers",
    "buffers", "schedule", "problem", "epilogue" }

  -- What the epilogue does, for the matrix that the accumulators hold: rows and columns change places where D is
  -- written transposed.
  local function epilogue_of(given, swapped)
    options("wg.gemm, epilogue", given, { "alpha", "beta", "bias", "activation" })
    local bias = given.bias
    if bias ~= nil and bias ~= "row" and bias ~= "column" then
      fail(("wg.gemm, epilogue: bias `%s` (legal: row, column)"):format(tostring(bias)))
    end
    if bias and swapped then bias = bias == "row" and "column" or "row" end
    return {
      alpha = given.alpha, beta = given.beta, bias = bias,
      activation = given.activation and internal.activation("wg.gemm, epilogue", given.activation),
    }
  end

  --- The plan for the options of wg.gemm.
  function internal.gemm_plan(opts)
    options("wg.gemm", opts, keys)
    local p = {
      dtype = opts.dtype or "bf16", a_major = opts.a_major or "K", b_major = opts.b_major or "K",
      cluster = opts.cluster or 1, group = opts.group or 8, name = opts.name or "gemm",
    }
    p.k_step = wgmma_k[p.dtype] or fail("wg.gemm: no wgmma multiplies " .. tostring(p.dtype))
    local bytes = element_bytes[p.dtype]
    p.d = opts.d or result[p.dtype]
    if not internal.to_output[p.d] then wg.panel { dtype = p.d, n = 128 } end
    p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
    local M, N, K = table.unpack(opts.problem or { 4096, 4096, 4096 })
    -- Few rows: the roles of A and B change, since wgmma's M is 64 at least, and D is written transposed.
    p.swapped = M <= 128 and element_bytes[p.d] == 2
    local chosen = choose(M, N, K, p.dtype, p.d)
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
    p.panel = wg.panel { dtype = p.d, n = p.n, transposed = p.swapped }
    p.epilogue = epilogue_of(opts.epilogue or {}, p.swapped)
    p.buffers = math.min(opts.buffers or 2, p.panel.count)
    local fixed = p.buffers * p.consumers * p.panel.bytes + 1024
    p.stages = opts.stages or math.min(12, (shared_bytes - fixed) // (p.a.bytes + p.b.bytes))
    p.registers = opts.registers
      or (p.consumers == 1 and { 56, 256 } or p.blocks * p.n > 256 and { 24, 240 } or { 40, 232 })
    return p
  end
end
