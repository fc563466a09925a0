-- P of a chunk, by a warpgroup of wg.ssd's kernel: 64 x 64 elements of 16 bits. The preparing warpgroups take chunks in
-- turns.

local gates = require "wgrun.linear_attention.gates"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"

local module = {}

-- C B^T of a stage, a commit group.
local function product(g, acc)
  local k, p = g.k, g.p
  local of_b, of_c = descriptors.view(k, g.buffers.k, p.k), descriptors.view(k, g.buffers.q, p.k)
  return function(stage)
    local b, c = of_b(stage), of_c(stage)
    k:wgmma_fence()
    for step = 0, p.dim // 16 - 1 do
      k:wgmma_mma_async(acc, c(step), b(step), {
        n = p.chunk, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_a = 0, trans_b = 0,
        scale_d = step == 0 and 0 or 1,
      })
    end
    k:wgmma_commit_group()
  end
end

--- The role of the preparing warpgroup `number`, a register.
function module.emit(g, number)
  local k, p, at, keys, ring = g.k, g.p, g.at, g.rings.keys, g.rings.prepared
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31)
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local acc, words, convert = k:regs("f32", p.chunk // 2), k:regs("b32", p.chunk // 4), elements.to_output[p.dtype]
  local multiply = product(g, acc)
  local pair, first_row = (lane & 3) << 1, (warp << 4) + (lane >> 2)
  local ahead = k:mov(first_row, { type = "s32" }) - k:mov(pair, { type = "s32" })
  local pieces = panels.pieces(p.matrix, k:address(g.buffers.p, number * p.t.bytes), lane, warp)(0, 0)
  local cursor, stage, free = keys:cursor(), { stage = number }, k:mov(1, { type = "u32" })
  keys:skip(cursor, number)

  k:loop({ from = number, to = at.chunks, step = p.preparers }, function()
    keys:wait(cursor)
    multiply(cursor.stage)
    local rows, columns = stage_at(cursor.stage) + (first_row << 2), stage_at(cursor.stage) + (pair << 2)
    local sums, sources = {}, k:regs("f32", p.chunk // 4)
    for half = 0, 1 do sums[half] = k:ld_shared_f32(rows, { offset = offsets.sum + 32 * half }) end
    for eight = 0, p.chunk // 8 - 1 do
      k:ld_shared_v2_f32(sources:slice(2 * eight, 2), columns, { offset = offsets.source + 32 * eight })
    end
    k:wgmma_wait_group(0)
    k:bar_warp_sync(0xFFFFFFFF)
    keys:release(cursor, { lane = lane, cluster = p.multicast })
    keys:skip(cursor, p.preparers)
    for r = 0, #acc - 1 do
      local half = r // 2 % 2
      local value = k:ex2_approx_ftz(sums[half] - sources[r // 4 * 2 + r % 2]) * acc[r]
      k:mov(acc[r], k:selp(value, 0.0, ahead:ge(8 * (r // 4) + r % 2 - 8 * half)))
    end
    for i = 0, #words - 1 do k:mov(words[i], convert(k, acc[2 * i], acc[2 * i + 1])) end
    k:mbarrier_wait(ring:empty_barrier(stage), free)
    k:xor(free, free, 1)
    for i, piece in ipairs(pieces) do
      k:stmatrix_x4(piece.at, words:slice(4 * (i - 1), 4), { offset = piece.offset })
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(stage), { guard = lane:eq(0) })
  end)
end

return module
