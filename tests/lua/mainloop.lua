-- Products that scripts put together from wg.mainloop, wg.scheduler, wg.reduction and an epilogue, beside elements in binary64.
local wg = require "wgrun"
local here = arg[0]:match ".*/" or ""
local check, multiplying = dofile(here .. "check.lua"), dofile(here .. "multiplying.lua")

-- A kernel with k:epilogue behind the main loop: D = A * B, of f32.
local function kernel_of(loop, of_groups)
  local panel = wg.panel { dtype = "f32", n = loop.columns }
  return wg.kernel("product", { threads = loop.threads, cluster = { loop.cluster } }, function(k)
    local sizes = loop:parameters(k)
    local D = k:tensor_map("D", panel.box)
    local data = of_groups and k:param("D_data", "f32*")
    local out = k:shared { bytes = loop.consumers * panel.bytes, align = panel.align, name = "D" }
    loop:emit(k, { epilogue = function(me)
      return k:epilogue {
        panel = panel, map = D, buffer = out, offset = me.number * panel.bytes, barrier = me.barrier,
        rows = of_groups and { to = data, width = sizes.N } or nil,
      }
    end })
  end)
end

local function shared_of(columns, consumers) return consumers * 64 * 4 * math.min(columns, 32) end

local function try(name, make, opts, M, N, K, ctas)
  opts.shared = shared_of(opts.tile[2], 3)
  local loop = make(opts)
  local kernel = kernel_of(loop)
  assert(#kernel:check() == 0, name)
  local a_mn, b_mn = opts.a_major == "MN", opts.b_major == "MN"
  local function matrix(rows, transposed, seed)
    return multiplying.random(loop.plan.dtype, transposed and { K, rows } or { rows, K }, seed)
  end
  local A, B, given, dense = matrix(M, a_mn, 1), matrix(N, b_mn, 2), {}, nil
  local a_scale, b_scale
  if loop.plan.sparse then
    dense = wg.sparse.prune(A)
    A, given.metadata = wg.sparse.compress(dense, "gemm")
  elseif loop.plan.block_scaled then
    a_scale, b_scale = wg.randn { shape = { (K + 127) // 128, (M + 3) // 4 * 4 }, dtype = "f32", seed = 3 }, wg.randn { shape = { (N + 127) // 128, (K + 127) // 128 }, dtype = "f32", seed = 4 }
    given.a_scales, given.b_scales = a_scale, b_scale
  end
  local D = wg.full("f32", { M, N }, 99)
  local launch = loop:launch(kernel, A, B, given)
  check.equal(launch.flops, 2.0 * M * N * K)
  launch.args[#launch.args + 1] = D
  launch.backend, launch.flops, launch.seed = "sim", nil, 3
  launch.grid = ctas and { ctas } or launch.grid
  kernel:run(launch)
  A = dense or A
  multiplying.compare(name, D, 11, 7, function(i, j)
    local sum, from, to = 0, 0, K
    local a, a_step, b, b_step = i * K, 1, j * K, 1
    if a_mn then a, a_step = i, M end
    if b_mn then b, b_step = j, N end
    for first = from, to - 1, 128 do
      local count = math.min(128, K - first)
      local part = wg.dot(A, a + first * a_step, a_step, B, b + first * b_step, b_step, count)
      sum = sum + part * (a_scale and a_scale[{ first // 128, i }] * b_scale[{ j // 128, first // 128 }] or 1)
    end
    return sum, multiplying.allowed(sum, K)
  end)
end

local dense, sparse, block_scaled, scheduler, reduction = wg.mainloop.dense, wg.mainloop.sparse, wg.mainloop.block_scaled, wg.scheduler, wg.reduction
try("one consumer", dense, { tile = { 64, 64, 64 } }, 130, 100, 200)
try("two consumers", dense, { tile = { 128, 64 }, dtype = "f16" }, 200, 100, 136)
try("three consumers", dense, { tile = { 192, 64 } }, 200, 100, 136)
try("pingpong", dense, { tile = { 64, 96, 64 }, schedule = "pingpong", constant = "B" }, 200, 200, 136)
try("a cluster", dense, { tile = { 64, 64, 64 }, cluster = { 2, 2 }, scheduler = scheduler.tiles { group = 1 } }, 300, 200, 136)
try("MN-major", dense, { tile = { 64, 64, 64 }, a_major = "MN", b_major = "MN" }, 136, 72, 136)
try("Hilbert's curve", dense, { tile = { 64, 64 }, scheduler = scheduler.tiles { raster = "hilbert" } }, 200, 200, 64)
try("halves, two consumers", dense, { tile = { 256, 64, 64 }, scheduler = scheduler.tiles { halves = true } }, 600, 72, 136, 4) -- 6 tiles
try("halves, sparse", sparse, { tile = { 256, 64 }, scheduler = scheduler.tiles { halves = true } }, 1100, 72, 192, 4)
try("slices of K in a cluster", dense, { tile = { 64, 64, 64 }, reduction = reduction.cluster { splits = 3 } }, 100, 100, 400)
try("slices of K in memory", dense, { tile = { 128, 64, 64 }, reduction = reduction.memory { splits = 3 } }, 200, 100, 400)
try("stream-K", dense, { tile = { 64, 64, 64 }, scheduler = scheduler.stream_k(), reduction = reduction.memory() }, 200, 1000, 400)
try("tf32", dense, { tile = { 64, 64 }, dtype = "tf32" }, 100, 72, 72)
try("sparse", sparse, { tile = { 128, 64 } }, 130, 72, 192)
try("sparse, slices of K", sparse, { tile = { 64, 64 }, reduction = reduction.memory { splits = 2 } }, 130, 72, 512)
try("block scales", block_scaled, { tile = { 64, 64 } }, 100, 144, 384)
try("block scales, slices of K", block_scaled, { tile = { 64, 64 }, reduction = reduction.cluster { splits = 2 } }, 100, 144, 512)

-- Weights of 8 bits: D is computed transposed, and stored so by k:epilogue, or by an epilogue of one's own that takes the least of a
-- column.
local function weights(name, opts, M, N, K, ctas)
  local own = opts.own
  opts.own = nil
  opts.shared = own and 0 or 2 * 64 * 2 * opts.tile[2]
  local loop = wg.mainloop.mixed_input(opts)
  local panel = wg.panel { dtype = "bf16", n = loop.columns, transposed = true }
  local kernel = wg.kernel("weights", { threads = loop.threads, cluster = { loop.cluster } }, function(k)
    local sizes = loop:parameters(k)
    if own then
      local least = k:param("least", "s32*")
      return loop:emit(k, { epilogue = function()
        return function(acc, row, column)
          k:fragment(acc):map(function(x, here)
            local a_row = column + here.column
            k:red_global_min_s32(k:element(least, a_row), k:cvt_rni_s32_f32(k:mul(x, 8.0)), { guard = a_row:lt(sizes.M) & (row + here.row):lt(sizes.N) })
            return x
          end)
        end
      end })
    end
    local D = k:tensor_map("D", panel.box)
    local out = k:shared { bytes = loop.consumers * panel.bytes, align = panel.align, name = "D" }
    loop:emit(k, { epilogue = function(me)
      return k:epilogue { panel = panel, map = D, buffer = out, offset = me.number * panel.bytes, barrier = me.barrier }
    end })
  end)
  assert(#kernel:check() == 0, name)
  local A = wg.randn { shape = { M, K }, dtype = opts.a_type or "bf16", seed = 1 }
  if own then A = wg.full("bf16", { M, K }, 1) end
  local W = wg.randint { shape = { N, K }, dtype = "s8", lo = own and 0 or -20, hi = 20, seed = 2 }
  local scales, D = wg.full("bf16", { K // 128, N }, 0.125), own and wg.full("s32", { M }, 1 << 30) or wg.full("bf16", { M, N }, 99)
  local B, packed = W:convert "f32" * 0.125, nil
  if opts.b_type == "mxfp4" then -- -1 and 3 in turn, with another scale for each row
    local powers, values = wg.zeros("u8", { N, K // 32 }), {}
    for i = 0, N * K - 1 do
      powers[{ i // K, i % K // 32 }] = 122 + i // K % 5
      values[i + 1] = (i % 2 == 0 and -1 or 3) * 2.0 ^ (i // K % 5 - 5)
    end
    B, packed, scales = wg.tensor("f32", { N, K }, values), wg.prepack(wg.full("u8", { N, K // 2 }, 0x5A), "mxfp4", powers, opts.a_type), nil
  end
  local launch = loop:launch(kernel, A, packed or wg.prepack(W, "s8"), { b_scales = scales })
  check.equal(launch.flops, 2.0 * M * N * K)
  launch.args[#launch.args + 1], launch.backend, launch.flops = D, "sim", nil
  launch.grid = ctas and { ctas } or launch.grid
  kernel:run(launch)
  if own then
    local smallest = math.huge
    for j = 0, N - 1 do smallest = math.min(smallest, multiplying.dot(A, B, K, 0, j)) end
    for i = 0, M - 1 do check.equal(D[i], math.tointeger(8 * smallest)) end
    return
  end
  multiplying.compare(name, D, 3, 7, function(i, j)
    local want = multiplying.dot(A, B, K, i, j)
    return want, 2 ^ -8 * (math.abs(want) + 0.1 * math.sqrt(K))
  end)
end
weights("weights of 8 bits", { b_type = "s8", tile = { 64, 16 } }, 20, 136, 512)
weights("two blocks of rows, slices of K in a cluster", { b_type = "s8", tile = { 128, 32, 128 }, splits = 3 }, 40, 200, 640)
weights("equal shares of K", { b_type = "s8", tile = { 128, 16, 128 }, stream_k = true }, 20, 200, 640, 3)
weights("weights of 4-bit floats", { b_type = "mxfp4", tile = { 64, 16 } }, 20, 192, 512)
weights("the same beside 8-bit floats", { a_type = "e4m3", b_type = "mxfp4", tile = { 64, 16 } }, 20, 192, 512)
weights("an epilogue of one's own", { b_type = "s8", tile = { 64, 16, 128 }, own = true }, 20, 136, 384)
check.refuses("wg.mainloop.mixed_input: tile[2] is 20, must be a multiple of 8 with b_type: the rows of A", function() wg.mainloop.mixed_input { b_type = "s8", tile = { 64, 20 } } end)
check.refuses("wg.mainloop.mixed_input: tile[1] is 96, must be 64 or 128 with b_type: the rows of B", function() wg.mainloop.mixed_input { b_type = "s8", tile = { 96, 16 } } end)
check.refuses("wg.mainloop.mixed_input: `stream_k` excludes `splits`: both cut K", function() wg.mainloop.mixed_input { b_type = "s8", tile = { 64, 16 }, splits = 2, stream_k = true } end)
check.refuses("wg.mainloop.mixed_input: `zeros` excludes weights of e4m3: floats have no zero points", function() wg.mainloop.mixed_input { b_type = "e4m3", tile = { 64, 16 }, zeros = true } end)

-- Groups: rows that belong to none stay as they are.
do
  local K, N, room = 136, 72, 80
  local loop = dense { tile = { 64, 64, 64 }, scheduler = scheduler.groups { kind = "masked" }, shared = shared_of(64, 1) }
  local kernel = kernel_of(loop, true)
  local A, B = multiplying.random("bf16", { 3 * room, K }, 1), multiplying.random("bf16", { 3 * N, K }, 2)
  local D, rows = wg.full("f32", { 3 * room, N }, 99), { 70, 0, 9 }
  local launch = loop:launch(kernel, A, B, { sizes = wg.tensor("s32", { 3 }, rows) })
  launch.args[#launch.args + 1], launch.args[#launch.args + 2] = D, D
  launch.backend, launch.flops = "sim", nil
  kernel:run(launch)
  multiplying.compare("groups", D, 1, 9, function(i, j)
    local group, row = i // room, i % room
    if row >= rows[group + 1] then return 99, 0 end
    local sum = multiplying.dot(A, B, K, i, group * N + j)
    return sum, multiplying.allowed(sum, K)
  end)
end

-- What is refused.
check.refuses("wg.mainloop has no `dens`: did you mean `dense`?", function() wg.mainloop.dens { tile = { 64, 64 } } end)
check.refuses("wg.scheduler has no `stream`: did you mean `stream_k`?", function() wg.scheduler.stream() end)
check.refuses("wg.reduction has no `clusters`: did you mean `cluster`?", function() wg.reduction.clusters() end)
check.refuses("wg.sparse has no `compres`: did you mean `compress`?", function() wg.sparse.compres() end)
check.refuses("wg.mainloop.dense: option `tile` is missing", function() dense {} end)
check.refuses("wg.mainloop.dense: tile[1] is 100, must be a multiple of 64 for cooperative", function() dense { tile = { 100, 64 } } end)
check.refuses("wg.mainloop.dense: scheduler must be one of wg.scheduler", function() dense { tile = { 64, 64 }, scheduler = reduction.memory() } end)
check.refuses("wg.mainloop.dense: wg.scheduler.stream_k takes a reduction = wg.reduction.memory()", function() dense { tile = { 64, 64 }, scheduler = scheduler.stream_k() } end)
check.refuses("wg.mainloop.dense: a reduction puts slices of K together: `splits` of it is 1", function() dense { tile = { 64, 64 }, reduction = reduction.memory() } end)
check.refuses("wg.mainloop.dense: `splits` excludes the pingpong schedule: consumers with tiles of their own do not share the sums of one",
  function() dense { tile = { 64, 64 }, schedule = "pingpong", reduction = reduction.memory { splits = 2 } } end)
check.refuses("wg.mainloop.dense: `halves` excludes tiles of 64 rows, or three times 64, for each consumer: each consumer keeps half of its blocks of 64 rows",
  function() dense { tile = { 64, 64 }, scheduler = scheduler.tiles { halves = true } } end)
check.refuses("wg.mainloop.dense: `halves` excludes `splits`: these share the last round by K",
  function() dense { tile = { 256, 64 }, scheduler = scheduler.tiles { halves = true }, reduction = reduction.memory { splits = 2 } } end)
check.raises("unknown option `halves` of wg.scheduler.stream_k", scheduler.stream_k, { halves = true })
check.refuses("wg.mainloop.block_scaled: block scales are of e4m3 and e5m2, not of bf16", function() block_scaled { tile = { 64, 64 }, dtype = "bf16" } end)
check.refuses("wg.mainloop.sparse: a sparse A must be K-major", function() sparse { tile = { 64, 64 }, a_major = "MN" } end)
check.raises("unknown option `tiles` of wg.mainloop.sparse: did you mean `tile`?", function() sparse { tile = { 64, 64 }, tiles = 3 } end)
do
  local loop = dense { tile = { 64, 64 }, reduction = reduction.memory { splits = 8 }, shared = shared_of(64, 1) }
  local A = wg.zeros("bf16", { 64, 64 })
  check.raises("too few for 8 splits: wg.mainloop.dense with fewer `splits` of its reduction", loop.launch, loop, kernel_of(loop), A, A)
end
for _, options in ipairs { { threads = 128 }, { threads = 256, cluster = 2 } } do
  check.raises("mainloop:emit: the kernel has ", wg.kernel, "product", options, function(k)
    local loop = dense { tile = { 64, 64 } }
    loop:parameters(k)
    loop:emit(k, { epilogue = print })
  end)
end
do
  local loop = dense { tile = { 64, 64 }, shared = shared_of(64, 1) }
  local A = wg.zeros("bf16", { 64, 64 })
  check.raises("gemm: `metadata` is given, but A is dense: wg.mainloop.sparse", loop.launch, loop, kernel_of(loop), A, A, { metadata = A })
end
check.raises("mainloop:emit: call mainloop:parameters(k) before it", wg.kernel, "product", { threads = 256 }, function(k)
  dense({ tile = { 64, 64 } }):emit(k, { epilogue = print })
end)

-- The name that wg.mainloop.mixed_input had before.
local warned
local own = warn
function warn(text) warned = text end
check.equal(wg.mainloop.mixed({ b_type = "s8", tile = { 64, 16 } }).columns, 16)
warn = own
check.equal(warned, "wg.mainloop.mixed is called wg.mainloop.mixed_input now")
