-- P of a chunk, by a warpgroup of wg.ssd's kernel: 64 x 64 elements of 16 bits for each head of the CTA.

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

--- The role of the warpgroup.
function module.emit(g)
  local k, p, keys, ring = g.k, g.p, g.rings.keys, g.rings.prepared
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31)
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local acc, words, convert = k:regs("f32", p.chunk // 2), k:regs("b32", p.chunk // 4), elements.to_output[p.dtype]
  local multiply, cursor, free = product(g, acc), keys:cursor(), ring:cursor()
  local pair, first_row = (lane & 3) << 1, (warp << 4) + (lane >> 2)
  local ahead = k:mov(lane >> 2, { type = "s32" }) - k:mov(pair, { type = "s32" }) -- on the diagonal
  local pieces = panels.pieces(p.matrix, k:address(g.buffers.p), lane, warp)(0, 0)

  -- What a head's chunk has for the thread's rows and columns: G of the rows, and less that of the first of the warp's
  -- 16; the sources of the columns on the diagonal; the weights of those before it.
  local function load_gates(stage)
    local from = stage_at(stage)
    local rows, columns, of = from + (first_row << 2), from + (pair << 2), { sums = {}, within = {} }
    local first = k:ld_shared_f32(from + (warp << 6), { offset = offsets.sum })
    for half = 0, 1 do
      of.sums[half] = k:ld_shared_f32(rows, { offset = offsets.sum + 32 * half })
      of.within[half] = k:ex2_approx_ftz(of.sums[half] - first)
    end
    local function load(name, count, at)
      local out = k:regs("f32", 2 * count)
      for eight = 0, count - 1 do
        k:ld_shared_v2_f32(out:slice(2 * eight, 2), at, { offset = offsets[name] + 32 * eight })
      end
      return out
    end
    of.sources = load("source", 2, columns + (warp << 6))
    of.before = load("before", p.chunk // 8, columns + warp * (4 * p.chunk))
    return of
  end

  -- P of a head, as words. Exponentials of differences are needed on the diagonal alone: before it, the decay is the
  -- product of that up to the warp's first row and that of the row from there.
  local function convert_head(of)
    local function convert_pairs(first, count, element)
      for i = first, first + count - 1 do
        k:mov(words[i], convert(k, element(2 * i), element(2 * i + 1)))
      end
    end
    convert_pairs(0, #words, function(r)
      return acc[r] * (of.before[r // 4 * 2 + r % 2] * of.within[r // 2 % 2])
    end)
    for block = 0, p.chunk // 16 - 1 do
      k:if_(warp:eq(block), function()
        convert_pairs(4 * block, 4, function(r)
          local half, eight = r // 2 % 2, r // 4 % 2
          local value = k:ex2_approx_ftz(of.sums[half] - of.sources[2 * eight + r % 2]) * acc[r]
          return k:selp(value, 0.0, ahead:ge(8 * eight + r % 2 - 8 * half))
        end)
      end)
    end
  end

  k:loop(g.at.chunks, function()
    keys:wait(cursor)
    multiply(cursor.stage)
    for head = 0, p.gated - 1 do
      local of = load_gates(cursor.stage * p.gated + head)
      if head == 0 then k:wgmma_wait_group(0) end
      if head == p.gated - 1 then
        k:bar_warp_sync(0xFFFFFFFF)
        keys:release(cursor, { lane = lane, cluster = p.multicast })
        keys:advance(cursor)
      end
      convert_head(of)
      if head == 0 then ring:acquire(free) end
      local to = (free.stage * p.gated + head) * p.t.bytes
      for i, piece in ipairs(pieces) do
        k:stmatrix_x4(piece.at + to, words:slice(4 * (i - 1), 4), { offset = piece.offset })
      end
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(free), { guard = lane:eq(0) })
    ring:advance(free)
  end)
end

return module
