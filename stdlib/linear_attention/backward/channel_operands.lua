-- The warpgroup of wg.delta_rule_backward's kernel for decays of each channel that makes operands of the rows of a
-- chunk (backward/channel_kernel.lua), and has dg and dbeta (backward/channel_gates.lua). A warp has two bands of eight
-- tokens, of which a lane has four channels. With G as it is in the middle of a band, behind its fourth token, rows
-- become
--
--   queries   scale q_i exp(G_i - G)    keys   k_i exp(G_i - G)    columns   k_j exp(G - G_j)
--
-- A decay counts as exp(-10) at least (linear_attention/channel_preparation.lua), so that no factor is above exp(40).

local channel_gates = require "wgrun.linear_attention.backward.channel_gates"
local channel_rows = require "wgrun.linear_attention.channel_rows"
local units = require "wgrun.linear_attention.backward.units"
local elements = require "wgrun.tile.elements"
local native = require "wgrun.native"

local module = {}

module.bands, module.warps = 8, 4
local bands <const>, warps_of_chunk <const> = module.bands, module.warps
local rows <const>, half_band <const> = 16, 4 -- of a warp, and those that are loaded at once

--- The arrays of decays, of each channel: 0 to 7 up to the middle of that band, from the middle of the band before; 8
--- to 15 from the middle of band 0 to 7 to the end of the chunk.
module.decays = 2 * bands

-- The warp's rows, each times its factors, the logarithms of these, base 2, and those of the decays of its bands, up to
-- the middle and from there on.
local function store_rows(g, me, here, head)
  local k, p, sizes, at = g.k, g.p, g.sizes, here.at
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local bytes = native.element_bytes[p.g_dtype]
  local token = (at.chunk << 6) + me.warp * rows
  local first = at.first + token
  local function place(tensor, heads, of_head, size)
    return k:mad_wide_u32(me.lane, 4 * size, k:mad_wide_u32(first * heads + of_head, p.dim * size, tensor))
  end
  local of_k, of_q = place(sizes.K, p.qk_heads, at.qk_head, 2), place(sizes.Q, p.qk_heads, at.qk_head, 2)
  local of_g = place(sizes.g, p.heads, head, bytes)
  local load_g = bytes == 4 and k.ld_global_v4_f32 or k.ld_global_v2_b32
  local logs = k:address(g.buffers.logs) + me.warp * rows * channel_gates.line + (me.lane << 4)
  local line = channel_gates.place_in_tile(k, p, me)
  local to = {}
  for _, name in ipairs { "queries", "keys", "columns" } do to[name] = k:address(g.buffers[name]) + line end
  local words = { k = k:regs("b32", 2 * half_band), q = k:regs("b32", 2 * half_band) }
  local read = k:regs(bytes == 4 and "f32" or "b32", bytes * half_band)
  local left = k:mov(at.tokens, { type = "s32" }) - k:mov(token, { type = "s32" })

  local function load(row_of)
    for i = 0, half_band - 1 do
      local row = row_of(i)
      local inside = left:gt(row)
      for e = 0, bytes - 1 do k:mov(read[bytes * i + e], bytes == 4 and 0.0 or 0) end
      for e = 0, 1 do
        k:mov(words.k[2 * i + e], 0)
        k:mov(words.q[2 * i + e], 0)
      end
      load_g(k, read:slice(bytes * i, bytes), of_g, { offset = row * p.heads * p.dim * bytes, guard = inside })
      for _, one in ipairs { { words.k, of_k }, { words.q, of_q } } do
        k:ld_global_v2_b32(one[1]:slice(2 * i, 2), one[2], { offset = row * p.qk_heads * p.dim * 2, guard = inside })
      end
    end
  end
  local function logarithms(i)
    local out = {}
    for c = 0, 3 do
      local value = bytes == 4 and read[4 * i + c]
        or select(c % 2 + 1, elements.from_output.bf16(k, read[2 * i + c // 2]))
      out[c] = k:max(value * channel_rows.log2_e, channel_rows.least)
    end
    return out
  end
  local function store(name, row, of, factors)
    local out = {}
    for i = 0, 1 do
      local x, y = split(k, of[i])
      out[i + 1] = convert(k, x * factors[2 * i], y * factors[2 * i + 1])
    end
    k:st_shared_v2_b32((to[name] ~ ((row & 7) << 4)), out, { offset = row << 7 })
  end
  local sums = {}
  local function store_row(i, row)
    local behind, before = {}, {}
    for c = 0, 3 do
      behind[c], before[c] = k:ex2_approx_ftz(sums[c]), k:ex2_approx_ftz(k:neg(sums[c]))
    end
    k:st_shared_v4_f32(logs, { sums[0], sums[1], sums[2], sums[3] }, { offset = row * channel_gates.line })
    local of_k, scaled = words.k:slice(2 * i, 2), {}
    store("keys", row, of_k, behind)
    store("columns", row, of_k, before)
    for c = 0, 3 do scaled[c] = behind[c] * sizes.scale end
    store("queries", row, words.q:slice(2 * i, 2), scaled)
  end

  local function begin()
    for c = 0, 3 do sums[c] = k:mov(0.0, { type = "f32" }) end
  end
  local edges = k:address(g.buffers.edges) + me.warp * (4 * p.decay_bytes) + (me.lane << 4)
  for middle = half_band, rows - 1, 2 * half_band do
    local number = middle // (2 * half_band)
    begin()
    load(function(i) return middle + i end)
    for i = 0, half_band - 1 do -- rows behind the middle
      local of_row = logarithms(i)
      for c = 0, 3 do sums[c] = sums[c] + of_row[c] end
      store_row(i, middle + i)
    end
    k:st_shared_v4_f32(edges, { sums[0], sums[1], sums[2], sums[3] }, { offset = (2 * number + 1) * p.decay_bytes })
    begin()
    load(function(i) return middle - 1 - i end)
    for i = 0, half_band - 1 do -- those before it, from the last one on
      store_row(i, middle - 1 - i)
      local of_row = logarithms(i)
      for c = 0, 3 do sums[c] = sums[c] - of_row[c] end
    end
    local upto = {}
    for c = 0, 3 do upto[c + 1] = k:neg(sums[c]) end
    k:st_shared_v4_f32(edges, upto, { offset = 2 * number * p.decay_bytes })
  end
end

-- Fetches the rows that this role loads for the same head, or the same of a group, of the CTA's next unit into the L2
-- cache: a thread has half a row of each tensor.
local function prefetch(g, me, here, number)
  local k, p, sizes, at, is_one = g.k, g.p, g.sizes, units.next_place(here)
  local head = number and k:mad_lo_u32(at.qk_head, p.heads // p.qk_heads, number) or at.qk_head
  local token = (at.chunk << 6) + (me.thread >> 1)
  local guard = token:lt(at.tokens) & is_one
  local function fetch(tensor, heads, of_head, size)
    local row = k:mad_wide_u32((at.first + token) * heads + of_head, p.dim * size, tensor)
    local from = k:mad_wide_u32(me.thread & 1, p.dim * size // 2, row)
    for line = 0, p.dim * size // 2 - 1, 128 do k:prefetch_global_L2(from, { offset = line, guard = guard }) end
  end
  fetch(sizes.g, p.heads, head, native.element_bytes[p.g_dtype])
  fetch(sizes.V, p.heads, head, 2)
  fetch(sizes.K, p.qk_heads, at.qk_head, 2)
  fetch(sizes.Q, p.qk_heads, at.qk_head, 2)
end

-- The decays between bands, from the logarithms that the warps have stored: a thread for each channel. Returns the
-- logarithm of the chunk's decay.
local function store_decays(g, me)
  local k, p, band = g.k, g.p, {}
  local from, to = k:address(g.buffers.edges) + (me.thread << 2), k:address(g.buffers.decays) + (me.thread << 2)
  for i = 0, 2 * bands - 1 do band[i] = k:ld_shared_f32(from, { offset = i * p.decay_bytes }) end
  local rest = band[2 * bands - 1]
  for i = bands - 1, 0, -1 do
    local upto = i > 0 and band[2 * i - 1] + band[2 * i] or band[0]
    k:st_shared_f32(to, k:ex2_approx_ftz(upto), { offset = i * p.decay_bytes })
    k:st_shared_f32(to, k:ex2_approx_ftz(rest), { offset = (bands + i) * p.decay_bytes })
    rest = rest + upto
  end
  return rest
end

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, buffers = g.k, g.p, g.rings, g.buffers
  local thread = k:special "tid.x" & 127
  local me = { thread = thread, lane = thread & 31, warp = k:shfl_sync_idx_b32(thread >> 5, 0, 31) }
  local operands, states, sums = rings.operands:cursor(), rings.states:cursor(), rings.sums:cursor()
  local of_rows = rings.rows:cursor()
  local function arrive(barrier) k:mbarrier_arrive(barrier, { guard = me.lane:eq(0) }) end
  units.each(g, function(here)
    units.heads(here, function(head, number)
      rings.operands:acquire(operands)
      store_rows(g, me, here, head)
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(1, { threads = 128 })
      local whole = store_decays(g, me)
      k:bar_warp_sync(0xFFFFFFFF)
      arrive(rings.operands:full_barrier(operands))
      rings.operands:advance(operands)

      rings.rows:wait(of_rows)
      local products = channel_gates.value_products(g, me, here, head)
      k:bar_warp_sync(0xFFFFFFFF)
      rings.rows:release(of_rows, { lane = me.lane })
      rings.rows:advance(of_rows)
      rings.states:wait(states)
      local last = channel_gates.state_product(g, me) * k:ex2_approx_ftz(whole)
      k:bar_warp_sync(0xFFFFFFFF)
      rings.states:release(states, { lane = me.lane })
      rings.states:advance(states)

      prefetch(g, me, here, number)
      rings.sums:wait(sums)
      for warp = 0, warps_of_chunk - 1 do
        last = last + k:ld_shared_f32(k:address(buffers.sums) + (me.thread << 2), { offset = warp * p.decay_bytes })
      end
      channel_gates.store_dbeta(g, me, here, head, products)
      channel_gates.sum_up(g, me, here, head, last)
      k:bar_sync(1, { threads = 128 }) -- all threads have read logarithms and edges, which other warps store anew
      arrive(rings.sums:empty_barrier(sums))
      rings.sums:advance(sums)
    end)
  end)
end

return module
