-- Cycles that an mma.sync m16n8k16 of bf16 takes on a fourth of an SM, by the warps there and the chains of sums of each, and with
-- other instructions of the same warps beside it: wgrun mma_sync.lua [GRID [ROUNDS]].
local wg = require "wgrun"
local grid, rounds = tonumber(arg[1]) or 132, tonumber(arg[2]) or 128
local steps = 16 -- mma.sync of a turn

-- beside: additions, or logic, for each mma.sync of a warp.
local function cycles(warps, chains, beside, logic)
  local kernel = wg.kernel("mma_sync", { threads = 128 * warps }, function(k)
    local out, turns = k:param("out", "f32*"), k:param("turns", "u32")
    local thread = k:special "tid.x"
    local acc, a, b = k:regs("f32", 4 * chains), k:regs("b32", 8), k:regs("b32", 8)
    local sums, words = k:regs("f32", 8), k:regs("b32", 8)
    for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end
    for r = 0, 7 do
      k:mov(a[r], thread)
      k:mov(b[r], thread)
      k:mov(sums[r], 1.0)
      k:mov(words[r], thread)
    end
    local form = { d = "f32", a = "bf16", b = "bf16", k = 16 }
    k:bar_sync(0)
    local began = k:mov(k:special "clock", { type = "u32" })
    k:loop(turns, function()
      for step = 0, steps - 1 do
        local d = acc:slice(4 * (step % chains), 4)
        k:mma_sync(d, a:slice(4 * (step // 2 % 2), 4), b:slice(2 * (step % 4), 2), d, form)
        for i = beside * step, beside * (step + 1) - 1 do
          if logic then
            k:lop3_b32(words[i % 8], words[i % 8], words[(i + 3) % 8], words[(i + 5) % 8], 0x6A)
          else
            k:fma(sums[i % 8], sums[i % 8], sums[i % 8], sums[i % 8])
          end
        end
      end
    end)
    local ended = k:mov(k:special "clock", { type = "u32" })
    local used = k:mov(0.0, { type = "f32" })
    for r = 0, #acc - 1 do k:add(used, used, acc[r]) end
    for r = 0, 7 do
      k:add(used, used, sums[r])
      k:add(used, used, k:cvt_rn_f32_u32(k:mov(words[r], { type = "u32" })))
    end
    local first = k:special("ctaid.x"):eq(0)
    k:st_global_f32(k:element(out, thread), k:cvt_rn_f32_u32(ended - began), { guard = first })
    k:st_global_f32(k:element(out, thread + 128 * warps), used, { guard = first })
  end)
  local out, most = wg.zeros("f32", { 256 * warps }), 0
  for _ = 1, 2 do kernel:run { grid = grid, args = { out, rounds } } end
  for i = 0, 128 * warps - 1, 32 do most = math.max(most, out[i]) end
  return most / (rounds * steps * warps)
end

print "warps, chains, instructions beside: cycles"
for _, warps in ipairs { 1, 2, 4 } do
  for _, chains in ipairs { 1, 4, 8 } do
    for _, beside in ipairs(chains == 8 and { 0, 2, 4, 6, 8, 12 } or { 0 }) do
      for _, logic in ipairs(beside > 0 and { false, true } or { false }) do
        print(("%d, %d, %2d %s: %.1f"):format(warps, chains, beside, logic and "LOP3" or "FFMA", cycles(warps, chains, beside, logic)))
      end
    end
  end
end
