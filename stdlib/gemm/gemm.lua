-- wg.gemm: a kernel for D = A * B with a configurable epilogue, and its launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local collective = require "wgrun.collective.collective"
local epilogue_plan = require "wgrun.epilogue.plan"
local gemm_kernel = require "wgrun.gemm.kernel"
local parameters = require "wgrun.gemm.parameters"
local gemm_plan = require "wgrun.gemm.plan"
local mainloop_launch = require "wgrun.mainloop.launch"
local mixed_input_kernel = require "wgrun.mixed_input.kernel"
local mixed_input_launch = require "wgrun.mixed_input.launch"
local native = require "wgrun.native"
local scheduler_groups = require "wgrun.scheduler.groups"

local fail = native.fail

--- A matrix product made by wg.gemm.
--- @field kernel kernel  the kernel, like any other
--- @field plan table  the choices: tile, stages, schedule, registers
local gemm = classes.new "gemm"

--- A kernel for D = activation(alpha * A * B + beta * C + bias), and its launches. A is M x K, B is K x N, D is
--- M x N; a K-major operand has rows of K elements in memory, an MN-major one rows of M or N (16-bit types only).
--- The epilogue computes in f32; integers are rounded to nearest, and 8-bit types saturate.
--- @param options table
--- @option dtype "bf16"|"f16"|"tf32"|"e4m3"|"e5m2"|"s8"|"u8"|"f32" = "bf16"  the type of A and B; f32 needs a
---   `precision`
--- @option precision "bf16x9"|"bf16x6"|"bf16x3"|"3xtf32"?  f32 products by the tensor cores: A and B are sums of three
---   parts of bf16 (or two, of bf16 or tf32), and so many products of parts are summed. bf16x6 has the accuracy of f32
---   and bf16x9 leaves nothing out; with 3xtf32 a product has errors up to 3 * 2^-22, with bf16x3 up to 3 * 2^-16.
---   Launches take parts, as wg.split gives them
--- @option d "bf16"|"f16"|"f32"|"e4m3"|"e5m2"|"s32"|"s8"?  the type of D: by default `dtype`, but f32 for tf32,
---   bf16 for 8-bit floats and s32 for integers (with scales, bf16)
--- @option a_major "K"|"MN" = "K"  whether A has rows of K elements in memory, or of M
--- @option b_major "K"|"MN" = "K"  whether B has rows of K elements in memory, or of N
--- @option problem table?  { M, N, K }: the problem for which options that are left out are chosen; with `groups`, M is
---   the rows of all of them, and a fourth number is the number of groups
--- @option heat "hot"|"cool" = "hot"  the chip for which the `problem`'s tile is chosen: "hot", as in training and
---   serving, where launches follow each other and the chip lowers its clock to stay within its power; or "cool",
---   where launches come after pauses
--- @option name string = "gemm"  the name of the kernel
--- @option groups "contiguous"|"masked"|"batched"?  groups of A's rows, each with its own B: "contiguous": they follow
---   each other, and `offsets` has where each ends; "masked": all have room for as many rows, and `sizes` has how
---   many each has; "batched": all are full
--- @option collective "all_gather"|"reduce_scatter"?  a product of several devices, each of which runs the kernel at
---   the same time. "all_gather": each has as many rows of A, and gets all rows of D for its own B. "reduce_scatter":
---   each has some of K, A and B of its own, and gets as many rows of the sum of all products. The `problem` is the
---   product of one device
--- @option devices integer[2,8]?  with collective: how many there are
--- @option b_type "s4"|"u4"|"s8"|"u8"|"e4m3"|"mxfp4"|"nvfp4"?  weights B of another type than A, packed by
---   wg.prepack, with a scale for each `group_size` elements of K in a row. Those of "mxfp4" and "nvfp4" are e2m1,
---   packed with a ue8m0 for each 32, or an e4m3 for each 16 elements of K
--- @option a_type "bf16"|"f16"|"e4m3" = "bf16"  with b_type, the type of A, of the scales and of the zero points; bf16
---   with nvfp4, bf16 or e4m3 with mxfp4
--- @option zeros boolean = false  with b_type, integer weights have zero points: a weight stands for (weight - zero
---   point) * scale
--- @option scales table?  the scales of A and B, f32 values that are given at launch; with b_type those of an A of
---   e4m3, of rows or of all
--- @option scales.a "1x128"|"row"|"tensor"?  "1x128": one for each row and each 128 elements of K (8-bit floats;
---   together with b = "128x128"); "row": one for each row; "tensor": one
--- @option scales.b "128x128"|"row"|"tensor"?  "128x128": one for each 128 rows (columns of D) and each 128 elements of
---   K; "row": one for each row, which is a column of D; "tensor": one
--- @option epilogue table?  the operations that follow the product; their values are given at launch
--- @option epilogue.alpha boolean = false  a factor of A * B
--- @option epilogue.beta boolean = false  adds C, of D's type, times a factor
--- @option epilogue.bias "row"|"column"?  adds an f32 for each "row" or each "column" of D
--- @option epilogue.gate string|function?  multiplies A * B by this activation of a second product, A * gate: "silu"
---   makes SwiGLU, "gelu" GEGLU, "relu" ReGLU, "sigmoid" GLU; or a function of k and two f32 registers, gate and value,
---   that returns one
--- @option epilogue.residual boolean = false  adds a matrix of D's type, after the activation
--- @option epilogue.quantize "1x128"?  "1x128": D, e4m3 or e5m2, is divided by a scale for each row and 128 columns, so
---   that the largest element becomes the type's largest number; the scales are as `a_scales` of a product that takes D
---   for A
--- @option epilogue.row_sums "squares"|"rms"|function?  "squares": the sum of the squares of each row of D, as it is
---   before it is rounded; "rms": 1 / sqrt(mean of the squares + epsilon); or a function of k and an f32 register,
---   whose values are summed
--- @option epilogue.epsilon number = 1e-6  of "rms"
--- @option epilogue.activation string|function?  "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an
---   f32 register that returns one
--- @option swap_ab boolean?  whether A and B are swapped and D is written transposed, so that rows of B take the
---   place of wgmma's 64 rows: for a small M and a D of 16 bits. By default chosen where the `problem` has few
---   tiles or a small M; with a `tile`, or options that only many tiles go with, for up to 128 rows
--- @option tile table?  { m, n, k }: the tile of D that a CTA computes at a time, with swap_ab of D's transpose; with
---   b_type { rows of B, 64 or 128; rows of A; k }
--- @option stages integer?  the stages of the pipeline, at least 2; by default as many as fit, up to 12
--- @option registers table?  { producer, consumer }: the registers of a thread, 24 to 256
--- @option buffers integer[1,8]?  the panels of a consumer's epilogue; by default 2, or 4 for pingpong with C or a
---   residual
--- @option schedule "cooperative"|"pingpong"?  "cooperative": the consumers share a tile; "pingpong": each of two has
---   its own
--- @option cluster integer|table?  the CTAs that share copies by multicast, 1 to 16 in all: along M, which share B, or
---   { along M, along N }, and those along N share A; with swap_ab, M and N of D's transpose. By default chosen
---   where the `problem` has few tiles, otherwise 1
--- @option raster "grouped"|"hilbert" = "grouped"  the order of the tiles: "grouped", or "hilbert" along Hilbert's
---   curve
--- @option group integer[1,65535]?  rows of tiles that the order covers before it goes on to the next column; by
---   default 12, 16 for block scales and groups, those of 2816 rows of a sparse A, 8 for pingpong, and 1 where A
---   and B are swapped
--- @option group_size integer = 128  with b_type, the elements of K that share a scale: 32, 64 or a multiple of 128
--- @option splits integer[1,64]?  split-K: the slices of K (with b_type up to 8), which different CTAs multiply and sum
---   in a fixed order. The CTAs of up to 8 slices are a cluster, where the epilogue has no gate, row sums or quantised
---   D and `cluster` is 1. By default chosen by the `problem`, otherwise 1
--- @option last_splits integer[1,64]?  with block scales: where at most one of so many CTAs would have a tile in the
---   last round, its tiles are multiplied in so many slices of K, and summed as with `splits`. By default where the
---   `problem` has such a round and K is long
--- @option sparse "A"?  "A": A is 2:4 sparse. Launches get its values for A, and its metadata, both from
---   wg.sparse.compress(A, "gemm"); A is K-major
--- @option halves boolean?  tail tiles: where at most half of the CTAs would have a tile in the last round, its tiles
---   are cut in two. Tiles with 128 rows for each consumer, such as 256 x 192, become an upper and a lower half; with
---   `groups`, tiles such as 128 x 256 become a left and a right half. By default for a sparse A whose `problem` has
---   such a last round, and for groups, contiguous or masked, whose tiles have 256 columns
--- @option stream_k boolean = false  CTAs share the K blocks of the tiles in the last, partial round; with b_type those
---   of all tiles
--- @option constant "A"|"B"?  an operand, such as weights, that is not written by any launch that may still run when
---   this one starts; its first tiles are fetched while the previous launch ends
--- @option next boolean = false  with b_type: launches take the weights of the product behind them, as `next`, and
---   bring the first of these to the L2 cache once they have asked for the last of their own
--- @return gemm
--- @raise for options that contradict each other, and for tiles that do not fit into shared memory or registers.
--- @see wg.tune
--- @example
---   local gemm = wg.gemm { dtype = "bf16", problem = { 4096, 4096, 4096 }, epilogue = { bias = "column" } }
---   gemm:run(A, B, D, { bias = bias })
function wg.gemm(opts)
  if type(opts) == "table" and opts.dtype == "f64" then
    fail("wg.gemm: no instruction of its kernel multiplies f64", "wg.gemm_f64, whose four kernels do")
  end
  local p = gemm_plan.make(opts == nil and {} or opts)
  p.parameters = (p.mixed_input and mixed_input_launch.parameters or parameters.make)(p)
  local kernel = (p.mixed_input and mixed_input_kernel.make or gemm_kernel.make)(p)
  return setmetatable({ plan = p, kernel = kernel, shared = {} }, gemm)
end

local function matrix(name, tensor) return arguments.matrix("gemm: " .. name, tensor) end

-- The extents of D, K, and with a collective the rows of a shard; raises an error that names what does not fit.
local function extents(p, A, B, D, groups)
  local M, N, K = mainloop_launch.extents("gemm", p, A, B, groups)
  local shard
  if p.collective then M, shard = collective.extents(p, M) end
  local rows, columns = matrix("D", D)
  if rows ~= M or columns ~= N then
    local of = p.collective and ("that of %d devices"):format(p.devices) or "A * B"
    fail(("gemm: D is %d x %d, but %s is %d x %d"):format(rows, columns, of, M, N))
  end
  return M, N, K, shard
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param A tensor  M x K, or K x M where A is MN-major; of a sparse A the values, M x K / 2
--- @param B tensor  N x K, or K x N where B is MN-major; with groups those of all, one below the other; with b_type as
---   wg.prepack gives it
--- @param D tensor  M x N: the result; rows that belong to no group stay as they are
--- @param options table?  the values of the epilogue, and the metadata of a sparse A
--- @option alpha number = 1.0  the factor of A * B
--- @option beta number = 1.0  the factor of C
--- @option C tensor?  M x N, of D's type
--- @option bias tensor?  f32: M values for "row", N for "column"
--- @option gate tensor?  as B: the second product's
--- @option gate_bias tensor?  as `bias`, of the gate
--- @option gate_scales tensor?  as `b_scales`, of the gate
--- @option residual tensor?  M x N, of D's type
--- @option row_sums tensor?  M values of f32, which are written
--- @option d_scales tensor?  of a quantised D: f32, ceil(N / 128) x M (M rounded up to a multiple of 4), which are
---   written
--- @option metadata tensor?  of a sparse A, as wg.sparse.compress gives it
--- @option offsets tensor?  of contiguous groups: s32, the end of each group's rows in A and D
--- @option sizes tensor?  of masked groups: s32, the number of each group's rows
--- @option count integer[1,65535]?  the number of batched groups
--- @option a_scales tensor?  f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row",
---   1 for "tensor"
--- @option b_scales tensor?  f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the
---   other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type, but with "nvfp4" 1
---   of f32, the scale of all weights, and with "mxfp4" none
--- @option b_zeros tensor?  with zeros: K / group_size x N whole numbers of A's type
--- @option next tensor?  with `next`: the weights of the product behind this one, of B's shape; B itself where there is
---   none
--- @option rank integer[0,7]?  with collective: the number of the device that has A, B and D
--- @option flags table?  with collective: a list of u32 tensors, one of each device by rank, of the size that
---   gemm:exchange gives, or larger. They are zeros before the first launch, and the same in all launches
--- @option shards table?  of all_gather: a list of the A of each device by rank
--- @option gathered tensor?  of all_gather: memory for A of all devices, in their order, with as many rows for each; at
---   least those of A, rounded up to the rows of the tiles of a cluster, for which 512 is enough. The device's own are
---   not written. By default the product's own
--- @option inboxes table?  of reduce_scatter: a list of tensors of D's type, one of each device by rank, of the size
---   that gemm:exchange gives, or larger; the same in all launches
--- @option sms integer[1,65535]?  how many SMs the launch may use, where others need the rest; by default all
--- @return table  { grid =, args =, flops = }
--- @raise when the extents do not fit each other, or a value of the epilogue is missing.
function gemm:launch(A, B, D, epilogue)
  local p = self.plan
  if epilogue == nil then epilogue = {} end
  arguments.options("gemm:launch", epilogue)
  if p.mixed_input then return mixed_input_launch.make(self, self.kernel, A, B, matrix("D", D) and D, epilogue) end
  epilogue_plan.check_values(p, epilogue)
  mainloop_launch.check_operand_values(p, epilogue)
  local groups, group_rows, rows_of_tiles = scheduler_groups.arguments(p, epilogue, (matrix("A", A)), p.m * p.cluster_m)
  local M, N, K, shard = extents(p, A, B, D, groups)
  if p.swapped then A, B, M, N = B, A, N, M end
  local of_devices = collective.arguments(p, epilogue, A, D, shard)
  local launch = mainloop_launch.make(self, self.kernel, arguments.merged({
    A = A, B = B, D = D, M = M, N = N, K = K, rows = D.shape[1], columns = D.shape[2], given = epilogue,
    groups = groups, group_rows = group_rows,
    rows_of_tiles = rows_of_tiles, gemm = self,
  }, of_devices))
  if p.scatter then launch.flops = launch.flops * p.devices end
  return launch
end

--- The memory that each device needs for launches of a collective besides A, B and D: shapes of tensors, which other
--- devices reach.
--- @param rows integer  of D
--- @param columns integer  of D
--- @return table  { flags =, inbox = }: of u32, and with reduce_scatter of D's type
--- @raise for a product of one device.
--- @see gemm:launch
function gemm:exchange(rows, columns)
  local p = self.plan
  if not p.collective then fail "gemm:exchange: the product has no `collective`" end
  return collective.exchange(p, rows, columns)
end

-- The launch of the method called `name`: `given` holds values of the epilogue, and options of the kernel's method.
local function launch_with(name, self, A, B, D, given)
  local epilogue, rest = arguments.split_options(name, "gemm:launch", given)
  local launch = self:launch(A, B, D, epilogue)
  -- A workspace has room for the sums of the CTAs that launch() counts.
  local grid, room = type(rest.grid) == "table" and rest.grid or { rest.grid }, launch.grid[1]
  local p = self.plan
  if (p.stream_k or (p.last_splits or 1) > 1) and math.type(grid[1]) == "integer" and grid[1] > room then
    fail(("%s: grid is %d CTAs, at most %d with `%s`"):format(
      name, grid[1], room, p.stream_k and "stream_k" or "last_splits"))
  end
  return arguments.extended(launch, rest)
end

--- Computes D, and waits until it is in the tensor. With `precision`, matrices of f32 are split first.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see gemm:launch
function gemm:run(A, B, D, run)
  local p = self.plan
  local function split(matrix)
    local whole = p.emulated and arguments.shape_of(matrix) and matrix.dtype == "f32"
    return whole and wg.split(matrix, p.precision) or matrix
  end
  A, B = split(A), split(B)
  return self.kernel:run(launch_with("gemm:run", self, A, B, D, run))
end

--- Prepares a launch that can be started many times, with its tensors on the device.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work
--- @options kernel:prepare without grid, args, devices, flops
--- @return launch
--- @see kernel:prepare
function gemm:prepare(A, B, D, run)
  return self.kernel:prepare(launch_with("gemm:prepare", self, A, B, D, run))
end

--- Measures how long the product takes, and its TFLOPS.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm:launch
--- @option grid integer|table?  the CTAs; by default one on each SM that finds work
--- @options kernel:time without grid, args, devices, flops
--- @return table  as of kernel:time
--- @see kernel:time
function gemm:time(A, B, D, time) return self.kernel:time(launch_with("gemm:time", self, A, B, D, time)) end

classes.close("a gemm", gemm)
classes.shield(wg, "wg.", { "gemm" })
classes.shield(gemm, "gemm:", { "launch", "exchange", "run", "prepare", "time" })
