-- States between chunks in global memory, rounded to 16 bits, as operands of wgmma: core matrices of 8 columns of V by
-- 8 of K, which the accumulators of a warp fill with one store each (PTX ISA 9.7.15.5.1.2). A bulk copy brings them to
-- shared memory as they are.

local wg = require "wgrun"
local sequences = require "wgrun.linear_attention.sequences"

local module = {}

--- A state as the operand B with K of the state along N, and V along K.
module.tile = wg.tile { dtype = "bf16", mn = 128, k = 128, major = "MN", order = "MN", swizzle = "none" }
local tile = module.tile

--- The address of the image of a head's chunk: record, the number of the chunk among those of all sequences.
function module.place(k, p, images, record, head)
  return k:mad_wide_u32(record * p.heads + head, tile.bytes, images)
end

--- Copies the images of the states before a chunk and of their gradients after it, of a head, to shared memory: by the
--- thread `leader` of a warp, with the ring "states" and its cursor.
function module.copy_both(here, leader, cursor, head)
  local k, p, ring, buffers, sizes = here.k, here.p, here.rings.states, here.buffers, here.sizes
  ring:acquire(cursor)
  k:if_(leader, function()
    k:fence_proxy_async { space = "shared::cta" } -- threads have read the states, too
    local barrier = ring:expect(cursor, 2 * tile.bytes)
    for _, one in ipairs { { buffers.s, sizes.states }, { buffers.d_s, sizes.d_states } } do
      k:cp_async_bulk(k:address(one[1]), module.place(k, p, one[2], here.at.record, head), tile.bytes, barrier)
    end
  end)
  ring:advance(cursor)
end

--- Returns store(words, turn), for the warpgroup that has 64 columns of V of the state, transposed, two elements in a
--- word.
function module.writer(g)
  local k, p, at = g.k, g.p, g.at
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, thread >> 5 & 3
  local mine = at.half * tile:offset(0, 64) + warp * tile:offset(0, 16) + (lane << 2)
  return function(words, turn)
    local record = at.record + sequences.chunk(g, turn)
    local to = k:mad_wide_u32(mine, 1, module.place(k, p, g.sizes.images, record, at.head))
    for i = 0, #words - 1 do
      k:st_global_b32(to, words[i], { offset = tile:offset(8 * (i // 2), 8 * (i % 2)) })
    end
  end
end

return module
