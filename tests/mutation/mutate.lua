-- Mutation: what orders the accesses of a kernel is left out, or weakened, call by call. Every mutant must be found by
-- the checker, or by the simulator under one of several seeds. Prints killed/total and the survivors.
--   wgrun tests/mutation/mutate.lua [--seeds 8] [--every 1] [--kernel NAME]
local wg = require "wgrun"

local o = { seeds = 8, every = 1 }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  o[key] = tonumber(arg[i + 1]) or arg[i + 1]
end

-- --- the kernels: build() makes one, run(kernel, seed) runs it and says whether the result is right --------------

local function close(D, want_of, M, N, K)
  for i = 0, M - 1, 3 do
    for j = 0, N - 1, 5 do
      local want = want_of(i, j)
      if not (math.abs(D[{ i, j }] - want) <= 0.01 * (math.abs(want) + math.sqrt(K))) then return false end
    end
  end
  return true
end

local function product(M, N, K)
  local A, B = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }, wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
  return A, B, function(i, j) return wg.dot(A, i * K, 1, B, j * K, 1, K) end
end

local function gemm_case(name, M, N, K, opts)
  local A, B, want = product(M, N, K)
  return {
    name = name,
    build = function() return wg.gemm(opts) end,
    kernel = function(gemm) return gemm.kernel end,
    run = function(gemm, seed)
      local D = wg.zeros("bf16", { M, N })
      -- One cluster has all the tiles, so that each stage, panel and barrier is used again and again.
      gemm:run(A, B, D, { backend = "sim", seed = seed, grid = { opts.cluster or 1 } })
      return close(D, want, M, N, K)
    end,
  }
end

-- Two tiles through registers and shared memory, one warpgroup, several k-blocks: what scripts/gemm.lua does.
local function plain_case()
  local M, N, K = 64, 64, 192
  local A, B, want = product(M, N, K)
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
  return {
    name = "plain",
    build = function()
      return wg.kernel("plain", { threads = 128 }, function(k)
        local pa, pb, pd = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
        local a, b = k:shared(tile, "a"), k:shared(tile, "b")
        local acc = k:regs("f32", 32)
        k:loop({ from = 0, to = K, step = 64 }, function(first)
          for _, pair in ipairs { { a, pa }, { b, pb } } do
            k:copy_tile { to = pair[1], from = pair[2], ld = K, line = 0, along = first, lines = 64, length = K, vector = true }
          end
          k:fence_proxy_async()
          k:bar_sync(0)
          k:wgmma_fence()
          k:mma(acc, { a = a, b = b, scale_d = first:gt(0) })
          k:wgmma_wait_group(0)
          k:bar_sync(0)
        end)
        k:store_accumulator(acc, { to = pd, ld = N, row = 0, col = 0, rows = M, cols = N, vector = true })
      end)
    end,
    kernel = function(kernel) return kernel end,
    run = function(kernel, seed)
      local D = wg.zeros("f32", { M, N })
      kernel:run { grid = { 1 }, args = { A, B, D }, backend = "sim", seed = seed }
      return close(D, want, M, N, K)
    end,
  }
end

local cases = {
  plain_case(),
  gemm_case("cooperative", 300, 256, 320, { tile = { 128, 128 }, stages = 2, buffers = 1 }),
  gemm_case("pingpong", 384, 128, 320, { tile = { 64, 64 }, stages = 3, schedule = "pingpong" }),
  gemm_case("cluster", 512, 128, 256, { tile = { 128, 64 }, stages = 2, cluster = 2 }),
}

-- --- the mutants ------------------------------------------------------------------------------------------------

local methods
wg.kernel("probe", { threads = 32 }, function(k) methods = debug.getmetatable(k).__index end)
if type(methods) == "function" then
  for i = 1, 20 do
    local name, value = debug.getupvalue(methods, i)
    if name == nil then break end
    if type(value) == "table" and value.pipeline then
      methods = value
      break
    end
  end
end

local function drop() end
local function plus(position, amount)
  return function(original, ...)
    local arguments = table.pack(...)
    if math.type(arguments[position]) ~= "integer" then return nil, "not a constant" end
    arguments[position] = arguments[position] + amount
    return original(table.unpack(arguments, 1, arguments.n))
  end
end

-- Method, kind of mutant, and what is called instead (k is argument 1).
local mutations = {
  { "wgmma_fence", "left out", drop }, { "wgmma_commit_group", "left out", drop },
  { "wgmma_wait_group", "left out", drop }, { "wgmma_wait_group", "N + 1", plus(2, 1) },
  { "fence_proxy_async", "left out", drop }, { "fence_mbarrier_init", "left out", drop },
  { "bar_sync", "left out", drop }, { "barrier_cluster_arrive", "left out", drop }, { "barrier_cluster_wait", "left out", drop },
  { "mbarrier_init", "left out", drop }, { "mbarrier_init", "one arrival more", plus(3, 1) },
  { "mbarrier_arrive", "left out", drop }, { "mbarrier_arrive_expect_tx", "left out", drop },
  { "mbarrier_arrive_expect_tx", "16 bytes more", plus(3, 16) }, { "mbarrier_arrive_expect_tx", "16 bytes less", plus(3, -16) },
  { "mbarrier_wait", "left out", drop },
  { "cp_async_bulk_commit_group", "left out", drop }, { "cp_async_bulk_wait_group", "left out", drop },
  { "cp_async_bulk_wait_group", "N + 1", plus(2, 1) }, { "cp_async_bulk_tensor_2d", "left out", drop },
  { "cp_async_bulk_tensor_store_2d", "left out", drop }, { "setmaxnreg_inc", "8 more", plus(2, 8) },
}

-- Builds the case with call number `index` of the method replaced. Gives what was built, or nil and the error; and
-- how often the method was called, and whether the mutation applied.
local function built(case, method, index, instead)
  local original = methods[method]
  local calls, applied = 0, false
  methods[method] = function(k, ...)
    calls = calls + 1
    if calls ~= index then return original(k, ...) end
    applied = true
    local result, why = instead(original, k, ...)
    if why then
      applied = false
      return original(k, ...)
    end
    return result
  end
  local good, result = pcall(case.build)
  methods[method] = original
  return good and result or nil, result, calls, applied
end

-- How the mutant is found: "check", "sim", "result" (nothing is found, but D is wrong), or nil.
local function killer(case, subject)
  if #case.kernel(subject):check() > 0 then return "check" end
  for seed = 1, o.seeds do
    local good, right = pcall(case.run, subject, seed)
    if not good then return "sim" end
    if not right then return "result" end
  end
end

local killed, total, by, survivors, number = 0, 0, { build = 0, check = 0, sim = 0, result = 0 }, {}, 0
for _, case in ipairs(cases) do
  if not o.kernel or o.kernel == case.name then
    assert(killer(case, case.build()) == nil, case.name .. " is not clean by itself")
    for _, mutation in ipairs(mutations) do
      local method, kind, instead = table.unpack(mutation)
      local _ = methods[method] or wg.kernel("probe", { threads = 32 }, function(k) return k[method] end)
      local _, _, calls = built(case, method, 0, drop)
      for index = 1, calls do
        number = number + 1
        if number % o.every == 0 then
          local subject, _, _, applied = built(case, method, index, instead)
          if applied then
            total = total + 1
            local by_whom = subject == nil and "build" or killer(case, subject)
            if by_whom == "result" then print(("wrong result alone: %s: call %d of k:%s %s"):format(case.name, index, method, kind)) end
            if by_whom then
              killed, by[by_whom] = killed + 1, by[by_whom] + 1
            else
              survivors[#survivors + 1] = ("%s: call %d of k:%s %s"):format(case.name, index, method, kind)
            end
          end
        end
      end
    end
  end
end
for _, survivor in ipairs(survivors) do print("survived: " .. survivor) end
print(("%d of %d mutants killed: %d when built, %d by the checker, %d by the simulator's findings, %d by a wrong result alone")
  :format(killed, total, by.build, by.check, by.sim, by.result))
os.exit(#survivors == 0 and 0 or 1)
