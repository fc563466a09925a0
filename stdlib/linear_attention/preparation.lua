-- What of a chunk does not depend on the state, by a warpgroup of wg.delta_rule's kernel: T and P, 64 x 64 elements of
-- 16 bits each. The preparing warpgroups take chunks in turns. Of segments a summary makes T and leaves it in memory,
-- and the main kernel P.

local wg = require "wgrun"
local gates = require "wgrun.linear_attention.gates"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"
local records = require "wgrun.linear_attention.records"
local panels = require "wgrun.tile.panel"

local module = {}

--- Zeros in so many bytes at the address `to`, by `threads` threads: above the diagonal blocks of T nothing else is
--- stored.
function module.clear(k, to, bytes, thread, threads)
  local zeros = k:regs("b32", 4)
  for i = 0, 3 do k:mov(zeros[i], 0) end
  k:loop({ from = thread, to = bytes // 16, step = threads }, function(unit)
    k:st_shared_v4_b32(to + (unit << 4), zeros)
  end)
end

-- The products K K^T and Q K^T of a stage, a commit group.
local function products(g, keys, queries)
  local k, p = g.k, g.p
  local kk = descriptors.view(k, g.buffers.k, p.k)
  local operands = { p.makes_t and { keys, kk } or nil }
  if p.with_p then operands[#operands + 1] = { queries, descriptors.view(k, g.buffers.q, p.k) } end
  return function(stage)
    local of_k = kk(stage)
    k:wgmma_fence()
    for _, one in ipairs(operands) do
      local of_a = one[2](stage)
      for step = 0, p.dim // 16 - 1 do
        k:wgmma_mma_async(one[1], of_a(step), of_k(step), {
          n = p.chunk, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_a = 0, trans_b = 0,
          scale_d = step == 0 and 0 or 1,
        })
      end
    end
    k:wgmma_commit_group()
  end
end

-- N and P of a chunk, from the products. Stores N, of which nobody reads what is above the diagonal, and leaves P as
-- words. Loads come first and stores last: ptxas keeps their order.
local function triangles(g, me, keys, queries, words_of_p)
  local k, p = g.k, g.p
  local lane, convert = k:special "tid.x" & 31, elements.to_output[p.dtype]
  local pair = (lane & 3) << 1 -- the thread's first column
  local first_row = (me.warp << 4) + (lane >> 2)
  local ahead = k:mov(first_row, { type = "s32" }) - k:mov(pair, { type = "s32" })
  local to = p.makes_t and me.matrix + first_row * (4 * me.line) + (pair << 2)
  return function(stage_of_gates)
    local rows, columns = stage_of_gates + (first_row << 2), stage_of_gates + (pair << 2)
    local sums, betas, of_columns = {}, {}, k:regs("f32", p.chunk // 4)
    for half = 0, 1 do
      sums[half] = k:ld_shared_f32(rows, { offset = (me.offsets.ended or me.offsets.sum) + 32 * half })
      betas[half] = p.makes_t and k:neg(k:ld_shared_f32(rows, { offset = me.offsets.beta + 32 * half }))
    end
    for eight = 0, p.chunk // 8 - 1 do
      k:ld_shared_v2_f32(of_columns:slice(2 * eight, 2), columns, { offset = me.offsets.sum + 32 * eight })
    end
    local n = {}
    for r = 0, #queries - 1 do
      local half = r // 2 % 2
      local decay = k:ex2_approx_ftz(sums[half] - of_columns[r // 4 * 2 + r % 2])
      if p.makes_t then n[r] = elements.nearest_tf32(k, betas[half] * (decay * keys[r])) end
      if p.with_p then
        local product = decay * g.sizes.scale * queries[r]
        k:mov(queries[r], k:selp(product, 0.0, ahead:ge(8 * (r // 4) + r % 2 - 8 * half)))
      end
    end
    for i = 0, p.with_p and #words_of_p - 1 or -1 do
      k:mov(words_of_p[i], convert(k, queries[2 * i], queries[2 * i + 1]))
    end
    for r = 0, p.makes_t and #keys - 1 or -1, 2 do
      k:st_shared_v2_b32(to, { n[r], n[r + 1] }, { offset = 4 * (8 * (r // 2 % 2) * me.line + 8 * (r // 4)) })
    end
  end
end

-- Gives parts of a stage to both CTAs, by one thread: at the other one their bytes complete the phase. parts: lists of
-- an address and bytes.
local function send(g, ring, stage, parts)
  local k, other, bytes = g.k, g.at.half ~ 1, 0
  for _, part in ipairs(parts) do bytes = bytes + part[2] end
  k:mbarrier_arrive(ring:full_barrier(stage))
  local full = k:mapa(ring:full_barrier(stage), other)
  k:mbarrier_arrive_expect_tx(full, bytes, { space = "shared::cluster" })
  for _, part in ipairs(parts) do k:cp_async_bulk_cluster(k:mapa(part[1], other), part[1], part[2], full) end
end

--- Stores blocks of T = (I - N)^-1 diag(beta) at the address `to`: each(i, j, block) as k:triangular_inverse calls
--- it. wait(), where it is given, waits for the stage. Of gradients T has zeros on its diagonal: what that gives, beta
--- times the other operand, is most of the product, and need not be rounded.
function module.storer(g, beta, to, wait)
  local k, p = g.k, g.p
  local lane, convert = k:special "tid.x" & 31, elements.to_output[p.dtype]
  local base = to + ((lane & 7) + ((lane >> 4) << 3)) * 128
  local betas = beta + ((lane >> 2) << 2)
  local diagonal = p.least_beta and (lane >> 2) - ((lane & 3) << 1) -- which of two rows of the block has the column
  return function(i, j, block)
    if i == j and wait then wait() end
    local unit = ((lane >> 3 & 1) + 2 * j) ~ (lane & 7)
    local factors, words = {}, {}
    for half = 0, 1 do
      factors[half] = k:ld_shared_f32(betas, { offset = 64 * j + 32 * half })
    end
    for w = 0, 3 do
      local factor, pair = factors[w % 2], {}
      for r = 0, 1 do
        pair[r] = block[2 * w + r] * factor
        if diagonal and i == j and w % 3 == 0 then pair[r] = k:selp(0.0, pair[r], diagonal:eq(r)) end
      end
      words[w + 1] = convert(k, pair[0], pair[1])
    end
    k:stmatrix_x4(base + (unit << 4), words, { trans = 1, offset = 16 * 128 * i })
  end
end

--- The role of the preparing warpgroup `number`, a register.
function module.emit(g, number)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local thread, triangular = k:special "tid.x", wg.triangular()
  local me = {
    warp = k:shfl_sync_idx_b32(thread >> 5 & 3, 0, 31), line = triangular.line,
    matrix = p.makes_t and k:address(g.buffers.n, k:mul(number, triangular.bytes)),
    panel = wg.panel { dtype = p.dtype, n = p.chunk },
  }
  local stage_at
  me.offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local lane, barrier = thread & 31, number + 1
  local turn = number + p.preparers * at.half
  local keys, queries = k:regs("f32", p.chunk // 2), k:regs("f32", p.chunk // 2)
  local words_of_p = k:regs("b32", p.chunk // 4)
  local multiply, store_triangles = products(g, keys, queries), triangles(g, me, keys, queries, words_of_p)
  local cursor, ring = rings.keys:cursor(), rings.prepared
  rings.keys:skip(cursor, turn)
  -- Of T and P always the same stage: the warpgroup's number, in its CTA or, with as many stages, in both.
  local alone = p.t_stages > p.preparers
  local own = alone and turn or number
  local stage = { stage = own }
  -- Both CTAs tell the one that prepares a stage next that they are done with it: where that is the other one, the
  -- second one from the first chunk on.
  local free = k:mov(alone and 1 or at.half ~ 1, { type = "u32" })
  local function wait() k:mbarrier_wait(ring:empty_barrier(stage), free) end
  local t = p.makes_t and k:address(g.buffers.t, own * p.t.bytes)
  local of_p = p.with_p and k:address(g.buffers.p, own * p.t.bytes)
  local pieces = of_p and panels.pieces(me.panel, of_p, lane, me.warp)(0, 0)
  local function store_p()
    for i, piece in ipairs(pieces) do
      k:stmatrix_x4(piece.at, words_of_p:slice(4 * (i - 1), 4), { offset = piece.offset })
    end
  end
  local function send_p()
    k:mbarrier_wait(rings.of_p:empty_barrier(stage), free)
    store_p()
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    local rows = p.t.bytes // 4 -- the warp's
    k:if_(lane:eq(0), function() send(g, rings.of_p, stage, { { of_p + me.warp * rows, rows } }) end)
  end

  local leader = (thread & 127):eq(0)
  local function read_t() k:if_(leader, function() k:cp_async_bulk_wait_group(0, { read = true }) end) end
  k:loop({ from = turn, to = at.chunks, step = p.preparers * p.sharing }, function(chunk)
    rings.keys:wait(cursor)
    multiply(cursor.stage)
    k:wgmma_wait_group(0)
    local stage_of_gates = stage_at(cursor.stage)
    store_triangles(stage_of_gates)
    if rings.of_p then send_p() end
    if p.summary then read_t() end -- before the barrier of the inverse
    if p.makes_t then
      k:triangular_inverse {
        matrix = me.matrix, barrier = barrier, each = module.storer(g, stage_of_gates + me.offsets.beta, t, wait),
      }
    else
      wait()
    end
    k:xor(free, free, 1)
    if of_p and not rings.of_p then store_p() end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(barrier, { threads = 128 }) -- T and P are complete, and all warps have read N
    local parts = { p.makes_t and { t, p.t.bytes } or nil }
    if of_p and not rings.of_p then parts[#parts + 1] = { of_p, p.t.bytes } end
    k:if_(leader, function()
      send(g, ring, stage, parts)
      if p.summary then -- the main kernel has T from there
        local record = records.place(k, p, g.sizes.records, (at.record + chunk) * p.heads + at.head)
        k:cp_async_bulk_store(record, t, p.t.bytes)
        k:cp_async_bulk_commit_group()
      end
    end)
    rings.keys:release(cursor, { lane = lane })
    rings.keys:skip(cursor, p.preparers * p.sharing)
  end)
  if p.summary then read_t() end
end

return module
