-- Where O of a chunk goes: from accumulators, whose columns are tokens, through a transposed panel. TMA stores a whole
-- chunk. At the end of a packed sequence, where the next one's rows follow, threads store the rows.

local tensors = require "wgrun.attention.tensors"
local panels = require "wgrun.tile.panel"

local module = {}

local barrier = 3 -- of the warpgroup

--- Returns store(words, chunk), for the warpgroup that has O^T of a chunk, two elements in a word.
function module.emit(g)
  local k, p, at = g.k, g.p, g.at
  local thread = k:special "tid.x" & 127
  local lane, warp, leader = thread & 31, thread >> 5, thread:eq(0)
  local base, place = k:address(g.buffers.o), tensors.place(p)
  local pieces = panels.pieces(p.panel, base, lane, warp)(0, 0)

  local function copy_whole(row)
    k:if_(leader, function()
      local where = place(at.column, at, row)
      k["cp_async_bulk_tensor_store_" .. #where .. "d"](k, g.maps.O, where, base)
      k:cp_async_bulk_commit_group()
    end)
  end

  return function(words, chunk)
    local row = at.start + (chunk << 6)
    k:cp_async_bulk_wait_group(0, { read = true, guard = leader })
    k:bar_sync(barrier, { threads = 128 })
    for _, piece in ipairs(pieces) do
      k:stmatrix_x4(piece.at, words:slice(piece[1] // 2, 4), { trans = 1, offset = piece.offset })
    end
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(barrier, { threads = 128 })
    if not p.packed then return copy_whole(row) end
    local last = at.start + at.tokens
    k:if_((row + p.chunk):le(last), function() copy_whole(row) end, function()
      local rows = { to = g.sizes.rows_of_o, width = p.heads * p.dim }
      panels.copy_rows(k, p.panel, base, thread, rows, row, k:mad_lo_u32(at.head, p.dim, at.column), last)
    end)
  end
end

--- To be called at the end: the copies have read the panel.
function module.finish(g)
  g.k:cp_async_bulk_wait_group(0, { read = true, guard = (g.k:special "tid.x" & 127):eq(0) })
end

return module
