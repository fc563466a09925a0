-- What was fitted to measured launches on an H200: the coefficients by which plans and tuning compare choices
-- (cost/gemm.lua, mixed_input/time.lua, attention/plan.lua, attention/splits.lua). Cycles are of an SM; a number
-- without a unit is a factor. What differs on other chips is in wg.chips (roofline.lua).

-- Tiles of D with a share of the tensor cores' speed: { rows, columns, share }, so that the plan ranks the tiles as the
-- chip did (docs/experiments/gemm.md). `hot`: the share on a chip that has lowered its clock to stay within its
-- power, where another order was measured: the pauses of an epilogue, which ping-pong hides, gain no clock there.
local tiles = {
  dense = {
    cooperative = {
      { 128, 256, 1 }, { 256, 192, 0.99 }, { 256, 176, 0.99 }, { 384, 128, 0.97 }, { 128, 224, 0.98 },
      { 128, 192, 0.98 },
      { 256, 160, 0.975 }, { 256, 208, 0.975 }, { 192, 192, 0.97 }, { 192, 176, 0.965 }, { 128, 176, 0.965 },
      { 192, 160, 0.96 }, { 256, 128, 0.955 }, { 128, 160, 0.95 }, { 192, 128, 0.94 }, { 128, 128, 0.93 },
      { 128, 144, 0.9 }, { 192, 96, 0.89 }, { 64, 128, 0.76 },
    },
    pingpong = {
      { 128, 192, 0.94, hot = 0.975 }, { 128, 176, 0.935, hot = 0.968 }, { 128, 160, 0.91, hot = 0.985 },
      { 192, 128, 0.92 }, { 128, 128, 0.92 },
      { 64, 256, 0.90 }, { 64, 224, 0.89 }, { 192, 96, 0.86 }, { 128, 96, 0.80 }, { 64, 192, 0.79 },
    },
  },
  -- With a sparse A the tensor cores are twice as fast, and B comes from shared memory at its full bandwidth: tiles
  -- that read fewer bytes for a product win.
  sparse = {
    cooperative = {
      { 256, 192, 1 }, { 128, 256, 1 }, { 256, 176, 0.99 }, { 256, 160, 0.97 }, { 192, 192, 0.89 }, { 256, 128, 0.79 },
      { 128, 192, 0.78 }, { 128, 128, 0.7 }, { 64, 128, 0.5 },
    },
  },
  -- With block scales, sums go from the tensor cores to the CUDA cores once a block. Some tiles are of
  -- products with many tiles alone, or with a small M. 256 rows take less than 256 columns, which have two of B's
  -- scales, and in a `cluster` along N they share A.
  block_scaled = {
    cooperative = {
      { 192, 128, 0.955 }, { 256, 128, 0.915, hot = 0.865, of = "many", cluster = { 1, 2 } },
      { 128, 256, 0.91, hot = 0.78 }, { 128, 192, 0.87, hot = 0.75 }, { 128, 160, 0.8, hot = 0.7, of = "many" },
      { 128, 128, 0.75, hot = 0.8 },
      { 64, 128, 0.5 }, { 64, 64, 0.35, of = "small_m" }, { 128, 64, 0.5, of = "small_m" },
    },
  },
  -- Products of parts of f32 numbers. Tiles of 192 rows or columns wait longer for what is added: a consumer has one
  -- block of 64 rows, or the stage is nearly all of the memory. 64 rows were not measured.
  emulated = {
    cooperative = {
      { 256, 128, 1 }, { 128, 128, 0.965 }, { 128, 192, 0.81 }, { 192, 128, 0.8 }, { 64, 128, 0.6 },
    },
  },
  -- Groups of rows. Small ones, which take as long as their B's bytes, want tiles of 64 rows, and `line` bytes of each
  -- row at a time.
  grouped = {
    cooperative = {
      { 128, 256, 1 }, { 256, 192, 0.98 }, { 128, 224, 0.97 }, { 128, 192, 0.97 }, { 256, 128, 0.96 },
      { 192, 128, 0.95 },
      { 64, 256, 0.93 }, { 128, 160, 0.94 }, { 128, 128, 0.92 }, { 64, 128, 0.8, line = 256 },
    },
    pingpong = {
      { 128, 192, 0.93, hot = 0.975 }, { 128, 176, 0.92, hot = 0.975 }, { 128, 160, 0.91, hot = 0.988 },
      { 128, 128, 0.86 },
    },
  },
  -- Groups with block scales, hot and cool.
  grouped_block_scaled = {
    cooperative = {
      { 192, 128, 0.955 }, { 128, 256, 0.91 }, { 128, 192, 0.87 }, { 128, 160, 0.8 }, { 128, 128, 0.75 },
      { 64, 128, 0.5 },
    },
  },
}

return {
  -- The way from the L2 cache to an SM, where all SMs read: cycles that 128 bytes take at least. 2.5 were measured on
  -- an H100 (docs/experiments/small_m.md), where requests queue for fewer slices: with the square of their number for
  -- an SM.
  row_cycles = 1.75,

  -- Many tiles.
  gemm = {
    tiles = tiles,
    start = 1000, -- cycles of a consumer's epilogue, with draining and refilling the pipeline
    block = 2500, -- of 64 x 256 sums of a consumer
    c_stage = 4000, -- of a block of rows that takes stages for C from the ring
    workspace_bytes = 32, -- of sums that an SM writes to or reads from the L2 cache in a cycle: not measured
    splits_gain = 1.2, -- how much faster slices of K must be than one
    -- cycles that slices of K in the last round take besides their products and the bytes of their sums
    last_splits = 4000,
    memory = 0.97, -- of what kernels get of the memory's bandwidth
    exposed = 0.1, -- of groups: of the shorter of products' and memory's time, what the longer does not hide
    long_lines = 0.98, -- how long memory takes with lines of more than 128 bytes
  },

  -- Small M: 11,700 runs of 364 shapes (docs/experiments/small_m.md). B is taken for weights, which come from memory,
  -- and A for activations, which the launch before has left in the L2 cache.
  small_m = {
    most_tiles = 110, -- of 128 x 256, up to which a product has few
    most_rows = 400, -- of A, up to which the model counts whatever there is of B
    activation = 1.27, -- cycles of a row of A, from the L2 cache, where all SMs read
    weight = 2.2, -- of a row of B for which several CTAs ask, while it is on its way from memory
    multicast = 0.65, -- of a row that a copy brings to several CTAs
    idle = 0.31, -- of these times, what is left where the other SMs do not read
    latency = 1550, -- from the copy of a stage to its arrival
    -- of the time that the tensor cores should take, since what limits one block hides behind another's limit
    products = 0.935,
    three_consumers = 1.08, -- how much longer they take where three consumers share a tile
    block = 1200, -- of a consumer's epilogue for 64 x 256 sums
    dsmem_bytes = 19, -- of sums that a CTA receives in a cycle
    cluster = 1200, -- until all CTAs of a cluster have begun, and ended
    memory = 0.963, -- of the memory's bandwidth
    uneven = 0.3, -- how much longer memory takes for each share of the rounds' CTAs that have no tile
    exposed = 0.36, -- of the shorter of the SMs' and memory's time
  },

  -- Weights of 4 and 8 bits (docs/experiments/mixed_input.md). Times in microseconds.
  mixed_input = {
    -- In which the warps of an SM convert 2^15 weights and multiply them by so many rows of A, by the bytes of an
    -- element of A. An A of e4m3 was measured with 16, 64, 128, 192 and 256 rows.
    turns = {
      { { 16, 0.385 }, { 64, 0.64 }, { 128, 0.77 }, { 192, 0.96 }, { 256, 1.28 } },
      { { 8, 0.40 }, { 16, 0.46 }, { 24, 0.515 }, { 32, 0.575 }, { 64, 0.84 }, { 128, 1.26 }, { 256, 2.6 } },
    },
    bits_8 = 1.06, -- how much longer with weights of 8 bits
    memory = 0.998, -- of what kernels get of the memory's bandwidth
    one_memory = 0.00998, -- of it, what one SM gets
    l2_bytes = 9.3e4, -- on the way from the L2 cache to an SM
    waits = { 1.85, 1.85, 1.06 }, -- how much longer with so many stages, all of which wait for each other
    start = 2.0,
    round = 1.5, -- of each round but the first
    sums = 0.28, -- of slices of K: until they are added up
    sum_bytes = { 1.9e4, 8.5e4 }, -- likewise, of those that other CTAs send
    stream_sums = 2.7, -- likewise through global memory
    stream_bytes = 7.6e4,
    stream_tile = 0.16,
  },

  -- wg.attention (docs/experiments/attention.md, "Few queries, many keys"). Times in nanoseconds.
  attention = {
    wide = 1.2, -- how much longer a tile of 192 queries takes than one of 128
    -- of a key for a tile of 128 queries, by head size
    key = { [64] = 9.0, [96] = 9.9, [128] = 10.5, [192] = 13.5, [256] = 17.8 },
    start = 2700, -- of each round of clusters
    join = 800, -- of parts of the keys
    join_part = 500, -- for each part but the first
    splits_gain = 0.96, -- what share of the time more parts must take at most
  },
}
