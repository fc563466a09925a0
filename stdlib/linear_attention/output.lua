-- O of a chunk, by a warpgroup of wg.delta_rule's kernel: O^T = scaled (Q S)^T + U^T P^T, with S^T and U^T from shared
-- memory. Its columns are tokens, and it goes to the stage of the chunk's V, of which it has the shape, as a transposed
-- panel. A warp besides copies it to memory, and gives the stage back. TMA stores a whole chunk; at the end of a packed
-- sequence, where the next one's rows follow, the lanes store the rows.

local tensors = require "wgrun.attention.tensors"
local gates = require "wgrun.linear_attention.gates"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"

local module = {}

-- Returns store(o), which writes O^T of the chunks.
local function writer(g)
  local k, p, ring = g.k, g.p, g.rings.outputs
  local thread, cursor, convert = k:special "tid.x", ring:cursor(), elements.to_output[p.o]
  local lane = thread & 31
  local pieces = panels.pieces(p.panel, k:address(g.buffers.v), lane, thread >> 5 & 3)(0, 0)
  return function(o)
    local ahead, words = cursor.stage * p.v.bytes, {}
    for i = 0, #o // 2 - 1 do words[i] = convert(k, o[2 * i], o[2 * i + 1]) end
    for _, piece in ipairs(pieces) do
      local first = piece[1] // 2
      k:stmatrix_x4(
        piece.at + ahead, { words[first], words[first + 1], words[first + 2], words[first + 3] },
        { trans = 1, offset = piece.offset })
    end
    k:fence_proxy_async { space = "shared::cta" } -- also of V, which has been read and is overwritten by a copy
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end
end

--- The role of the warpgroup.
function module.emit(g)
  local k, p, rings, buffers, at = g.k, g.p, g.rings, g.buffers, g.at
  local lane, me, store, o = k:special "tid.x" & 31, gates.reader(g), writer(g), k:regs("f32", p.chunk // 2)
  local keys, prepared = rings.keys:cursor(), rings.prepared:cursor()
  local state, update = rings.state:cursor(), rings.update:cursor()
  local function of(buffer, tile) return descriptors.view(k, buffer, tile) end
  local s, q, u, pp = of(buffers.s, p.s), of(buffers.q, p.k), of(buffers.u, p.t), of(buffers.p, p.t)
  local function multiply(a, b, steps, scale_d)
    k:wgmma_fence()
    for step = 0, steps - 1 do
      k:wgmma_mma_async(o, a(step), b(step), {
        n = p.chunk, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_a = 0, trans_b = 0,
        scale_d = step == 0 and scale_d or 1,
      })
    end
    k:wgmma_commit_group()
  end
  local function free(ring, cursor)
    ring:release(cursor, { lane = lane })
    ring:advance(cursor)
  end

  k:loop(at.chunks, function()
    rings.keys:wait(keys)
    local scaled = me.columns("scaled", keys.stage)
    rings.state:wait(state)
    multiply(s(state.stage), q(keys.stage), p.dim // 16, 0)
    k:wgmma_wait_group(0)
    free(rings.state, state)
    for r = 0, #o - 1 do k:mul(o[r], o[r], scaled(r)) end
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read the gates
    free(rings.keys, keys)
    rings.update:wait(update)
    rings.prepared:wait(prepared)
    multiply(u(update.stage), pp(prepared.stage), p.chunk // 16, 1)
    k:wgmma_wait_group(0)
    free(rings.update, update)
    free(rings.prepared, prepared)
    store(o)
  end)
end

--- The role of the warp that copies.
function module.copy(g)
  local k, p, at, ring, values = g.k, g.p, g.at, g.rings.outputs, g.rings.values
  local lane, cursor, place = k:special "tid.x" & 31, ring:cursor(), tensors.place(p)
  local last, leader = at.start + at.tokens, lane:eq(0)
  k:loop(at.chunks, function(chunk)
    local row, from = at.start + (chunk << 6), k:address(g.buffers.v, cursor.stage * p.v.bytes)
    ring:wait(cursor)
    local function copy_whole()
      k:if_(leader, function()
        local where = place(at.column, at, row)
        k["cp_async_bulk_tensor_store_" .. #where .. "d"](k, g.maps.O, where, from)
        k:cp_async_bulk_commit_group()
        k:cp_async_bulk_wait_group(0, { read = true })
      end)
    end
    if p.packed then
      k:if_((row + p.chunk):le(last), copy_whole, function()
        local rows = { to = g.sizes.rows_of_o, width = p.heads * p.dim }
        panels.copy_rows(k, p.panel, from, lane, rows, row, k:mad_lo_u32(at.head, p.dim, at.column), last, 32)
        k:fence_proxy_async { space = "shared::cta" }
        k:bar_warp_sync(0xFFFFFFFF)
      end)
    else
      copy_whole()
    end
    k:mbarrier_arrive(values:empty_barrier(cursor), { guard = leader })
    ring:advance(cursor)
  end)
end

return module
