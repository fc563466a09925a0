-- Where O of a chunk goes: from accumulators, whose columns are tokens, to a transposed panel, and from there to memory
-- by another warp. TMA stores a whole chunk; at the end of a packed sequence, where the next one's rows follow, the
-- lanes store the rows.

local tensors = require "wgrun.attention.tensors"
local sequences = require "wgrun.linear_attention.sequences"
local panels = require "wgrun.tile.panel"

local module = {}

-- The panel of the columns, and its cursor: the ring has one stage, or one for each unit of a CTA (ssd/kernel.lua).
local function panel_of(g)
  local k, unit = g.k, g.at.unit
  local cursor = g.rings.outputs:cursor()
  if unit then k:mov(cursor.stage, unit) end
  return k:address(g.buffers.o, unit and unit * g.p.panel.bytes), cursor
end

--- Returns store(words), for the warpgroup that has O^T of the chunks, two elements in a word.
function module.writer(g)
  local k, p, ring = g.k, g.p, g.rings.outputs
  local panel, cursor = panel_of(g)
  local thread = k:special "tid.x" & 127
  local lane = thread & 31
  local pieces = panels.pieces(p.panel, panel, lane, thread >> 5)(0, 0)
  return function(words)
    ring:acquire(cursor)
    for _, piece in ipairs(pieces) do
      k:stmatrix_x4(piece.at, words:slice(piece[1] // 2, 4), { trans = 1, offset = piece.offset })
    end
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    k:xor(cursor.phase, cursor.phase, 1)
  end
end

--- The role of the warp that copies.
function module.emit(g)
  local k, p, at, ring = g.k, g.p, g.at, g.rings.outputs
  local from, cursor = panel_of(g)
  local lane, place = k:special "tid.x" & 31, tensors.place(p)
  local last, leader = at.start + at.tokens, lane:eq(0)
  k:loop(at.chunks, function(turn)
    local row = at.start + (sequences.chunk(g, turn) << 6)
    ring:wait(cursor)
    -- Of what the other warps have written: they need not wait for the fence.
    k:fence_proxy_async { space = "shared::cta" }
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
        local rows = { to = g.sizes.rows_of_o, width = p.heads * p.value_dim }
        panels.copy_rows(k, p.panel, from, lane, rows, row, k:mad_lo_u32(at.head, p.value_dim, at.column), last, 32)
        k:bar_warp_sync(0xFFFFFFFF)
      end)
    else
      copy_whole()
    end
    k:mbarrier_arrive(ring:empty_barrier(cursor), { guard = leader })
    k:xor(cursor.phase, cursor.phase, 1)
  end)
end

return module
