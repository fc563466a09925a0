-- What a warpgroup of wg.ssd_backward (side.lua) leaves: dx or y of a unit in a panel, and dC or dB of the CTA.

local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"
local native = require "wgrun.native"

local module = {}

--- D of the thread's columns, as of(r) for an accumulator.
function module.skip_of(g, unit, pair)
  local k, p = g.k, g.p
  if p.D ~= "headdim" then
    local skip = k:ld_global_f32(k:element(g.sizes.D, unit.head))
    return function() return skip end
  end
  local skip = k:regs("f32", p.columns // 4)
  local from = k:element(g.sizes.D, unit.number * p.columns + pair)
  for eight = 0, p.columns // 8 - 1 do
    k:ld_global_v2_f32(skip:slice(2 * eight, 2), from, { offset = 32 * eight })
  end
  return function(r) return skip[r // 4 * 2 + r % 2] end
end

--- Leaves dx or y of a unit, which is in the accumulators but for the factor dt of dx and for D, in a panel. words: of
--- dY or x, for D.
function module.store(g, me, of, skip, words)
  local k, split = g.k, elements.from_output[g.p.dtype]
  for i = 0, #words - 1 do
    local half = i % 2
    local other = {}
    if skip then other[0], other[1] = split(k, words[i]) end
    for one = 0, 1 do
      local value = me.u[2 * i + one]
      if not me.queries then value = value * of.dt[half] end
      if skip then value = k:fma(skip(2 * i + one), other[one], value) end
      k:mov(me.u[2 * i + one], value)
    end
  end
  local ring, output = g.rings[me.output.ring], me.output
  ring:acquire(output.cursor)
  for _, piece in ipairs(output.pieces) do panels.write_piece(k, g.p.panel, piece, me.u) end
  k:bar_warp_sync(0xFFFFFFFF)
  k:mbarrier_arrive(ring:full_barrier(output.cursor), { guard = me.lane:eq(0) })
  k:xor(output.cursor.phase, output.cursor.phase, 1)
end

--- Stores dC or dB, in the type of the tensor, or as f32 where the CTA has a part of the heads.
function module.store_rows(g, me, tensor)
  local k, p, at, convert = g.k, g.p, g.at, elements.to_output[g.p.dtype]
  local bytes = p.slices > 1 and 4 or native.element_bytes[p.dtype]
  local line, to = p.qk_heads * p.dim, k:mad_wide_u32(at.qk_head * p.dim + me.pair, bytes, tensor)
  if p.slices > 1 then to = k:mad_wide_u32(at.slice * g.sizes.rows, bytes * line, to) end
  for half = 0, 1 do
    local token = (at.chunk << 6) + me.first_row + 8 * half
    local place, guard = k:mad_wide_u32(at.first + token, bytes * line, to), token:lt(at.tokens)
    for r = 2 * half, #me.of_rows - 1, 4 do
      local options = { offset = 8 * (r // 4) * bytes, guard = guard }
      if p.slices > 1 then
        k:st_global_v2_b32(place, { me.of_rows[r], me.of_rows[r + 1] }, options)
      else
        k:st_global_b32(place, convert(k, me.of_rows[r], me.of_rows[r + 1]), options)
      end
    end
  end
end

return module
