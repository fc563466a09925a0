-- Cycles that a wgmma m64nNk16 of bf16 takes on an SM, by the place of A, the columns and the warpgroups, and with other
-- instructions of the same warps beside it: wgrun wgmma.lua [GRID [ROUNDS]].
local wg = require "wgrun"
local grid, rounds = tonumber(arg[1]) or 132, tonumber(arg[2]) or 128
local steps = 8 -- wgmma of a turn

-- beside: additions for each wgmma of a warp.
local function cycles(n, in_registers, groups, beside)
  local a = wg.tile { dtype = "bf16", mn = 64, k = 16 * steps, order = "MN" }
  local b = wg.tile { dtype = "bf16", mn = n, k = 16 * steps, order = "MN" }
  local kernel = wg.kernel("wgmma", { threads = 128 * groups }, function(k)
    local out, turns = k:param("out", "f32*"), k:param("turns", "u32")
    local A, B = k:shared { tile = a, name = "A" }, k:shared { tile = b, name = "B" }
    local thread, zero = k:special "tid.x", k:mov(0, { type = "u32" })
    for _, buffer in ipairs { { A, a }, { B, b } } do
      k:loop({ from = thread, to = buffer[2].bytes // 4, step = 128 * groups }, function(i)
        k:st_shared_u32(k:address(buffer[1], i << 2), zero)
      end)
    end
    k:fence_proxy_async { space = "shared::cta" }
    local acc, operand, sums = k:regs("f32", n // 2), k:regs("b32", 4), k:regs("f32", 8)
    for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end
    for r = 0, 3 do k:mov(operand[r], thread) end
    for r = 0, 7 do k:mov(sums[r], 1.0) end
    local form = { n = n, k = 16, d = "f32", a = "bf16", b = "bf16", trans_b = 0, trans_a = not in_registers and 0 or nil }
    local from_a, from_b = k:descriptor(A), k:descriptor(B)
    local function at(descriptor, tile, step) return k:add(descriptor, tile:descriptor(0, step) - tile:descriptor(0)) end
    k:bar_sync(0)
    local began = k:mov(k:special "clock", { type = "u32" })
    k:loop(turns, function()
      k:wgmma_fence()
      for step = 0, steps - 1 do k:wgmma_mma_async(acc, in_registers and operand or at(from_a, a, step), at(from_b, b, step), form) end
      k:wgmma_commit_group()
      for i = 0, steps * beside - 1 do k:fma(sums[i % 8], sums[i % 8], sums[i % 8], sums[i % 8]) end
      k:wgmma_wait_group(1)
    end)
    k:wgmma_wait_group(0)
    local ended = k:mov(k:special "clock", { type = "u32" })
    local used = k:mov(0.0, { type = "f32" })
    for r = 0, #acc - 1 do k:add(used, used, acc[r]) end
    for r = 0, 7 do k:add(used, used, sums[r]) end
    local first = k:special("ctaid.x"):eq(0)
    k:st_global_f32(k:element(out, thread), k:cvt_rn_f32_u32(ended - began), { guard = first })
    k:st_global_f32(k:element(out, thread + 128 * groups), used, { guard = first })
  end)
  local out, most = wg.zeros("f32", { 256 * groups }), 0
  for _ = 1, 2 do kernel:run { grid = grid, args = { out, rounds } } end
  for i = 0, 128 * groups - 1, 32 do most = math.max(most, out[i]) end
  return most / (rounds * steps * groups)
end

print "columns, A in, warpgroups, instructions beside: cycles"
for _, n in ipairs { 8, 16, 24, 32, 48, 64, 128 } do
  for _, in_registers in ipairs { true, false } do
    for _, groups in ipairs { 1, 4 } do
      for _, beside in ipairs(in_registers and n <= 32 and groups == 4 and { 0, 8, 16, 24 } or { 0 }) do
        local place = in_registers and "registers" or "shared memory"
        print(("%3d, %s, %d, %2d: %.1f"):format(n, place, groups, beside, cycles(n, in_registers, groups, beside)))
      end
    end
  end
end
