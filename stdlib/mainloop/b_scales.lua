-- B's block scales in the registers of a consumer's warps. A tile of D touches one or two rows of them, which have a
-- scale for each block of K, the same for all rows of the tile. Lane i holds that of the i-th of 32 blocks of K: one
-- load brings the next 32 of a row from global memory, long before they are needed, and a shuffle hands that of a block
-- to all lanes. Weights that come from memory have scales that come from there, too: what is asked for one block ahead
-- is late (docs/experiments/block_scaled.md).

local module = {
  block = 128, -- the elements of K that share scales, and the rows of B that do
}

--- The scales that a consumer's warp holds: `rows` rows of the tile's. lane: the thread's, of its warp.
function module.new(k, sizes, rows, lane)
  return setmetatable({
    k = k, sizes = sizes, rows = rows, lane = lane,
    held = k:regs("f32", rows), ahead = k:regs("f32", rows), -- those of 32 blocks, and the next 32
    first = k:regs("u64", rows), -- the addresses of the work unit's first scales
    last = k:reg "u32", -- the number of its last scale; lanes beyond it repeat that one
    block = k:reg "u32", -- the number of the next block
  }, { __index = module })
end

-- Asks for the scales of 32 blocks from number `from` on; where `guard` holds, if it is given.
local function ask(me, from, guard)
  local k, number = me.k, me.k:min(from, me.last)
  for i = 0, me.rows - 1 do k:ld_global_f32(me.ahead[i], k:mad_wide_u32(number, 4, me.first[i]), { guard = guard }) end
end

--- Asks for the first scales of a work unit, whose tile has the first column `column`. The scales that are held stay.
function module.ask_first(me, work, column)
  local k, sizes = me.k, me.sizes
  local blocks, last = (sizes.K + (module.block - 1)) >> 7, (sizes.N - 1) >> 7
  local from = work.from ~= 0 and work.from >> 7 or nil
  for i = 0, me.rows - 1 do
    local row = k:min((column >> 7) + i, last) -- rows beyond the last one repeat it
    local first = (work.scales_first and row + work.scales_first or row) * blocks
    k:mov(me.first[i], k:element(sizes.b_scales, from and first + from or first))
  end
  k:mov(me.last, (from and blocks - from or blocks) - 1) -- of a slice of K, that of the last slice
  ask(me, me.lane)
end

--- Goes on to the work unit whose first scales have been asked for.
function module.restart(me) me.k:mov(me.block, 0) end

--- Puts the next block's scale of each row into the registers `into`. Returns what advance gets.
function module.take(me, into)
  local k, first = me.k, (me.block & 31):eq(0)
  for i = 0, me.rows - 1 do
    k:mov(me.held[i], me.ahead[i], { guard = first })
    k:shfl_sync_idx_b32(into[i], me.held[i], me.block, 31)
  end
  return first
end

--- Goes on to the next block, and behind the first of 32 asks for the next 32.
function module.advance(me, first)
  ask(me, me.block + (me.lane + 32), first)
  me.k:add(me.block, me.block, 1)
end

return module
