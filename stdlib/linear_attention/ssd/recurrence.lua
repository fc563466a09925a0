-- The warpgroup of wg.ssd's kernel that has the state: S^T, 64 columns of x by dstate, in its accumulators. All its
-- products are transposed, so that the state and x are operands A in registers:
--
--   tensor cores   Y^T += x^T P^T          S^T += (x rest)^T B    Y^T = S^T C^T
--   CUDA cores     the state as 16 bits    Y to memory            decays

local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local results = require "wgrun.linear_attention.results"
local state = require "wgrun.linear_attention.ssd.state"
local elements = require "wgrun.tile.elements"

local module = {}

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane, with_y = k:special "tid.x" & 31, not p.summary
  local split = elements.from_output[p.dtype]
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local columns, products = operands.columns(k, p, offsets), operands.products(k, p, g.buffers)
  local load_x = operands.value_loader(k, p, g.buffers.v)
  local keys, values, prepared = rings.keys:cursor(), rings.values:cursor(), with_y and rings.prepared:cursor()
  local ahead = with_y and rings.keys:cursor() or keys -- of the chunk whose x is loaded
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

  -- Loads x of a chunk and makes the update of the state from it.
  local function load_chunk(x)
    rings.keys:wait(ahead)
    rings.values:wait(values)
    load_x(values.stage, x)
    local rest, elements_of = columns("rest", stage_at(ahead.stage)), {}
    k:bar_warp_sync(0xFFFFFFFF)
    rings.values:release(values, { lane = lane })
    rings.values:advance(values)
    for i = 0, #x - 1 do elements_of[2 * i], elements_of[2 * i + 1] = split(k, x[i]) end
    operands.pack(k, p, update16, function(r) return elements_of[r] * rest(r) end)
    if with_y then rings.keys:advance(ahead) end
  end

  -- The state after the chunk, up to its product.
  local function pass_state()
    local last = 4 * (p.chunk - 1)
    local whole = k:ld_shared_f32(stage_at(keys.stage), { offset = offsets.scaled + last })
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole) end
    if total then k:add(total, total, k:ld_shared_f32(stage_at(keys.stage), { offset = offsets.sum + last })) end
    products.update(s, update16, keys.stage)
  end

  local function free_keys()
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read the gates
    rings.keys:release(keys, { lane = lane, cluster = p.multicast })
    rings.keys:advance(keys)
  end

  -- What the tokens of the chunk add to Y.
  local function add_own()
    local scaled = columns("scaled", stage_at(keys.stage))
    for r = 0, #y - 1 do k:mul(y[r], y[r], scaled(r)) end
    free_keys()
    rings.prepared:wait(prepared)
    multiply.p(y, x16, prepared.stage, 1)
  end

  local function finish()
    rings.prepared:release(prepared, { lane = lane })
    rings.prepared:advance(prepared)
    local elements_of = {}
    for i = 0, skip and #x16 - 1 or -1 do elements_of[2 * i], elements_of[2 * i + 1] = split(k, x16[i]) end
    operands.pack(k, p, y16, function(r) return skip and k:fma(elements_of[r], skip, y[r]) or y[r] end)
  end

  -- The products with the state before chunk `number`, and while they run, x of the chunk after it.
  local function multiply_state(number)
    multiply.c(y, s16, keys.stage, 0)
    if number then
      store(y16)
      for i = 0, #x16 - 1 do k:mov(x16[i], next16[i]) end
    end
    k:wgmma_wait_group(1)
    k:if_(at.chunks:gt(number and number + 1 or 1), function() load_chunk(next16) end)
    k:wgmma_wait_group(0)
  end

  -- A round begins with the products of a chunk and its state complete, and ends with those of the next one.
  local function chunks()
    local function pack_state() operands.pack(k, p, s16, function(r) return s[r] end) end
    load_chunk(x16)
    pack_state()
    pass_state()
    multiply_state()
    k:loop({ from = 1, to = at.chunks }, function(number)
      add_own()
      pack_state()
      pass_state()
      k:wgmma_wait_group(1)
      finish()
      multiply_state(number)
    end)
    add_own()
    k:wgmma_wait_group(0)
    finish()
    store(y16)
  end

  local function summarise()
    k:loop(at.chunks, function()
      load_chunk(x16)
      pass_state()
      k:wgmma_wait_group(0)
      free_keys()
    end)
  end

  state.load(g, s)
  if p.summary then summarise()
  elseif p.packed or p.segments > 1 then k:if_(at.chunks:gt(0), chunks)
  else chunks() end
  state.store(g, s, total)
end

return module
