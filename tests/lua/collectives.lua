-- wg.gemm{ collective = }: launches of 2 to 4 devices beside elements computed in binary64, what is refused, and kernels that
-- are nearly right.
local wg = require "wgrun"
local check = require "check"
local multiplying = require "multiplying"

-- What devices share in launches of a gemm, for a D of so many rows and columns.
local function shared(gemm, devices, rows, columns)
  local exchange, flags, inboxes = gemm:exchange(rows, columns), {}, {}
  for d = 1, devices do
    flags[d], inboxes[d] = wg.zeros("u32", exchange.flags), exchange.inbox and wg.full(gemm.plan.d, exchange.inbox, 0 / 0)
  end
  return { flags = flags, inboxes = exchange.inbox and inboxes }
end

-- Operands of all devices, whose shards have so many rows.
local function operands(gemm, rows, N, K, seed)
  local p, A, B, D = gemm.plan, {}, {}, {}
  for d = 1, p.devices do
    local of_a = p.gather and rows or rows * p.devices
    A[d] = multiplying.random(p.dtype, p.a_major == "MN" and { K, of_a } or { of_a, K }, seed + d)
    B[d] = multiplying.random(p.dtype, p.b_major == "MN" and { K, N } or { N, K }, seed + 10 + d)
    D[d] = wg.full(p.d, { p.gather and rows * p.devices or rows, N }, 0 / 0)
  end
  return A, B, D
end

-- A launch on all devices, on `sms` SMs of each. more: values of the epilogue.
local function run(gemm, memory, A, B, D, more, seed, sms)
  local list, grid = {}, nil
  for d = 1, gemm.plan.devices do
    local given = { rank = d - 1, flags = memory.flags, inboxes = memory.inboxes, sms = sms, shards = gemm.plan.gather and A or nil }
    for name, value in pairs(more) do given[name] = value end
    local launch = gemm:launch(A[d], B[d], D[d], given)
    list[d], grid = launch.args, launch.grid
  end
  gemm.kernel:run { grid = grid, devices = list, seed = seed }
end

-- Element i, j of a device's D before the epilogue.
local function element(gemm, rows, K, A, B, d, i, j)
  local p = gemm.plan
  local function dot(s, row)
    local a_k, b_k, B = p.a_major ~= "MN", p.b_major ~= "MN", B[p.gather and d or s]
    return wg.dot(A[s], row * (a_k and K or 1), a_k and 1 or A[s].shape[2], B, j * (b_k and K or 1), b_k and 1 or B.shape[2], K)
  end
  if p.gather then return dot(i // rows + 1, i % rows) end
  local sum = 0
  for s = 1, p.devices do sum = sum + dot(s, (d - 1) * rows + i) end
  return sum
end

-- Launches in a row with the same flags, each with an A of its own, of `sizes`: rows of a shard, N and K. epilogue(x, i, j): of an
-- element; more: its values.
local function right(options, sizes, more, epilogue)
  local gemm, devices = wg.gemm(options), options.devices
  local name = ("%s, %d devices"):format(options.collective, devices)
  local most = { 0, 0 }
  for _, size in ipairs(sizes) do
    local _, _, D = operands(gemm, size[1], size[2], 8, 0)
    most = { math.max(most[1], D[1].shape[1]), math.max(most[2], size[2]) }
  end
  local memory = shared(gemm, devices, most[1], most[2])
  for number, size in ipairs(sizes) do
    local rows, N, K = table.unpack(size)
    local A, B, D = operands(gemm, rows, N, K, 100 * number)
    run(gemm, memory, A, B, D, more or {}, number, options.cluster and 4 or 3)
    for d = 1, devices do
      multiplying.compare(("%s, device %d, launch %d"):format(name, d - 1, number), D[d], 7, 5, function(i, j)
        local x = element(gemm, rows, K, A, B, d, i, j)
        return epilogue and epilogue(x, i, j) or x, multiplying.allowed(x, options.collective == "all_gather" and K or K * devices)
      end)
      check.equal(memory.flags[d][{ 0 }], number)
    end
  end
end

local both = { "all_gather", "reduce_scatter" }
for _, collective in ipairs(both) do
  -- Sizes that fill no tile, and sizes that change.
  right({ collective = collective, devices = 2, tile = { 128, 64, 64 } }, { { 72, 136, 72 }, { 72, 136, 72 }, { 200, 64, 8 }, { 72, 136, 72 } })
  right({ collective = collective, devices = 3, tile = { 64, 128, 64 }, schedule = "pingpong", dtype = "f16" }, { { 72, 136, 72 }, { 8, 8, 200 } })
  right({ collective = collective, devices = 4, tile = { 64, 64, 64 }, schedule = "cooperative" }, { { 72, 72, 72 }, { 72, 72, 72 } })
  -- More than the default.
  right({ collective = collective, devices = 2, tile = { 64, 64, 64 }, cluster = 2 }, { { 200, 72, 72 }, { 200, 72, 72 } })
  right({ collective = collective, devices = 2, tile = { 64, 64, 64 }, cluster = { 1, 2 }, b_major = "MN" }, { { 72, 200, 72 } })
  right({ collective = collective, devices = 2, tile = { 64, 64, 64 }, d = "f32" }, { { 72, 72, 72 }, { 72, 72, 72 } })
  right({ collective = collective, devices = 2, tile = { 64, 64, 32 }, dtype = "tf32" }, { { 72, 72, 72 } })
  right({ collective = collective, devices = 2, tile = { 64, 64, 128 }, dtype = "e4m3", d = "bf16" }, { { 72, 72, 144 } })
  local alpha, bias = 0.5, wg.randn { shape = { 72 }, dtype = "f32", seed = 9 }
  right({ collective = collective, devices = 2, tile = { 64, 64, 64 }, epilogue = { alpha = true, bias = "column", activation = "relu" } },
    { { 72, 72, 72 } }, { alpha = alpha, bias = bias }, function(x, _, j) return math.max(0, alpha * x + bias[{ j }]) end)
end

right({ collective = "reduce_scatter", devices = 2, tile = { 64, 64, 64 }, a_major = "MN" }, { { 72, 72, 72 } })

-- A gate's product with the same rows of A.
do
  local gemm = wg.gemm { collective = "all_gather", devices = 2, tile = { 64, 64, 64 }, epilogue = { gate = "silu" } }
  local A, B, D = operands(gemm, 72, 72, 64, 1)
  local G = wg.randn { shape = { 72, 64 }, dtype = "bf16", seed = 7 }
  run(gemm, shared(gemm, 2, 144, 72), A, B, D, { gate = G }, 1)
  for d = 1, 2 do
    multiplying.compare("with a gate", D[d], 7, 5, function(i, j)
      local x, gate = element(gemm, 72, 64, A, B, d, i, j), element(gemm, 72, 64, A, { G, G }, d, i, j)
      return x * gate / (1 + math.exp(-gate)), 0.02 * (math.abs(x * gate) + 8)
    end)
  end
end

-- Scales of rows, of elements of 8 bits.
do
  local gemm = wg.gemm { collective = "all_gather", dtype = "e4m3", devices = 2, tile = { 64, 64, 128 }, scales = { a = "row", b = "row" } }
  local A, B, D = operands(gemm, 72, 72, 144, 1)
  local a_scales, b_scales = wg.randn { shape = { 144 }, dtype = "f32", seed = 6 }, wg.randn { shape = { 72 }, dtype = "f32", seed = 7 }
  run(gemm, shared(gemm, 2, 144, 72), A, B, D, { a_scales = a_scales, b_scales = b_scales }, 1)
  for d = 1, 2 do
    multiplying.compare("with scales", D[d], 7, 5, function(i, j)
      local x = element(gemm, 72, 144, A, B, d, i, j) * a_scales[{ i }] * b_scales[{ j }]
      return x, multiplying.allowed(x, 144)
    end)
  end
end

-- A matrix of the sum's rows.
do
  local gemm = wg.gemm { collective = "reduce_scatter", devices = 2, tile = { 64, 64, 64 }, epilogue = { residual = true } }
  local A, B, D = operands(gemm, 72, 72, 64, 1)
  local C = wg.randn { shape = { 72, 72 }, dtype = "bf16", seed = 7 }
  run(gemm, shared(gemm, 2, 72, 72), A, B, D, { residual = C }, 1)
  for d = 1, 2 do
    multiplying.compare("with a residual", D[d], 3, 5, function(i, j)
      local x = element(gemm, 72, 64, A, B, d, i, j) + C[{ i, j }]
      return x, multiplying.allowed(x, 128)
    end)
  end
end

-- A kernel keeps nothing of its launches: here are two groups of devices, with flags of their own.
do
  local gemm = wg.gemm { collective = "all_gather", devices = 2, tile = { 64, 64, 64 } }
  local A, B, D = operands(gemm, 72, 64, 72, 1)
  for seed = 1, 2 do run(gemm, shared(gemm, 2, 144, 64), A, B, D, {}, seed) end
end

-- The shards, where the host gives memory for them: all but the device's own, which is not written.
do
  local gemm = wg.gemm { collective = "all_gather", devices = 3, tile = { 64, 64, 64 } }
  local A, B, D = operands(gemm, 72, 64, 72, 1)
  local memory, list, grid, gathered, spacing = shared(gemm, 3, 216, 64), {}, nil, {}, 200
  for d = 1, 3 do
    gathered[d] = wg.full("bf16", { 3 * spacing, 72 }, 5)
    local launch = gemm:launch(A[d], B[d], D[d], { rank = d - 1, flags = memory.flags, shards = A, gathered = gathered[d] })
    list[d], grid = launch.args, launch.grid
  end
  gemm.kernel:run { grid = grid, devices = list }
  for d = 1, 3 do
    for s = 1, 3 do
      local first = (s - 1) * spacing
      assert(wg.compare(gathered[d]:rows(first, first + 72), s == d and wg.full("bf16", { 72, 72 }, 5) or A[s], 0))
    end
  end
  local few = wg.zeros("bf16", { 3 * 120, 72 })
  check.refuses("gemm: gathered is 360 x 72, must be at least 384 x 72, as many rows for each of the 3 devices", function() gemm:launch(A[1], B[1], D[1], { rank = 0, flags = memory.flags, shards = A, gathered = few }) end)
end

-- What launches refuse.
do
  local gather = wg.gemm { collective = "all_gather", devices = 2, tile = { 64, 64, 64 } }
  local scatter = wg.gemm { collective = "reduce_scatter", devices = 2, tile = { 64, 64, 64 } }
  local A, B = operands(gather, 64, 64, 64, 1)
  local D, part, flags = wg.zeros("bf16", { 128, 64 }), wg.zeros("bf16", { 32, 64 }), shared(gather, 2, 128, 64).flags
  local of_part = shared(scatter, 2, 32, 64)
  check.refuses("gemm: rank is 2, must be an integer from 0 to 1", function() gather:launch(A[1], B[1], D, { rank = 2, flags = flags, shards = A }) end)
  check.refuses("gemm: rank is nil, must be an integer from 0 to 1", function() gather:launch(A[1], B[1], D, { flags = flags, shards = A }) end)
  check.refuses("gemm: `flags` must be a list of 2 tensors of one shape, one of each device", function() gather:launch(A[1], B[1], D, { rank = 0, flags = { flags[1] }, shards = A }) end)
  check.refuses("gemm: `shards` must be a list of 2 tensors of one shape, one of each device", function() gather:launch(A[1], B[1], D, { rank = 0, flags = flags, shards = { A[1] } }) end)
  check.refuses("gemm: `inboxes` must be a list of 2 tensors of one shape, one of each device", function() scatter:launch(A[1], B[1], part, { rank = 0, flags = of_part.flags }) end)
  check.refuses("gemm: D is 64 x 64, but that of 2 devices is 128 x 64", function() gather:launch(A[1], B[1], D:rows(0, 64), { rank = 0, flags = flags, shards = A }) end)
  check.refuses("gemm: A has 63 rows, must be a multiple of the 2 devices", function() scatter:launch(A[1]:rows(0, 63), B[1], part, { rank = 0, flags = of_part.flags, inboxes = of_part.inboxes }) end)
  check.refuses("gemm: flags has 2 elements, must have at least 4 (gemm:exchange)", function() scatter:launch(A[1], B[1], part, { rank = 0, flags = { wg.zeros("u32", { 2 }), wg.zeros("u32", { 2 }) }, inboxes = of_part.inboxes }) end)
  check.refuses("gemm: flags has 5 elements, must have at least 7 (gemm:exchange)", function() gather:launch(A[1], B[1], D, { rank = 0, flags = { wg.zeros("u32", { 5 }), wg.zeros("u32", { 5 }) }, shards = A }) end)
  check.refuses("gemm: `flags` must be a list of 2 tensors of one shape, one of each device", function() gather:launch(A[1], B[1], D, { rank = 0, flags = { flags[1], wg.zeros("u32", { 50 }) }, shards = A }) end)
  check.refuses("gemm: `rank` is given, but not of a wg.gemm{ collective = }", function() wg.gemm {}:launch(A[1], B[1], A[1], { rank = 0 }) end)
  check.refuses("gemm:exchange: the product has no `collective`", function() wg.gemm {}:exchange(64, 64) end)
end

-- Kernels that are nearly right: the builder has another method of a name while they are traced.
local builder
wg.kernel("probe", { threads = 32 }, function(k) builder = debug.getmetatable(k) end)
local methods, changed = builder.__index, {}
builder.__index = function(k, name) return changed[name] or methods(k, name) end

local function races(collective, name, method, rule)
  changed = { [name] = method }
  local gemm = wg.gemm { collective = collective, devices = 2, tile = { 64, 64, 64 }, schedule = "cooperative" }
  changed = {}
  local A, B, D = operands(gemm, 72, 136, 72, 1)
  local good, problem = pcall(run, gemm, shared(gemm, 2, D[1].shape[1], 136), A, B, D, {}, 1, 3)
  assert(not good and problem.rule == rule, ("%s without %s: %s"):format(collective, name, problem))
end

local function as(name) return function(k, ...) return methods(k, name)(k, ...) end end
local function as_if_there(k) return { ne = function() return k:special "tid.x":gt(1024) end } end

-- A scope that does not hold the other device; no release or no acquire, so that a flag may be seen before its data; no wait.
for _, collective in ipairs(both) do
  races(collective, "st_release_sys_global_u32", as "st_release_gpu_global_u32", "WG-RACE-04")
  races(collective, "ld_acquire_sys_global_u32", as "ld_acquire_gpu_global_u32", "WG-RACE-04")
end
for scope, collective in pairs { sys = "reduce_scatter", gpu = "all_gather" } do
  local tell, await = ("st_%%s_%s_global_u32"):format(scope), ("ld_%%s_%s_global_u32"):format(scope)
  races(collective, tell:format "release", as(tell:format "relaxed"), "WG-RACE-04")
  races(collective, await:format "acquire", as(await:format "relaxed"), "WG-RACE-04")
  races(collective, await:format "acquire", as_if_there, "WG-RACE-04")
end
-- Pieces that are announced while they are still copied.
races("all_gather", "cp_async_bulk_wait_group", function(k, count, options)
  if options then methods(k, "cp_async_bulk_wait_group")(k, count, options) end -- the epilogue's
end, "WG-RACE-04")
