-- The plan of a product: what follows from its tile, cluster and operands, for wg.gemm and for the main loops of
-- wg.mainloop. A plan has
--
--   what                       the function that was called, for messages
--   kind, scheduler, reduction the strategies that it is put together from (mainloop/product.lua)
--   dtype, a_major, b_major    of A and B; k_step: the elements of K of a wgmma; accumulator: the type of the sums
--   products                   1, or 2 where A is multiplied by a second B, too, whose columns follow those of B
--   m, n, block_k              the tile of D and the elements of K of a stage; round_k: those after which the main loop
--                              repeats itself
--   width                      the columns of the accumulators, n for each product
--   schedule, pingpong         "pingpong": each consumer has tiles of its own
--   consumers, blocks          the consumer warpgroups, and the blocks of 64 rows that each of them holds
--   cluster_m, cluster_n       the CTAs of a cluster along M and N, which share copies; cluster: all of them;
--                              multicast_producers: those that fill a CTA's stages
--   a, b, a_box, b_box         tiles: of a stage, and of what one copy brings
--   stages, registers, threads
--   constant                   "A" or "B": an operand that has a producer of its own
--   evict_first                the operands that the L2 cache evicts first: their bytes are used once
--   edges                      { A =, B = }: the rows of boxes for a last tile that is not full
--   k_offset                   each CTA begins K at another block
--   tail_m, tail_n             tail tiles may have half of their rows, or columns (mainloop/tail.lua)
--   splits, last_splits        the slices of K, of all tiles and of those of the last round; slices: the most of them
--   stream_k                   CTAs share the K of tiles by stream-K
--   dsmem                      cluster split-K: how the CTAs reduce sums through DSMEM (reduction/cluster.lua)
--   emulated                   the parts of f32 numbers, and their products (mainloop/emulated.lua)
--   block_scaled               what the kind with block scales adds; metadata_bytes: of a sparse A

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local cost = require "wgrun.cost.gemm"
local tail = require "wgrun.mainloop.tail"
local native = require "wgrun.native"

local module = {}

local fail, target = native.fail, wg.target

--- Raises unless `value`, an option of the plan's function, is an integer from `least` to `most`; returns it.
function module.integer(p, name, value, least, most)
  return arguments.whole(("%s: %s"):format(p.what, name), value, least, most)
end

--- Sets the tile of a plan, { m, n, k }, and what follows from it for the consumers.
function module.set_tile(p, tile)
  p.m = module.integer(p, "tile[1]", tile[1], 64, 512)
  p.n = module.integer(p, "tile[2]", tile[2], 8, 256 // p.products)
  p.block_k = module.integer(p, "tile[3]", tile[3], p.k_step, 1024)
  p.width = p.n * p.products
  p.pingpong = p.schedule == "pingpong"
  p.consumers = p.pingpong and 2 or cost.consumers(p.m)
  p.threads = 128 * (1 + p.consumers)
  local rows = p.pingpong and 64 or 64 * p.consumers
  if p.m % rows ~= 0 then
    fail(("%s: tile[1] is %d, must be a multiple of %d for %s"):format(p.what, p.m, rows, p.schedule))
  end
  if p.block_k % p.k_step ~= 0 then
    fail(("%s: tile[3] is %d, must be a multiple of %d for %s"):format(p.what, p.block_k, p.k_step, p.dtype))
  end
  p.blocks = p.m // 64 // (p.pingpong and 1 or p.consumers)
  local most = p.consumers == 3 and 104 or 208
  if p.blocks * p.width // 2 > most then
    fail(("%s: a tile of %d x %d, %s, takes %d accumulators a thread: at most %d fit"):format(
      p.what, p.m, p.n, p.schedule, p.blocks * p.width // 2, most))
  end
end

--- Sets the CTAs of a plan's cluster.
function module.set_cluster(p, along_m, along_n)
  p.cluster_m, p.cluster_n = along_m, along_n
  p.cluster, p.multicast_producers = along_m * along_n, along_m + along_n - 1
end

--- Sets the tiles of the operands. What a copy brings is whole rows of a swizzle atom, or of an MN-major operand whole
--- atoms of 128 bytes along M or N.
function module.set_operands(p)
  local bytes = native.element_bytes[p.dtype]
  for _, part in ipairs {
    { "cluster", p.cluster_m, p.n, "columns", p.b_major }, { "cluster[2]", p.cluster_n, p.m, "rows", p.a_major },
  } do
    local name, ctas, extent, what, major = table.unpack(part)
    local unit = major == "MN" and 128 // bytes or 8
    if ctas > 1 and extent % (unit * ctas) ~= 0 then
      local of, other = "A", "B"
      if what ~= "columns" then of, other = other, of end
      local swapped = p.swapped and (" (rows of %s, which is swapped with %s)"):format(of, other) or ""
      fail(("%s: %s is %d, must divide the %d %s of a tile%s into multiples of %d"):format(
        p.what, name, ctas, extent, what, swapped, unit))
    end
  end
  local function operand(mn, major, k)
    return wg.tile {
      dtype = p.dtype, mn = mn, k = k or p.block_k, major = major, order = major == "MN" and "K" or "MN",
    }
  end
  local parts = p.emulated and p.emulated.parts or 1
  p.a, p.b = operand(parts * p.m, p.a_major, p.block_k // p.kind.packed), operand(parts * p.width, p.b_major)
  local rows, columns = tail.copied(p)
  p.a_box = rows < p.a.mn and operand(rows, p.a_major, p.a.k) or p.a
  p.b_box = operand(columns, p.b_major) -- of a product
end

--- Sets the number of stages, `given` or as many as fit beside `others` bytes of shared memory, and the registers of
--- the warpgroups.
function module.set_stages(p, others, given, registers)
  local stage = p.a.bytes + p.b.bytes + p.kind.more_bytes(p)
  local left = target.cta_shared - others - 1024 -- for alignment and mbarriers
  local most = left // stage
  -- At least two: a stage is released while the next one is being multiplied.
  if most < 2 then
    fail(("%s: two stages take %d bytes, and %d bytes of shared memory are left"):format(p.what, 2 * stage, left))
  end
  p.stages = module.integer(p, "stages", given or math.min(12, most), 2, most)
  for i = 1, registers and 2 or 0 do
    module.integer(p, ("registers[%d]"):format(i), registers[i], target.least_setmaxnreg, target.most_setmaxnreg)
  end
  p.registers = registers
    or (
      p.consumers == 1 and { 56, 256 } or p.consumers == 3 and { 32, 160 } or p.blocks * p.width > 256 and { 24, 240 }
        or { 40, 232 })
end

--- Adds the parameters of A and B.
function module.operand_parameters(p, add)
  local parts = p.emulated and ("%d parts, one below the other, as wg.split gives them"):format(p.emulated.parts)
  add {
    name = "A", map = { tile = p.a_box, constant = true },
    note = parts or p.kind.packed == 2 and "the values of A, M x K / 2" or p.swapped
      and "B of the product, for the kernel computes the transpose of D" or nil,
  }
  add {
    name = "B", map = { tile = p.b_box, constant = true },
    note = parts or p.groups and "those of all groups, one below the other" or p.swapped and "A of the product" or nil,
  }
end

return module
