-- The preparation of chunks whose decays differ by channel of K (Kimi delta attention), in a kernel of its own. With e
-- the decays of the chunk's tokens:
--
--   N_ij = -beta_i sum over c of k_ic (e_(j+1)c ... e_ic) k_jc,  j < i;   P_ij likewise with scale q_i, j <= i
--
-- The product of decays between two tokens can not be a quotient of those since the chunk began, which may be too small
-- for f32. So the tokens are cut into eight bands of eight. A row is multiplied by the decays since its band began, or
-- by those up to its band's end, and what lies between two bands is a factor for each channel. All of these are at most
-- 1. Within a band the factor is the reciprocal of the band's decay, at most e^80 since decays below e^-10 count as
-- e^-10: a change that is a hundred times smaller than the rounding of bf16. The factors between bands are powers of
-- two, so that they multiply without rounding: what is left of the decays before the edge of a band goes to its rows.
--
-- Of a CTA's 512 threads each half has a chunk of a head at a time; chunks follow each other in the order of tokens.

local wg = require "wgrun"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local bands = require "wgrun.linear_attention.band_products"
local dependent_launch = require "wgrun.linear_attention.dependent_launch"
local gates = require "wgrun.linear_attention.gates"
local preparation = require "wgrun.linear_attention.preparation"
local records = require "wgrun.linear_attention.records"
local rows = require "wgrun.linear_attention.channel_rows"

local module = {}

local halves, threads = 2, 256 -- of a CTA, and of a half

--- The kernel's parameters. A launch has each under its name.
function module.parameters(p)
  return parameters.rows {
    { "K", ("const %s*"):format(p.dtype) }, { "Q", ("const %s*"):format(p.dtype) },
    { "g", ("const %s*"):format(p.g_dtype), "the logarithm of the decay, tokens x heads x 128" },
    { "beta", "const f32*", "tokens x heads" },
    p.packed and { "starts", "const s32*" } or { "tokens", "u32" }, { "sequences", "u32" },
    { "units", "u32", "chunks of all heads" }, { "scale", "f32" }, { "records", "f32*", "for each chunk and head" },
    p.overlaps and { "ready", "u32*", "for each record: its copies that have ended" } or false,
  }
end

--- The CTAs of a launch that prepares so many chunks of heads: on the SMs that the CTAs of the kernel behind it leave
--- free, if these are many, since both run at the same time.
function module.ctas(sms, units, others)
  local free = sms - others
  return math.min((units + halves - 1) // halves, 3 * free >= sms and free or sms)
end

-- What the unit is: head; record, and number, that of the record among all heads'; where sequences are not packed also
-- chunk and batch.
local function place_of(g, unit)
  local k, p, sizes = g.k, g.p, g.sizes
  local of_all = division.divided(k, unit, p.heads)
  local at = { head = unit - of_all * p.heads, record = of_all }
  if not p.packed then
    at.chunk = k:div(of_all, sizes.sequences)
    at.batch = of_all - at.chunk * sizes.sequences
    at.record = at.batch * ((sizes.tokens + 63) >> 6) + at.chunk
  end
  at.number = at.record * p.heads + at.head
  return at
end

-- The chunk of a unit: head, qk_head and number; row, the chunk's first one in the tensors; left, the number of the
-- sequence's tokens from there on, which is 0 or less for a record that no sequence has, and for a unit behind the last
-- one.
local function chunk_of(g, unit)
  local k, p, sizes, at = g.k, g.p, g.sizes, place_of(g, unit)
  at.qk_head = division.divided(k, at.head, p.heads // p.qk_heads)
  local chunk, start, tokens
  if p.packed then
    chunk, start, tokens = records.sequence(k, sizes, at.record)
  else
    chunk, start, tokens = at.chunk, at.batch * sizes.tokens, sizes.tokens
  end
  at.row = start + (chunk << 6)
  local left = k:mov(tokens, { type = "s32" }) - k:mov(chunk << 6, { type = "s32" })
  at.left = k:selp(left, 0, unit:lt(sizes.units))
  return at
end

-- Copies of records, each by two threads: one has T, the other one the rest. send(at, first, bytes) starts
-- that of a thread; finish() waits until it has been read, and where another kernel waits for it, until it has ended,
-- which it counts.
local function sender(g, me)
  local k, p, sizes = g.k, g.p, g.sizes
  local ready = p.overlaps and k:mov(0, { type = "u64" })
  local out = {}
  function out.send(at, first, bytes)
    k:if_(at.left:gt(0), function()
      k:cp_async_bulk_store(records.place(k, p, sizes.records, at.number) + first, me.places.record + first, bytes)
      k:cp_async_bulk_commit_group()
      if ready then k:mov(ready, k:element(sizes.ready, at.number)) end
    end)
  end
  function out.finish()
    k:cp_async_bulk_wait_group(0, { read = not ready })
    if not ready then return end
    k:if_(ready:ne(0), function() k:red_release_gpu_global_add_u32(ready, 1) end)
    k:mov(ready, 0)
  end
  return out
end

-- Loads what a chunk is made of: rows, and for the first threads beta of a token, 0 behind the last one.
local function load(g, me, mine, at)
  local k, p = g.k, g.p
  rows.load(g, me, mine, at)
  k:mov(mine.beta, 0.0)
  local inside = me.thread:lt(p.chunk) & k:mov(me.thread, { type = "s32" }):lt(at.left)
  k:ld_global_f32(mine.beta, k:element(g.sizes.beta, (at.row + me.thread) * p.heads + at.head), { guard = inside })
  gates.limit(k, p, mine.beta, inside)
end

-- A chunk, `at`, that is in the registers `mine`; `following` is the next one, which is there afterwards. meet() is a
-- barrier of the half.
local function prepare(g, me, mine, at, following, copies, meet)
  local k, p = g.k, g.p
  local all, first_of_four, in_line = records.bytes(p), (me.thread & 127):eq(0), me.lane << 4
  local of_t, of_rest = first_of_four & me.warp:lt(4), first_of_four & me.warp:ge(4)
  rows.own_products(g, me, mine)
  rows.decays(g, me, mine)
  k:if_(of_rest, copies.finish)
  meet() -- the record before has been copied, but T
  k:if_(me.thread:lt(p.chunk), function() k:st_shared_f32(me.places.beta + (me.thread << 2), mine.beta) end)
  local store, first, last = rows.writer(g, me), rows.edges(g, me)
  local from_edge, upto = rows.fractions(g, me, first, last)
  rows.store(g, mine, store, from_edge, upto)
  k:if_(me.warp:eq(rows.bands - 1), function()
    for c = 0, 3 do k:st_shared_f32(me.places.whole + in_line, last[c], { offset = 4 * c }) end
  end)
  k:if_(of_t, copies.finish)
  meet()
  rows.prefetch(g, me, following)
  bands.emit(g, me)
  local whole = k:ld_shared_v4_f32(me.places.whole + in_line)
  meet() -- all rows have been multiplied
  for c = 0, 3 do
    k:ex2_approx_ftz_f32(from_edge[c], first[c])
    k:ex2_approx_ftz_f32(upto[c], whole[c] - last[c])
  end
  rows.store(g, mine, store, from_edge, upto, g.sizes.scale)
  k:if_(me.warp:eq(rows.bands - 1), function() k:st_shared_v4_f32(me.places.decay + in_line, from_edge) end)
  load(g, me, mine, following)
  k:fence_proxy_async { space = "shared::cta" }
  meet()
  k:if_(me.warp:lt(4), function()
    local barrier = me.half + (1 + halves)
    k:triangular_inverse {
      matrix = me.places.n, barrier = barrier, each = preparation.storer(g, me.places.beta, me.places.t),
    }
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(barrier, { threads = 128 })
    k:if_(of_t, function() copies.send(at, 0, p.t.bytes) end)
  end, function()
    k:if_(of_rest, function() copies.send(at, p.t.bytes, all - p.t.bytes) end)
  end)
end

--- The kernel of a plan, with these parameters. Its CTAs are any number.
function module.make(p, list)
  local kernel = wg.kernel(p.name .. "_preparation", { threads = halves * threads }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    local thread, triangular = k:special "tid.x", wg.triangular()
    local me = { lane = thread & 31, thread = thread & (threads - 1), places = {}, line = triangular.line }
    me.half, me.warp = k:shfl_sync_idx_b32(thread >> 8, 0, 31), k:shfl_sync_idx_b32(thread >> 5 & 7, 0, 31)
    local function buffer(name, bytes, align)
      local made = k:shared { bytes = halves * bytes, align = align, name = name:upper() }
      me.places[name] = k:address(made, k:mul(me.half, bytes))
    end
    local bytes, offsets = records.bytes(p)
    bytes = (bytes + 1023) // 1024 * 1024 -- tiles are aligned to 1024 bytes
    buffer("record", bytes, 1024)
    for _, part in ipairs(records.parts(p)) do me.places[part[1]] = me.places.record + offsets[part[1]] end
    buffer("n", triangular.bytes, 16)
    for _, name in ipairs { "beta", "own" } do
      if not me.places[name] then buffer(name, 4 * p.chunk, 16) end -- of gradients beta is a part of the record
    end
    buffer("logs", rows.bands * p.decay_bytes, 16)
    buffer("whole", p.decay_bytes, 16)
    for _, name in ipairs { "of_rows", "of_columns" } do buffer(name, rows.bands * p.decay_bytes // 2, 16) end
    for _, name in ipairs { "t", "p" } do preparation.clear(k, me.places[name], p.t.bytes, me.thread, threads) end
    local copies = sender(g, me)
    local function meet() k:bar_sync(me.half + 1, { threads = threads }) end
    local cta, ctas = k:special "ctaid.x", k:special "nctaid.x"
    local first, step = cta * halves + me.half, ctas * halves
    dependent_launch.begin(k, p.overlaps and function()
      -- Each half counts the copies of its own units.
      local own = { from = first + me.thread * step, to = g.sizes.units, step = step * threads }
      k:loop(own, function(unit) k:st_global_u32(k:element(g.sizes.ready, place_of(g, unit).number), 0) end)
      k:fence_acq_rel_gpu()
    end)
    local at, mine = chunk_of(g, first), rows.registers(g)
    mine.beta = k:reg "f32"
    load(g, me, mine, at)
    k:loop({ from = first, to = g.sizes.units, step = step }, function(unit)
      local following = chunk_of(g, unit + step)
      prepare(g, me, mine, at, following, copies, meet)
      for _, name in ipairs { "head", "qk_head", "number", "row", "left" } do k:mov(at[name], following[name]) end
    end)
    k:if_((me.thread & 127):eq(0), copies.finish)
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
