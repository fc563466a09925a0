-- The text of wgrun's own kernels, read back: the same findings, and on the simulator the same bits.
local check = require "check"
local wg = require "wgrun"

--- The findings of a kernel as rules and messages; their lines are the text's there and the script's here.
local function findings(kernel)
  local out = {}
  for _, finding in ipairs(kernel:check()) do out[#out + 1] = finding.rule end
  table.sort(out)
  return out
end

--- Runs a kernel and its text. `outputs` makes the tensors that it writes; `args(outputs, foreign)` the arguments.
local function compare(kernel, options)
  local text = kernel:ptx()
  local again = wg.ptx { text = text, name = "text.ptx" }[1]
  check.equal(findings(again), findings(kernel))
  local first, second = options.outputs(), options.outputs()
  kernel:run { grid = options.grid, args = options.args(first, false), backend = "sim" }
  again:run { grid = options.grid, args = options.args(second, true), shared = options.shared or 65536, backend = "sim" }
  for i in ipairs(first) do check.equal(wg.compare(second[i], first[i], 0), true) end
end

-- A product from shared memory that threads fill.
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local product = wg.kernel("product", { threads = 128 }, function(k)
  local A, B, D = k:param("A", "const bf16*"), k:param("B", "const bf16*"), k:param("D", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  for _, pair in ipairs { { a, A }, { b, B } } do
    k:copy_tile { to = pair[1], from = pair[2], ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  k:wgmma_wait_group(0)
  k:store_accumulator(acc, { to = D, ld = 64, row = 0, col = 0, rows = 64, cols = 64, vector = true })
end)
local A, B = wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 1 }, wg.randn { shape = { 64, 64 }, dtype = "bf16", seed = 2 }
compare(product, {
  grid = 1,
  outputs = function() return { wg.zeros("f32", { 64, 64 }) } end,
  args = function(out) return { A, B, out[1] } end,
})

-- Loops, branches, shuffles, atomics, a cluster.
local sums = wg.kernel("sums", { threads = 64 }, function(k)
  local X, Y, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("n", "s32")
  local tid = k:special "tid.x"
  local sum = k:mov_f32(0)
  k:loop({ from = tid, to = n, step = 64 }, function(i) k:add_f32(sum, sum, k:ld_global_f32(k:element(X, i))) end)
  for _, step in ipairs { 16, 8, 4, 2, 1 } do
    k:add_f32(sum, sum, k:mov_f32(k:shfl_sync_bfly_b32(k:mov_b32(sum), step, 31)))
  end
  k:if_(k:and_b32(tid, 31):eq(0), function() k:red_global_add_f32(k:element(Y, k:shr_u32(tid, 5)), sum) end)
end)
local X = wg.randn { shape = 1000, dtype = "f32", seed = 3 }
compare(sums, {
  grid = 1,
  outputs = function() return { wg.zeros("f32", 2) } end,
  args = function(out) return { X, out[1], 1000 } end,
})

-- Copies through a tensor map, counted by an mbarrier.
local box = { 64, 32 }
local copy = wg.kernel("copy", { threads = 128 }, function(k)
  local from, to = k:tensor_map("from", { dtype = "bf16", box = box, swizzle = "128B" }),
    k:tensor_map("to", { dtype = "bf16", box = box, swizzle = "128B" })
  local buffer = k:shared { bytes = 32 * 64 * 2, align = 1024, name = "buffer" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local tid, zero = k:special "tid.x", k:mov_s32(0)
  local row = k:mul_lo_s32(k:special "ctaid.x", 32)
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 32 * 64 * 2)
    k:cp_async_bulk_tensor_2d(buffer, from, { zero, row }, full)
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
  k:if_(tid:eq(0), function()
    k:cp_async_bulk_tensor_store_2d(to, { zero, row }, buffer)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
local T = wg.randn { shape = { 128, 64 }, dtype = "bf16", seed = 4 }
compare(copy, {
  grid = 4,
  outputs = function() return { wg.zeros("bf16", { 128, 64 }) } end,
  args = function(out, foreign)
    if not foreign then return { T, out[1] } end
    local options = { box = box, swizzle = "128B" }
    return { wg.tensor_map(T, options), wg.tensor_map(out[1], options) }
  end,
})
