-- The two indices of a chunk of sparse metadata, in either order, with wgmma on the chip (docs/silicon.md):
--   wgrun tests/gpu/sparse_order.lua [gpu|gpu-cuda]
-- The PTX ISA (9.7.15.6.1) shows increasing ones. Of decreasing ones each stored element may go to the index that its place
-- names, as the simulator has it, or the first one to the lower index. The table counts the outputs that each explains.
-- Without a GPU the simulator stands for the chip.
local wg = require "wgrun"
local backend = arg and arg[1] or (wg.backend == "sim" and "sim" or "gpu")
local samples, n = wg.backend == "sim" and 1 or 32, 64

local orders = {
  { name = "increasing", codes = { 4, 8, 9, 12, 13, 14 } },
  { name = "decreasing", codes = { 1, 2, 6, 3, 7, 11 } },
  { name = "either", codes = { 4, 8, 9, 12, 13, 14, 1, 2, 6, 3, 7, 11 } },
}
local types = { { "f16", "f32" }, { "bf16", "f32" }, { "e4m3", "f32" }, { "e5m2", "f32" }, { "s8", "s32" }, { "u8", "s32" } }

--- A CTA multiplies one sample: 32 bytes of each row of A, as stored, and 64 bytes of each column of B.
local function product(a, d, stored)
  local kept = wg.tile { dtype = a, mn = 64, k = stored, major = "K" }
  local whole = wg.tile { dtype = a, mn = n, k = 2 * stored, major = "K" }
  return wg.kernel("sparse_order_" .. a, { threads = 128 }, function(k)
    local A, B = k:param("A", "const " .. a .. "*"), k:param("B", "const " .. a .. "*")
    local M, D = k:param("M", "const u32*"), k:param("D", d .. "*")
    local sample, thread = k:special "ctaid.x", k:special "tid.x"
    local one, two = k:shared(kept, "one"), k:shared(whole, "two")
    k:copy_tile { to = one, from = A, ld = stored, line = sample * 64, along = 0, lines = samples * 64, length = stored, vector = true }
    k:copy_tile { to = two, from = B, ld = 2 * stored, line = sample * n, along = 0, lines = samples * n, length = 2 * stored, vector = true }
    k:fence_proxy_async()
    k:bar_sync(0)
    local acc, metadata = k:regs(d, n // 2), k:ld_global_b32(k:element(M, sample * 128 + thread))
    k:wgmma_fence()
    k:wgmma_mma_async_sp(acc, k:descriptor(one), k:descriptor(two), metadata,
      { n = n, d = d, a = a, b = a, sp_sel = 0, scale_d = 0 })
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
    for i = 0, n // 2 - 1 do k:st_global(k:element(D, (sample * 128 + thread) * (n // 2) + i), acc[i], { type = d }) end
  end)
end

local function random(dtype, shape, seed)
  if dtype == "s8" or dtype == "u8" then
    return wg.randint { dtype = dtype, shape = shape, lo = dtype == "s8" and -128 or 0, hi = dtype == "s8" and 127 or 255, seed = seed }
  end
  return wg.randn { dtype = dtype, shape = shape, seed = seed }
end

--- Words of eight codes, and the same with the lower index of each code first.
local function words(codes, seed)
  local chosen = wg.randint { dtype = "u32", shape = { samples * 128 * 8 }, lo = 0, hi = #codes - 1, seed = seed }
  local out, sorted = wg.zeros("u32", { samples * 128 }), wg.zeros("u32", { samples * 128 })
  for i = 0, samples * 128 - 1 do
    local word, ordered = 0, 0
    for j = 0, 7 do
      local code = codes[math.tointeger(chosen[i * 8 + j]) + 1]
      local first, second = code & 3, code >> 2
      word = word | code << 4 * j
      ordered = ordered | (math.min(first, second) | math.max(first, second) << 2) << 4 * j
    end
    out[i], sorted[i] = word, ordered
  end
  return out, sorted
end

local failed = false
print(("%-5s %-11s %10s %10s %10s %10s"):format("type", "indices", "outputs", "as named", "sorted", "neither"))
for _, of in ipairs(types) do
  local a, d = of[1], of[2]
  local stored = (a == "f16" or a == "bf16") and 16 or 32
  local kernel = product(a, d, stored)
  local A, B = random(a, { samples * 64, stored }, 1), random(a, { samples * n, 2 * stored }, 2)
  for _, order in ipairs(orders) do
    local named, sorted = words(order.codes, 3)
    local function run(metadata, where)
      local D = wg.zeros(d, { samples * 64 * n })
      kernel:run { grid = samples, args = { A, B, metadata, D }, backend = where, numerics = "h200", unchecked = true }
      return D
    end
    local chip, as_named, as_sorted = run(named, backend), run(named, "sim"), run(sorted, "sim")
    local counts = { named = 0, sorted = 0, neither = 0 }
    for i = 0, samples * 64 * n - 1 do
      local x = chip[i]
      if x == as_named[i] then counts.named = counts.named + 1 end
      if x == as_sorted[i] then counts.sorted = counts.sorted + 1 end
      if x ~= as_named[i] and x ~= as_sorted[i] then counts.neither = counts.neither + 1 end
    end
    print(("%-5s %-11s %10d %10d %10d %10d"):format(a, order.name, samples * 64 * n, counts.named, counts.sorted, counts.neither))
    failed = failed or counts.named ~= samples * 64 * n
  end
end
os.exit(failed and 1 or 0)
