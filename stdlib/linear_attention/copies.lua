-- The copies of chunks by TMA, a role of one thread each: the rows of K and Q, and those of V.

local tensors = require "wgrun.attention.tensors"

local module = {}

--- Copies K and Q; V has a thread of its own, since its stages are given back at other times.
function module.keys(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local load, cursor, of_keys = tensors.loader(k, p), ring:cursor(), { batch = at.batch, head = at.qk_head }
  local operands = { { g.maps.K, k:address(g.buffers.k) } }
  if not p.summary then operands[2] = { g.maps.Q, k:address(g.buffers.q) } end
  k:loop(at.chunks, function(chunk)
    ring:acquire(cursor)
    local barrier, offset = ring:expect(cursor, #operands * p.k.bytes), cursor.stage * p.k.bytes
    for _, one in ipairs(operands) do load(p.k, one[2] + offset, one[1], of_keys, at.start + (chunk << 6), barrier) end
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
