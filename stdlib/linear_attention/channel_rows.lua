-- Rows of a chunk with decays for each channel, by a warp for each band of eight tokens, of which a lane has four
-- channels: loaded to registers, and stored times products of decays. Logarithms are those of base 2.

local records = require "wgrun.linear_attention.records"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"
local warp = require "wgrun.builder.warp"

local module = {}

module.rows, module.bands = 8, 8 -- of a band, and of a chunk
local rows_of_band = module.rows
module.log2_e = math.log(math.exp(1), 2)
module.least = -10 * module.log2_e -- logarithm of a token's decay
local bias = 127 -- of exponents in f32 and bf16

--- Registers for the thread's part of a chunk: words of K and Q, two channels each; decays, and before them g, as it is
--- in memory.
function module.registers(g)
  local k = g.k
  local function words() return k:regs("b32", 2 * rows_of_band) end
  local decays = k:regs("f32", 4 * rows_of_band)
  return { k = words(), q = words(), e = decays, g = g.p.g_dtype == "f32" and decays or words() }
end

--- Loads the thread's part of a chunk. Rows behind the sequence's last token have K = Q = 0 and no decay.
function module.load(g, me, rows, at)
  local k, p, sizes = g.k, g.p, g.sizes
  local first = at.row + me.warp * rows_of_band
  local function place(tensor, heads, head, size)
    return k:mad_wide_u32(me.lane, 4 * size, k:mad_wide_u32(first * heads + head, p.dim * size, tensor))
  end
  local of_k, of_q = place(sizes.K, p.qk_heads, at.qk_head, 2), place(sizes.Q, p.qk_heads, at.qk_head, 2)
  local bytes = native.element_bytes[p.g_dtype]
  local of_g = place(sizes.g, p.heads, at.head, bytes)
  local load_g = bytes == 4 and k.ld_global_v4_f32 or k.ld_global_v2_b32
  local band = k:mov(me.warp * rows_of_band, { type = "s32" })
  local function load(inside)
    for r = 0, rows_of_band - 1 do
      local guard = inside and inside(r)
      load_g(k, rows.g:slice(bytes * r, bytes), of_g, { offset = r * p.heads * p.dim * bytes, guard = guard })
      for _, one in ipairs { { rows.k, of_k }, { rows.q, of_q } } do
        k:ld_global_v2_b32(one[1]:slice(2 * r, 2), one[2], { offset = r * p.qk_heads * p.dim * 2, guard = guard })
      end
    end
  end
  k:if_(at.left:ge(p.chunk), function() load() end, function()
    for i = 0, #rows.k - 1 do
      k:mov(rows.k[i], 0)
      k:mov(rows.q[i], 0)
    end
    for i = 0, #rows.g - 1 do k:mov(rows.g[i], bytes == 4 and 0.0 or 0) end
    load(function(r) return (band + r):lt(at.left) end)
  end)
end

--- Fetches what a chunk loads into the L2 cache: a thread has lines of 128 bytes of a row, one of g, as long as there
--- are any, and one of K or Q.
function module.prefetch(g, me, at)
  local k, p, sizes = g.k, g.p, g.sizes
  local row, line = me.thread >> 2, me.thread & 3
  local inside = k:mov(row, { type = "s32" }):lt(at.left)
  local function fetch(tensor, heads, head, bytes, column, guard)
    local place = k:mad_wide_u32((at.row + row) * heads + head, p.dim * bytes, tensor)
    k:prefetch_global_L2(k:mad_wide_u32(column, 128, place), { guard = guard })
  end
  local bytes = native.element_bytes[p.g_dtype]
  fetch(sizes.g, p.heads, at.head, bytes, line, inside & line:lt(bytes))
  fetch(k:selp(sizes.K, sizes.Q, line:lt(2)), p.qk_heads, at.qk_head, 2, line & 1, inside)
end

--- Stores the logarithms of the band's decays, and makes decays of logarithms.
function module.decays(g, me, rows)
  local k, sums = g.k, {}
  for i = 0, g.p.g_dtype == "bf16" and #rows.g - 1 or -1 do
    local x, y = elements.from_output.bf16(k, rows.g[i])
    k:mov(rows.e[2 * i], x)
    k:mov(rows.e[2 * i + 1], y)
  end
  for i = 0, #rows.e - 1 do k:max(rows.e[i], rows.e[i] * module.log2_e, module.least) end
  for c = 0, 3 do
    sums[c + 1] = rows.e[c]
    for r = 1, rows_of_band - 1 do sums[c + 1] = sums[c + 1] + rows.e[4 * r + c] end
  end
  k:st_shared_v4_f32(me.places.logs + me.warp * g.p.decay_bytes + (me.lane << 4), sums)
  for i = 0, #rows.e - 1 do k:ex2_approx_ftz_f32(rows.e[i], rows.e[i]) end
end

--- The logarithms of what the chunk's state has decayed by: where the warp's band begins, and where it ends.
function module.edges(g, me)
  local k, p = g.k, g.p
  local first, from, logs = k:regs("f32", 4), me.places.logs + (me.lane << 4), k:regs("f32", 4)
  for c = 0, 3 do k:mov(first[c], 0.0) end
  k:loop(me.warp + 1, function(band)
    k:if_(band:gt(0), function()
      for c = 0, 3 do k:add(first[c], first[c], logs[c]) end
    end)
    k:ld_shared_v4_f32(logs, from + band * p.decay_bytes)
  end)
  local last = {}
  for c = 0, 3 do last[c] = first[c] + logs[c] end
  return first, last
end

-- Four integers as two words of 16 bits each.
local function packed(x)
  local words = {}
  for i = 0, 1 do words[i + 1] = (x[2 * i] & 0xFFFF) | (x[2 * i + 1] << 16) end
  return words
end

--- Stores q k of each of the band's tokens, products of what is in memory: decays would round them first.
function module.own_products(g, me, rows)
  local k, split, sums = g.k, elements.from_output[g.p.dtype], {}
  for r = 0, rows_of_band - 1 do
    for i = 0, 1 do
      local a, b = { split(k, rows.q[2 * r + i]) }, { split(k, rows.k[2 * r + i]) }
      for c = 1, 2 do sums[r] = sums[r] and k:fma(a[c], b[c], sums[r]) or a[c] * b[c] end
    end
  end
  local sum = warp.sums_of_each(k, sums, rows_of_band, me.lane)
  k:st_shared_f32(me.places.own + (me.warp << 5) + (me.lane << 2), sum, { guard = me.lane:lt(rows_of_band) })
end

--- What the edges of the band have beyond whole powers of two, as factors: of rows since the first edge, and of those
--- up to the last one. The powers are stored, that of the first edge with the bias of floats, that of the last one
--- negated.
function module.fractions(g, me, first, last)
  local k = g.k
  local from_edge, upto, of_rows, of_columns = k:regs("f32", 4), k:regs("f32", 4), {}, {}
  for c = 0, 3 do
    local whole_first, whole_last = k:cvt_rni_s32_f32(first[c]), k:cvt_rni_s32_f32(last[c])
    k:ex2_approx_ftz_f32(from_edge[c], first[c] - k:cvt_rn_f32_s32(whole_first))
    k:ex2_approx_ftz_f32(upto[c], k:cvt_rn_f32_s32(whole_last) - last[c])
    of_rows[c], of_columns[c] = k:mov(whole_first + bias, { type = "u32" }), k:mov(k:neg(whole_last), { type = "u32" })
  end
  local to = (me.warp << 8) + (me.lane << 3)
  k:st_shared_v2_b32(me.places.of_rows + to, packed(of_rows))
  k:st_shared_v2_b32(me.places.of_columns + to, packed(of_columns))
  return from_edge, upto
end

--- Returns store(name, r, words, factors): the thread's four elements of a row, each times a factor, to the tile
--- `name`.
function module.writer(g, me)
  local k, p = g.k, g.p
  local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
  local _, offsets = records.bytes(p)
  local inside = k:mul(me.lane >> 4, p.k:offset(0, 64)) + (me.warp * rows_of_band << 7) + ((me.lane & 15) << 3)
  local lines, first = {}, me.places.record + inside -- the swizzle of a band's rows, without that of a tile
  for r = 0, rows_of_band - 1 do lines[r] = first ~ (r << 4) end
  return function(name, r, words, factors)
    local out = {}
    for i = 0, 1 do
      local x, y = split(k, words[2 * r + i])
      out[i + 1] = convert(k, x * factors[2 * i], y * factors[2 * i + 1])
    end
    k:st_shared_v2_b32(lines[r], out, { offset = offsets[name] + (r << 7) })
  end
end

--- Stores K and Q times the decays from `from_edge` to each row, and K times those from each row up to `upto`: four
--- channels each, which are left multiplied by the band's decays. scale: of Q, or nil.
function module.store(g, rows, store, from_edge, upto, scale)
  local k = g.k
  for r = 0, rows_of_band - 1 do
    local of_q = {}
    for c = 0, 3 do
      k:mul(from_edge[c], from_edge[c], rows.e[4 * r + c])
      of_q[c] = scale and from_edge[c] * scale or from_edge[c]
    end
    store("k", r, rows.k, from_edge)
    store("q", r, rows.q, of_q)
  end
  for r = rows_of_band - 1, 0, -1 do
    store("r", r, rows.k, upto)
    for c = 0, 3 do k:mul(upto[c], upto[c], rows.e[4 * r + c]) end
  end
end

return module
