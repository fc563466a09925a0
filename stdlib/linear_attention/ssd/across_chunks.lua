-- A warpgroup of wg.ssd's kernel that has a state: S^T, 64 columns of x by dstate, in its accumulators. All its
-- products are transposed, so that the state and x are operands A in registers:
--
--   S^T = S^T exp(G_63) + (x rest)^T B,  Y^T = S^T C^T,  Y^T = Y^T diag(exp G) + x^T P^T
--
-- While the tensor core has the last product of a chunk, the operands of the next one are made; while it has the
-- others, Y of the chunk before is stored.
--
-- The gate z of a chunk lies in the stage of its x, which is held until y is complete.

local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local results = require "wgrun.linear_attention.results"
local carried_state = require "wgrun.linear_attention.ssd.carried_state"
local state = require "wgrun.linear_attention.state"
local activation = require "wgrun.tile.activation"
local elements = require "wgrun.tile.elements"

local module = {}

--- Returns load(stage, x, update): x of a chunk, and x rest, the update of the state.
function module.loader(g, stage_at, offsets)
  local k, p, unit = g.k, g.p, g.at.unit
  local load_x, form = operands.value_loader(k, p, g.buffers.v), { type = p.dtype .. "x2" }
  local lane = k:special "tid.x" & 31
  return function(stage, x, update)
    load_x(stage * p.units + unit, x)
    local from, rest = stage_at(stage) + ((lane & 3) << 3), {}
    for eight = 0, p.chunk // 8 - 1 do
      rest[eight] = k:regs("b32", 2)
      k:ld_shared_v2_b32(rest[eight], from, { offset = offsets.rest + 32 * eight })
    end
    for i = 0, #x - 1 do
      local high, low = rest[i // 2][0], rest[i // 2][1]
      k:fma(update[i], x[i], high, k:mul(x[i], low, form), form)
    end
  end
end

-- D of the thread's rows of Y^T, as of(r) for an accumulator.
local function skip_of(g)
  local k, p, at, of_halves = g.k, g.p, g.at, {}
  if p.D ~= "headdim" then
    local skip = k:ld_global_f32(k:element(g.sizes.D, at.head))
    return function() return skip end
  end
  local from = k:element(g.sizes.D, at.head * p.value_dim + state.row(g))
  for half = 0, 1 do of_halves[half] = k:ld_global_f32(from, { offset = 32 * half }) end
  return function(r) return of_halves[r // 2 % 2] end
end

-- Returns gate(stage, words, y): multiplies Y^T of a chunk by silu(z). words: registers for z.
local function gater(g)
  local k, p, silu = g.k, g.p, activation.named("wg.ssd", "silu")
  local load, split = operands.value_loader(k, p, g.buffers.z), elements.from_output[p.dtype]
  return function(stage, words, y)
    load(stage, words)
    for i = 0, #words - 1 do
      local first, second = split(k, words[i])
      k:mul(y[2 * i], y[2 * i], silu(k, first))
      k:mul(y[2 * i + 1], y[2 * i + 1], silu(k, second))
    end
  end
end

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane, with_y = k:special "tid.x" & 31, not p.summary
  local split = elements.from_output[p.dtype]
  local offsets, stage_of_head = gates.places(k, p, g.buffers.gates)
  local function stage_at(stage) return stage_of_head(p.gated == 1 and stage or stage * p.gated + at.unit) end
  local products = operands.products(k, p)
  local update = products.columns(g.buffers.k, p.k_columns)
  local load = module.loader(g, stage_at, offsets)
  local keys, prepared = rings.keys:cursor { held = true }, with_y and rings.prepared:cursor()
  local function words(count) return k:regs("b32", count) end
  local s, x16, update16 = k:regs("f32", p.dim // 2), words(p.chunk // 4), words(p.chunk // 4)
  local total = p.summary and k:mov(0.0, { type = "f32" })
  local stage_of_z = p.z and { stage = k:reg "u32", full = keys.full, empty = keys.empty }
  local gate = p.z and gater(g)
  local s16, next16, y16, y, skip, store, multiply
  if with_y then
    s16, next16, y16, y = words(p.dim // 4), words(p.chunk // 4), words(p.chunk // 4), k:regs("f32", p.chunk // 2)
    skip = p.D and skip_of(g)
    store = results.writer(g)
    multiply = { c = products.rows(g.buffers.q, p.k), p = products.rows(g.buffers.p, p.t) }
  end

  -- The operands of a chunk: x, and of the state before it as words; and the state's decay.
  local function load_chunk(x)
    rings.keys:wait(keys)
    load(keys.stage, x, update16)
    local gates_of_chunk, last = stage_at(keys.stage), 4 * (p.chunk - 1)
    local whole = k:ld_shared_f32(gates_of_chunk, { offset = offsets.scaled + last })
    if total then k:add(total, total, k:ld_shared_f32(gates_of_chunk, { offset = offsets.sum + last })) end
    if with_y then operands.pack(k, p, s16, function(r) return s[r] end) end
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole) end
  end

  local function release(cursor) rings.keys:release(cursor, { lane = lane, cluster = p.multicast }) end

  local function free_keys()
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read x and the gates
    if p.z then k:mov(stage_of_z.stage, keys.stage) else release(keys) end
    rings.keys:advance(keys)
  end

  -- Chunk `number`, whose operands are loaded, and the operands of the next one, unless it is the last. Y of a chunk is
  -- stored in the next one.
  local function pass(number, last)
    update(s, update16, keys.stage, 1)
    multiply.c(y, s16, keys.stage, 0)
    k:if_(number:gt(0), function() store(y16) end)
    local scaled = operands.columns(k, stage_at(keys.stage) + offsets.scaled, p.chunk)
    k:wgmma_wait_group(0)
    for r = 0, #y - 1 do k:mul(y[r], y[r], scaled(r)) end
    free_keys()
    rings.prepared:wait(prepared)
    multiply.p(y, x16, p.gated == 1 and prepared.stage or prepared.stage * p.gated + at.unit, 1)
    k:wgmma_wait_group(0)
    if not last then load_chunk(next16) end
    rings.prepared:release(prepared, { lane = lane })
    rings.prepared:advance(prepared)
    for i = 0, skip and #x16 - 1 or -1 do
      local first, second = split(k, x16[i])
      k:fma(y[2 * i], first, skip(2 * i), y[2 * i])
      k:fma(y[2 * i + 1], second, skip(2 * i + 1), y[2 * i + 1])
    end
    if p.z then
      gate(stage_of_z.stage * p.units + at.unit, x16, y) -- x is needed no more
      k:bar_warp_sync(0xFFFFFFFF)
      release(stage_of_z)
    end
    operands.pack(k, p, y16, function(r) return y[r] end)
    for i = 0, last and -1 or #x16 - 1 do k:mov(x16[i], next16[i]) end
  end

  carried_state.load(g, s)
  if with_y then
    k:if_(at.chunks:gt(0), function()
      load_chunk(x16)
      local last = at.chunks - 1
      k:loop(last, pass)
      pass(last, true)
      store(y16)
    end)
  else
    k:loop(at.chunks, function()
      load_chunk(x16)
      update(s, update16, keys.stage, 1)
      k:wgmma_wait_group(0)
      free_keys()
    end)
  end
  carried_state.store(g, s, total)
end

return module
