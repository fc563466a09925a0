-- Memory-order mistakes that every assembler lets through: what the checker says of each, and what the chip makes of it.
--   wgrun tests/gpu/hazards.lua
-- Without a GPU the simulator runs each kernel under several schedules, and names the hazard that it meets.
local wg = require "wgrun"

local rows, cols, depth = 64, 128, 64
local a_tile = wg.tile { dtype = "bf16", mn = rows, k = depth, major = "K", swizzle = "128B" }
local b_tile = wg.tile { dtype = "bf16", mn = cols, k = depth, major = "K", swizzle = "128B" }
local form = { n = cols, k = 16, d = "f32", a = "bf16", b = "bf16" }
local on_chip = wg.backend ~= "sim"
local rounds, ctas = on_chip and 64 or 3, on_chip and 264 or 1

-- acc += A * B of one block.
local function multiply(k, acc, a, b, first)
  for step = 0, depth // 16 - 1 do
    form.scale_d = step == 0 and first or 1
    k:wgmma_mma_async(acc, k:descriptor(a, { kstep = step }), k:descriptor(b, { kstep = step }), form)
  end
  k:wgmma_commit_group()
end

local function copy(k, to, from, lines, column, ld)
  k:copy_tile { to = to, from = from, ld = ld, line = 0, along = column, lines = lines, length = rounds * depth, vector = true }
end

-- Stores and wgmma in turns: block after block of K goes through one pair of tiles, D = A * B is summed up.
local function by_stores(left_out)
  return function(k)
    local A, B, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
    local a, b = k:shared(a_tile, "a"), k:shared(b_tile, "b")
    local acc = k:regs("f32", cols // 2)
    k:loop({ from = 0, to = rounds * depth, step = depth }, function(column)
      copy(k, a, A, rows, column, rounds * depth)
      copy(k, b, B, cols, column, rounds * depth)
      if left_out ~= "fence" then k:fence_proxy_async { space = "shared::cta" } end
      k:bar_sync(0)
      k:wgmma_fence()
      multiply(k, acc, a, b, column:gt(0))
      if left_out ~= "wait" then k:wgmma_wait_group(0) end
      k:bar_sync(0)
    end)
    k:wgmma_wait_group(0)
    k:store_accumulator(acc, { to = D, ld = cols, row = k:special "ctaid.x" * rows, col = 0, rows = ctas * rows,
      cols = cols, vector = true })
  end
end

-- The same by TMA through a ring of two stages.
local function by_copies(left_out)
  return function(k)
    local A = k:tensor_map("A", { tile = a_tile, constant = true })
    local B = k:tensor_map("B", { tile = b_tile, constant = true })
    local D = k:param("D", "f32*")
    local a, b = k:shared { tile = a_tile, count = 2, name = "a" }, k:shared { tile = b_tile, count = 2, name = "b" }
    local ring = k:pipeline { stages = 2, arrivals = 4 }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function() ring:init() end)
    k:bar_sync(0)
    k:if_((thread >> 7):eq(1), function()
      k:if_(thread:eq(128), function()
        local cursor, zero = ring:cursor(), k:reg "u32"
        k:mov(zero, 0)
        k:loop({ from = 0, to = rounds * depth, step = depth }, function(column)
          if left_out ~= "acquire" then ring:acquire(cursor) end
          local barrier = ring:expect(cursor, a_tile.bytes + b_tile.bytes)
          k:cp_async_bulk_tensor_2d(k:address(a) + cursor.stage * a_tile.bytes, A, { column, zero }, barrier)
          k:cp_async_bulk_tensor_2d(k:address(b) + cursor.stage * b_tile.bytes, B, { column, zero }, barrier)
          ring:advance(cursor)
        end)
      end)
    end, function()
      local cursor, acc = ring:cursor(), k:regs("f32", cols // 2)
      local a0, b0 = k:descriptor(a), k:descriptor(b)
      k:loop({ from = 0, to = rounds * depth, step = depth }, function(column)
        if left_out ~= "wait for the copy" then ring:wait(cursor) end
        k:wgmma_fence()
        for step = 0, depth // 16 - 1 do
          form.scale_d = step == 0 and column:gt(0) or 1
          k:wgmma_mma_async(acc, k:mad_wide_u32(cursor.stage, a_tile.bytes >> 4, a0) + 2 * step,
            k:mad_wide_u32(cursor.stage, b_tile.bytes >> 4, b0) + 2 * step, form)
        end
        k:wgmma_commit_group()
        if left_out ~= "wait for wgmma" then k:wgmma_wait_group(0) end
        ring:release(cursor, { lane = thread & 31 })
        ring:advance(cursor)
      end)
      k:wgmma_wait_group(0)
      k:store_accumulator(acc, { to = D, ld = cols, row = k:special "ctaid.x" * rows, col = 0, rows = ctas * rows,
      cols = cols, vector = true })
    end)
  end
end

local kernels = {
  { "nothing is left out, stores", 128, by_stores() },
  { "no fence.proxy.async before wgmma", 128, by_stores "fence", "WG-PROXY-01" },
  { "no wgmma.wait_group before the next stores", 128, by_stores "wait", "WG-RACE-02" },
  { "nothing is left out, TMA", 256, by_copies() },
  { "the stage is released before wgmma.wait_group", 256, by_copies "wait for wgmma", "WG-RACE-02" },
  { "the producer does not wait for a free stage", 256, by_copies "acquire", "WG-MBAR-03" },
  { "no wait for the copy", 256, by_copies "wait for the copy", "WG-TMA-02" },
}

local A = wg.randn { shape = { rows, rounds * depth }, dtype = "bf16", seed = 1 }
local B = wg.randn { shape = { cols, rounds * depth }, dtype = "bf16", seed = 2 }

local sums = {} -- in binary64
for row = 0, rows - 1 do
  for column = row % 8, cols - 1, 8 do
    sums[row * cols + column] = wg.dot(A, row * rounds * depth, 1, B, column * rounds * depth, 1, rounds * depth)
  end
end

local failed = false
for i, case in ipairs(kernels) do
  local name, threads, body, expected = table.unpack(case)
  local kernel = wg.kernel("hazard_" .. i, { threads = threads }, body)
  local D = wg.zeros("f32", { ctas * rows, cols })
  local function launch(backend, seed)
    return kernel:run { grid = { ctas }, args = { A, B, D }, unchecked = true, backend = backend, seed = seed }
  end
  local finding, where = kernel:check()[1], "static"
  if not finding and not on_chip then
    where = "simulator"
    for seed = 1, 20 do
      local ran, err = pcall(launch, "sim", seed)
      if not ran then finding = err break end
    end
  end
  local rule = finding and finding.rule
  local line = ("%-46s %s"):format(name, rule and ("%s (%s)"):format(rule, where) or "no finding")
  if rule ~= expected and not (on_chip and not rule) then failed = true end
  if on_chip or not expected then
    local wrong = 0
    local ran, problem = pcall(launch)
    for row = 0, ctas * rows - 1 do
      for column = row % 8, cols - 1, 8 do
        if math.abs(D[{ row, column }] - sums[row % rows * cols + column]) > 1e-3 * math.sqrt(rounds * depth) then wrong = wrong + 1 end
      end
    end
    line = ran and ("%s; %d of %d sums are wrong"):format(line, wrong, ctas * rows * cols // 8) or ("%s; %s"):format(line, problem.message)
    if not expected and (wrong > 0 or not ran) then failed = true end
  end
  print(line)
end
if failed then os.exit(5) end
