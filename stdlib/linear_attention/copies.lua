-- The copies of chunks by TMA, a role of one thread each: the rows of K and Q, and those of V.

local tensors = require "wgrun.attention.tensors"

local module = {}

-- Calls copy(box, options) for each of the boxes that this CTA copies: all of them, or with multicast, where the CTAs of
-- a cluster need the same boxes, those of its rank.
local function shared_out(k, p, boxes, copy)
  local ctas = p.multicast or 1
  if ctas == 1 then
    for _, box in ipairs(boxes) do copy(box, {}) end
    return
  end
  for rank = 0, ctas - 1 do
    k:if_(k:special "cluster_ctarank":eq(rank), function()
      for i, box in ipairs(boxes) do
        if i % ctas == rank then copy(box, { mask = (1 << ctas) - 1 }) end
      end
    end)
  end
end

--- Copies K and Q; V has a thread of its own, since its stages are given back at other times.
function module.keys(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local place, cursor, of_keys, boxes = tensors.place(p), ring:cursor(), { batch = at.batch, head = at.qk_head }, {}
  local operands = { { g.maps.K, g.buffers.k }, not p.summary and { g.maps.Q, g.buffers.q } or nil }
  for _, one in ipairs(operands) do
    for _, panel in ipairs(p.k.tma_box.panels) do
      local to = k:address(one[2], p.k:offset(panel.mn, panel.k))
      boxes[#boxes + 1] = { map = one[1], to = to, column = k:mov(panel.k, { type = "u32" }) }
    end
  end
  k:loop(at.chunks, function(chunk)
    ring:acquire(cursor)
    local barrier, offset = ring:expect(cursor, #operands * p.k.bytes), cursor.stage * p.k.bytes
    local row = at.start + (chunk << 6)
    shared_out(k, p, boxes, function(box, options)
      local where = place(box.column, of_keys, row)
      k["cp_async_bulk_tensor_" .. #where .. "d"](k, box.to + offset, box.map, where, barrier, options)
    end)
    ring:advance(cursor)
  end)
end

--- Copies V.
function module.values(g)
  local k, p, ring, at = g.k, g.p, g.rings.values, g.at
  local place, v, cursor = tensors.place(p), k:address(g.buffers.v), ring:cursor()
  k:loop(at.chunks, function(chunk)
    ring:acquire(cursor)
    k:fence_proxy_async { space = "shared::cta" } -- V has been read, by threads that need not wait for the fence
    local barrier, where = ring:expect(cursor, p.v.bytes), place(at.column, at, at.start + (chunk << 6))
    k["cp_async_bulk_tensor_" .. #where .. "d"](k, v + cursor.stage * p.v.bytes, g.maps.V, where, barrier)
    ring:advance(cursor)
  end)
end

return module
