-- A warpgroup of wg.ssd's kernel that has a state: S^T, 64 columns of x by dstate, in its accumulators. All its
-- products are transposed, so that the state and x are operands A in registers:
--
--   S^T = S^T exp(G_63) + (x rest)^T B,  Y^T = S^T C^T,  Y^T = Y^T diag(exp G) + x^T P^T
--
-- While the tensor core has the last product of a chunk, the operands of the next one are made; while it has the
-- others, Y of the chunk before is stored.

local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local results = require "wgrun.linear_attention.results"
local carried_state = require "wgrun.linear_attention.ssd.carried_state"
local elements = require "wgrun.tile.elements"

local module = {}

-- Returns load(stage, x, update): x of a chunk, and x rest, the update of the state.
local function loader(g, stage_at, offsets)
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

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane, with_y = k:special "tid.x" & 31, not p.summary
  local split = elements.from_output[p.dtype]
  local offsets, stage_of_head = gates.places(k, p, g.buffers.gates)
  local function stage_at(stage) return stage_of_head(p.gated == 1 and stage or stage * p.gated + at.unit) end
  local products = operands.products(k, p)
  local update = products.columns(g.buffers.k, p.k_columns)
  local load = loader(g, stage_at, offsets)
  local keys, prepared = rings.keys:cursor { held = true }, with_y and rings.prepared:cursor()
  local function words(count) return k:regs("b32", count) end
  local s, x16, update16 = k:regs("f32", p.dim // 2), words(p.chunk // 4), words(p.chunk // 4)
  local total = p.summary and k:mov(0.0, { type = "f32" })
  local s16, next16, y16, y, skip, store, multiply
  if with_y then
    s16, next16, y16, y = words(p.dim // 4), words(p.chunk // 4), words(p.chunk // 4), k:regs("f32", p.chunk // 2)
    skip = p.D and k:ld_global_f32(k:element(g.sizes.D, at.head))
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

  local function free_keys()
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read x and the gates
    rings.keys:release(keys, { lane = lane, cluster = p.multicast })
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
    if not last then load_chunk(next16) end
    k:wgmma_wait_group(0)
    rings.prepared:release(prepared, { lane = lane })
    rings.prepared:advance(prepared)
    local elements_of = {}
    for i = 0, skip and #x16 - 1 or -1 do elements_of[2 * i], elements_of[2 * i + 1] = split(k, x16[i]) end
    operands.pack(k, p, y16, function(r) return skip and k:fma(elements_of[r], skip, y[r]) or y[r] end)
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
