-- The preparation of chunks whose decays differ by channel of K (Kimi delta attention), in a kernel of its own: a CTA
-- has a chunk of a head. With e the decays of the chunk, and between two tokens the product of those behind the first
-- one up to the second one:
--
--   N_ij = -beta_i sum over c of k_ic (e_(j+1)c ... e_ic) k_jc,  j < i;   P_ij likewise with scale q_i, j <= i
--
-- No quotient of sums of decays is formed over more than eight tokens, where it could not be represented: the tokens
-- are cut into eight bands of eight. A row is multiplied by the decays since its band began, or up to its band's end,
-- and what lies between two bands is a factor for each channel. All of these are at most 1. Within a band the factor
-- is the reciprocal of the band's decay, at most e^80 since decays below e^-10 count as e^-10: a change that is a
-- hundred times smaller than the rounding of bf16.

local wg = require "wgrun"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local preparation = require "wgrun.linear_attention.preparation"
local records = require "wgrun.linear_attention.records"
local elements = require "wgrun.tile.elements"

local module = {}

local threads, band_rows, bands = 256, 8, 8
local log2_e = math.log(math.exp(1), 2)
local least = -10 * log2_e -- of a token's decay, as a power of 2

--- The kernel's parameters. A launch has each under its name.
function module.parameters(p)
  return parameters.rows {
    { "K", ("const %s*"):format(p.dtype) }, { "Q", ("const %s*"):format(p.dtype) },
    { "g", "const f32*", "the logarithm of the decay, tokens x heads x 128" }, { "beta", "const f32*", "tokens x heads" },
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" },
    p.packed and { "sequences", "u32" } or false,
    { "scale", "f32" }, { "records", "f32*", "for each chunk and head" },
  }
end

-- What the CTA prepares: head, qk_head; record, its number; row, the chunk's first one in the tensors; left, the number
-- of the sequence's tokens from there on, which is 0 or less for a record that no sequence has.
local function chunk_of(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local at = { head = k:special "ctaid.x" }
  at.qk_head = division.divided(k, at.head, p.heads // p.qk_heads)
  local chunk, batch, start, tokens = k:special "ctaid.y", nil, nil, sizes.tokens
  if p.packed then
    at.record = chunk
    batch, start, tokens = records.sequence(k, sizes, chunk)
    chunk = chunk - records.first_packed(start, batch)
  else
    batch = k:special "ctaid.z"
    at.record, start = batch * k:special "nctaid.y" + chunk, batch * tokens
  end
  at.row = start + (chunk << 6)
  at.left = k:mov(tokens, { type = "s32" }) - k:mov(chunk << 6, { type = "s32" })
  return at
end


-- The thread's rows, those of its warp's band, in four channels: words of K and Q, two channels each, and decays. Rows
-- behind the sequence's last token have K = Q = 0 and no decay.
local function load_rows(g, me)
  local k, p, sizes, at = g.k, g.p, g.sizes, g.at
  local rows = { k = k:regs("b32", 2 * band_rows), q = k:regs("b32", 2 * band_rows), e = k:regs("f32", 4 * band_rows) }
  local first = at.row + me.warp * band_rows
  local function place(tensor, heads, head, size)
    return k:mad_wide_u32(me.lane, 4 * size, k:mad_wide_u32(first * heads + head, p.dim * size, tensor))
  end
  local of_k, of_q = place(sizes.K, p.qk_heads, at.qk_head, 2), place(sizes.Q, p.qk_heads, at.qk_head, 2)
  local of_g = place(sizes.g, p.heads, at.head, 4)
  for i = 0, #rows.k - 1 do
    k:mov(rows.k[i], 0)
    k:mov(rows.q[i], 0)
  end
  for i = 0, #rows.e - 1 do k:mov(rows.e[i], 0.0) end
  local band = k:mov(me.warp * band_rows, { type = "s32" })
  for r = 0, band_rows - 1 do
    local inside = (band + r):lt(at.left)
    k:ld_global_v4_f32(rows.e:slice(4 * r, 4), of_g, { offset = r * p.heads * p.dim * 4, guard = inside })
    for name, from in pairs { k = of_k, q = of_q } do
      k:ld_global_v2_b32(rows[name]:slice(2 * r, 2), from, { offset = r * p.qk_heads * p.dim * 2, guard = inside })
    end
  end
  for i = 0, #rows.e - 1 do k:ex2_approx_ftz_f32(rows.e[i], k:max(rows.e[i] * log2_e, least)) end
  return rows
end

-- Returns store(name, r, words, factors): the thread's four elements of a row, each times a factor, to the tile `name`.
local function row_writer(g, me)
  local k, p = g.k, g.p
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local unit, bases = (me.lane >> 1 & 7) << 4, {}
  local inside = k:mul(me.lane >> 4, p.k:offset(0, 64)) + (me.warp * band_rows << 7) + ((me.lane & 1) << 3)
  for _, name in ipairs { "k", "q", "r" } do bases[name] = k:address(g.buffers[name]) + inside end
  return function(name, r, words, factors)
    local out = {}
    for i = 0, 1 do
      local x, y = split(k, words[2 * r + i])
      out[i + 1] = convert(k, x * factors[2 * i], y * factors[2 * i + 1])
    end
    k:st_shared_v2_b32(bases[name] + (unit ~ (r << 4)), out, { offset = r << 7 })
  end
end

-- Stores K and Q times the decays since `since`, up to each row, and K times those from each row up to `upto`: four
-- channels each, which are left multiplied by the band's decays. scale: of Q, or nil.
local function store_rows(g, rows, store, since, upto, scale)
  local k = g.k
  for r = 0, band_rows - 1 do
    local of_q = {}
    for c = 0, 3 do
      k:mul(since[c], since[c], rows.e[4 * r + c])
      of_q[c] = scale and since[c] * scale or since[c]
    end
    store("k", r, rows.k, since)
    store("q", r, rows.q, of_q)
  end
  for r = band_rows - 1, 0, -1 do
    store("r", r, rows.k, upto)
    for c = 0, 3 do k:mul(upto[c], upto[c], rows.e[4 * r + c]) end
  end
end

local function ones(k)
  local out = k:regs("f32", 4)
  for c = 0, 3 do k:mov(out[c], 1.0) end
  return out
end

-- The decays of all bands before the warp's, and of all behind it.
local function around(g, me)
  local k, before, behind = g.k, ones(g.k), ones(g.k)
  for band = 0, bands - 1 do
    local of_band = k:ld_shared_v4_f32(me.totals + (me.lane << 4), { offset = 512 * band })
    for c = 0, 3 do
      k:mul(before[c], before[c], of_band[c], { guard = me.warp:gt(band) })
      k:mul(behind[c], behind[c], of_band[c], { guard = me.warp:lt(band) })
    end
  end
  return before, behind
end

-- Sums over channels for the rows of two bands, 2 `pair` and the next one, of K or of Q, whose tile is at `from`: for
-- each band of columns up to the second one four accumulators of mma.m16n8k16 (PTX ISA 9.7.14.5.9).
local function products(g, me, pair, from)
  local k, p = g.k, g.p
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local lane, sums = me.lane, {}
  for band = 0, 2 * pair + 1 do
    sums[band] = k:regs("f32", 4)
    for r = 0, 3 do k:mov(sums[band][r], 0.0) end
  end
  local in_line, panel = lane & 7, p.k:offset(0, 64)
  local of_rows = from + ((lane & 15) + 16 * pair << 7)
  local of_columns = k:address(g.buffers.r) + (in_line + ((lane >> 4) << 3) << 7)
  k:loop(p.dim // 16, function(step)
    local function place(base, upper) -- of the unit that the lane points to: `upper` is 1 for the second eight channels
      return base + (step >> 2) * panel + ((((step & 3) << 1) + upper ~ in_line) << 4)
    end
    local words = k:ldmatrix_x4(place(of_rows, lane >> 4))
    local low, high, column = {}, {}, place(of_columns, lane >> 3 & 1)
    for i = 0, 1 do
      low[2 * i], low[2 * i + 1] = split(k, words[2 * i])
      high[2 * i], high[2 * i + 1] = split(k, words[2 * i + 1])
    end
    local function times(x, y)
      local out = {}
      for c = 0, 3 do out[c] = x[c] * y[c] end
      return out
    end
    local of_channels = me.totals + (step << 6) + ((lane & 3) << 3)
    local function total(band)
      local of_band = k:regs("f32", 4)
      for i = 0, 1 do k:ld_shared_v2_f32(of_band:slice(2 * i, 2), of_channels, { offset = 512 * band + 32 * i }) end
      return of_band
    end
    local function reciprocal(x)
      local out = {}
      for c = 0, 3 do out[c] = k:rcp_approx_ftz(x[c]) end
      return out
    end
    local function add(band, x, y, of_b)
      local a = k:regs("b32", 4)
      for i = 0, 1 do
        k:mov(a[2 * i], x and convert(k, x[2 * i], x[2 * i + 1]) or 0)
        k:mov(a[2 * i + 1], convert(k, y[2 * i], y[2 * i + 1]))
      end
      k:mma_sync(sums[band], a, of_b, sums[band], { d = "f32", a = p.dtype, b = p.dtype, k = 16 })
    end
    local of_b = k:ldmatrix_x4(column, { offset = 2048 * pair })
    local first, second = total(2 * pair), total(2 * pair + 1)
    add(2 * pair, times(low, reciprocal(first)), high, of_b:slice(0, 2))
    add(2 * pair + 1, nil, times(high, reciprocal(second)), of_b:slice(2, 2))
    high = times(high, first)
    local between
    for band = 2 * pair - 1, 0, -1 do
      if band % 2 == 1 then of_b = k:ldmatrix_x4(column, { offset = 1024 * (band - 1) }) end
      add(band, between and times(low, between) or low, between and times(high, between) or high,
        of_b:slice(band % 2 * 2, 2))
      if band > 0 then between = between and times(between, total(band)) or total(band) end
    end
  end)
  return sums
end

-- N of the rows of two bands, as k:triangular_inverse reads it.
local function store_n(g, me, pair, sums)
  local k = g.k
  local row = (me.lane >> 2) + 16 * pair
  local to = k:address(g.buffers.n) + row * (4 * me.line) + ((me.lane & 3) << 3)
  for half = 0, 1 do
    local beta = k:neg(k:ld_shared_f32(k:address(g.buffers.beta) + (row << 2), { offset = 32 * half }))
    for band = 0, 2 * pair + half do
      local words = {}
      for i = 0, 1 do words[i + 1] = elements.nearest_tf32(k, sums[band][2 * half + i] * beta) end
      k:st_shared_v2_b32(to, words, { offset = 32 * me.line * half + 32 * band })
    end
  end
end

-- P of these rows, 0 above the diagonal.
local function store_p(g, me, pair, sums)
  local k, p = g.k, g.p
  local convert, in_line = elements.to_output[p.dtype], me.lane >> 2
  local pair_of_columns = (me.lane & 3) << 1
  local to = k:address(g.buffers.p) + (in_line + 16 * pair << 7) + (pair_of_columns << 1)
  for band = 0, bands - 1 do
    for half = 0, 1 do
      local word
      if band > 2 * pair + half then
        word = 0
      else
        local x = {}
        for i = 0, 1 do
          x[i] = sums[band][2 * half + i] * g.sizes.scale
          if band == 2 * pair + half then x[i] = k:selp(x[i], 0.0, in_line:ge(pair_of_columns + i)) end
        end
        word = convert(k, x[0], x[1])
      end
      k:st_shared_b32(to + ((in_line ~ band) << 4), word, { offset = 1024 * half })
    end
  end
end

-- Copies parts of the record to memory, by one thread, which waits until they have been read.
local function send(g, wanted)
  local k, p = g.k, g.p
  local to, offset = records.place(k, p, g.sizes.records, g.at.record, g.at.head), 0
  for _, part in ipairs(records.parts(p)) do
    local name, bytes = part[1], part[2]
    if wanted(name) then k:cp_async_bulk_store(to + offset, k:address(g.buffers[name]), bytes) end
    offset = offset + bytes
  end
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0, { read = true })
end

-- beta of the chunk's tokens, in shared memory; 0 behind the last one.
local function load_beta(g, thread)
  local k, p, at = g.k, g.p, g.at
  k:if_(thread:lt(p.chunk), function()
    local beta, inside = k:mov(0.0, { type = "f32" }), k:mov(thread, { type = "s32" }):lt(at.left)
    k:ld_global_f32(beta, k:element(g.sizes.beta, (at.row + thread) * p.heads + at.head), { guard = inside })
    k:st_shared_f32(k:address(g.buffers.beta, thread << 2), beta)
  end)
end

--- The kernel of a plan, with these parameters. Its CTAs are head, chunk and sequence; of packed ones head and record.
function module.make(p, list)
  local kernel = wg.kernel(p.name .. "_preparation", { threads = threads }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    local triangular = wg.triangular()
    g.buffers = { n = k:shared { bytes = triangular.bytes, align = 16, name = "N" } }
    for _, part in ipairs(records.parts(p)) do
      g.buffers[part[1]] = k:shared { bytes = part[2], align = 1024, name = part[1]:upper() }
    end
    g.buffers.beta = k:shared { bytes = 4 * p.chunk, align = 16, name = "beta" }
    local totals = k:shared { bytes = bands * p.decay_bytes, align = 16, name = "totals" }
    local thread = k:special "tid.x"
    local me = {
      lane = thread & 31, warp = k:shfl_sync_idx_b32(thread >> 5, 0, 31), line = triangular.line,
      totals = k:address(totals),
    }
    g.at = chunk_of(g)
    local rows = load_rows(g, me)
    load_beta(g, thread)
    preparation.clear(g, 1, threads)
    local store, since, upto = row_writer(g, me), ones(k), ones(k)
    store_rows(g, rows, store, since, upto)
    local mine = me.lane << 4
    k:st_shared_v4_f32(me.totals + (me.warp << 9) + mine, since)
    k:bar_sync(0)
    for pair = 0, bands // 2 - 1 do
      k:if_((me.warp & 3):eq(pair), function()
        local of_k = me.warp:lt(4)
        local sums = products(g, me, pair, k:selp(k:address(g.buffers.k), k:address(g.buffers.q), of_k))
        k:if_(of_k, function() store_n(g, me, pair, sums) end, function() store_p(g, me, pair, sums) end)
      end)
    end
    local before, behind = around(g, me)
    k:bar_sync(0) -- all products have been read
    store_rows(g, rows, store, before, behind, g.sizes.scale)
    k:if_(me.warp:eq(bands - 1), function() k:st_shared_v4_f32(k:address(g.buffers.decay) + mine, before) end)
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    k:if_(me.warp:lt(4), function()
      k:triangular_inverse {
        matrix = k:address(g.buffers.n), barrier = 1,
        each = preparation.storer(g, k:address(g.buffers.beta), k:address(g.buffers.t)),
      }
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(1, { threads = 128 })
      k:if_(thread:eq(0), function() send(g, function(name) return name == "t" end) end)
    end, function()
      k:if_(thread:eq(128), function() send(g, function(name) return name ~= "t" end) end)
    end)
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
