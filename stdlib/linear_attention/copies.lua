-- The copies of chunks by TMA, by one thread.

local tensors = require "wgrun.attention.tensors"
local sequences = require "wgrun.linear_attention.sequences"

local module = {}

--- What is copied to a stage: the rows of a chunk, in boxes as wide as a panel of the tile. map: of the tensor; to: a
--- the address of the first stage; head: in the tensor; column: the first one, by default 0; stride: the bytes between
--- stages, by default those of the tile; ctas: how many CTAs of a cluster need the same rows. Each copies some boxes to
--- all of them.
function module.operand(k, tile, map, to, head, more)
  more = more or {}
  return {
    tile = tile, map = map, to = to, head = head, column = more.column or k:mov(0, { type = "u32" }),
    stride = more.stride or tile.bytes, ctas = more.ctas or 1,
  }
end

--- Returns copy(cursor, chunk): copies these operands of the chunk at that turn to a stage of a ring, which is free.
--- read: the operands are read by threads, which need not wait for a fence. more: another copy, its bytes, and
--- copy(cursor, chunk, barrier).
function module.copier(g, ring, operands, read, more)
  local k, p, at = g.k, g.p, g.at
  local place, bytes = tensors.place(p), more and more.bytes or 0
  for _, one in ipairs(operands) do bytes = bytes + one.tile.bytes end
  return function(cursor, chunk)
    if read then k:fence_proxy_async { space = "shared::cta" } end
    local barrier, row = ring:expect(cursor, bytes), at.start + (sequences.chunk(g, chunk) << 6)
    local function copy(one, panel, options)
      local column = panel.k == 0 and one.column or one.column + panel.k
      local where = place(column, { head = one.head, batch = at.batch }, row)
      local to = one.to + cursor.stage * one.stride + one.tile:offset(panel.mn, panel.k)
      k["cp_async_bulk_tensor_" .. #where .. "d"](k, to, one.map, where, barrier, options)
    end
    -- By the rank of the CTA that copies them. Each has a share: bytes from all CTAs then say that the stage was free
    -- in all of them.
    local shares, count = {}, 0
    for _, one in ipairs(operands) do
      for _, panel in ipairs(one.tile.tma_box.panels) do
        if one.ctas == 1 then
          copy(one, panel, {})
        else
          local rank = count % one.ctas
          shares[rank], count = shares[rank] or {}, count + 1
          table.insert(shares[rank], function() copy(one, panel, { mask = (1 << one.ctas) - 1 }) end)
        end
      end
    end
    for rank = 0, count > 0 and operands[1].ctas - 1 or -1 do
      k:if_(k:special "cluster_ctarank":eq(rank), function()
        for _, each in ipairs(shares[rank]) do each() end
      end)
    end
    if more then more.copy(cursor, chunk, barrier) end
  end
end

--- Copies the operands of each chunk, one after the other: the role of a thread.
function module.emit(g, ring, operands, read, more)
  local copy, cursor = module.copier(g, ring, operands, read, more), ring:cursor()
  g.k:loop(g.at.chunks, function(chunk)
    ring:acquire(cursor)
    copy(cursor, chunk)
    ring:advance(cursor)
  end)
end

return module
