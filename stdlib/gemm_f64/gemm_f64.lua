-- wg.gemm_f64: products of f64 matrices by int8 products, and their launches.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local prepared_launches = require "wgrun.builder.launches"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local moduli = require "wgrun.gemm_f64.moduli"
local products = require "wgrun.gemm_f64.products"
local reconstruction = require "wgrun.gemm_f64.reconstruction"
local remainder = require "wgrun.gemm_f64.remainder"
local residues = require "wgrun.gemm_f64.residues"
local native = require "wgrun.native"

local fail, ceil_div = native.fail, roofline.ceil_div

--- A product of f64 matrices made by wg.gemm_f64.
--- @field residues_a kernel  makes remainders of A
--- @field residues_b kernel  makes remainders of B
--- @field kernel kernel  multiplies them
--- @field reconstruction kernel  makes D of the remainders of its elements
--- @field plan table  the choices: moduli, tile, schedule
local gemm = classes.new "gemm_f64"

--- Kernels for D = A * B of f64 matrices by products of 8-bit integers (the second Ozaki scheme), and their launches. A
--- is M x K, B is K x N, D is M x N; a K-major operand has rows of K elements in memory, an MN-major one rows of M or
--- N. Each row of A, and each column of B, is multiplied by a power of two and rounded to whole numbers. These are
--- multiplied without an error, by their remainders. D is rounded once, and does not depend on timing.
--- @param options table
--- @option moduli integer[4,16] = 14  how many products of 8-bit integers D is made of: each adds nearly four bits to
---   the whole numbers of A and of B
--- @option a_major "K"|"MN" = "K"  whether A has rows of K elements in memory, or of M
--- @option b_major "K"|"MN" = "K"  whether B has rows of K elements in memory, or of N
--- @option tile table?  { m, n, k }: the tile of the integer products, as of wg.mainloop.dense
--- @option schedule "cooperative"|"pingpong" = "pingpong"  theirs, too
--- @option cluster integer|table = 1  theirs, too
--- @option name string = "gemm_f64"  the name of the kernel; the others are NAME_a, NAME_b and NAME_d
--- @return gemm_f64
--- @raise for a tile that does not fit.
--- @see wg.gemm
--- @example
---   local gemm = wg.gemm_f64 {}
---   gemm:run(A, B, D) -- A: M x K, B: N x K, D: M x N, of f64
function wg.gemm_f64(opts)
  opts = arguments.options("wg.gemm_f64", opts == nil and {} or opts)
  local schedule = opts.schedule
  local plan = {
    moduli = opts.moduli, a_major = opts.a_major, b_major = opts.b_major, schedule = schedule,
    cluster = opts.cluster, tile = opts.tile or { 128, schedule == "pingpong" and 192 or 256 },
  }
  local of, name = moduli.of(plan.moduli), opts.name
  local kernel, loop = products.make(name, plan)
  return setmetatable({
    plan = plan, loop = loop, constants = remainder.constants(of.list),
    residues_a = residues.make(name .. "_a", of, plan.a_major),
    residues_b = residues.make(name .. "_b", of, plan.b_major),
    kernel = kernel, reconstruction = reconstruction.make(name .. "_d", of),
  }, gemm)
end

-- M, N and K; raises an error that names the tensor that does not fit.
local function extents(p, A, B, D)
  local function of(name, tensor, major)
    local rows, columns = arguments.matrix("gemm_f64: " .. name, tensor)
    if tensor.dtype ~= "f64" then fail(("gemm_f64: %s is of %s, must be of f64"):format(name, tensor.dtype)) end
    if major == "MN" then rows, columns = columns, rows end
    return rows, columns
  end
  local M, K = of("A", A, p.a_major)
  local N, of_b = of("B", B, p.b_major)
  if K ~= of_b then fail(("gemm_f64: A has %d elements along K, and B has %d"):format(K, of_b)) end
  local rows, columns = of("D", D, "K")
  if rows ~= M or columns ~= N then
    fail(("gemm_f64: D is %d x %d, but A * B is %d x %d"):format(rows, columns, M, N))
  end
  if K > moduli.most_k then
    fail(("gemm_f64: K is %d, at most %d: sums of products of remainders have 32 bits"):format(K, moduli.most_k))
  end
  return M, N, K
end

-- What the kernels hand to each other, in the order of the option `workspace`: name, dtype, and shape for M, for N
-- rounded up to whole rows of 16 bytes, and for K rounded up so.
local handed = {
  { "A", "s8", function(count, M, _, K) return { count * M, K } end },
  { "B", "s8", function(count, _, N, K) return { count * N, K } end },
  { "D", "u8", function(count, M, N) return { count * M, N } end },
  { "rows", "s32", function(_, M) return { M } end },
  { "columns", "s32", function(_, _, N) return { N } end },
}

-- What the kernels hand to each other, by name, and the table of constants.
local function workspace(self, M, N, K, D, given)
  local count = self.plan.moduli
  local kept = prepared_launches.memory(self, given and "constants" or ("%d %d %d"):format(M, N, K), D, function()
    local made = { constants = wg.tensor("u32", { #self.constants }, self.constants) }
    for _, of in ipairs(given and {} or handed) do made[of[1]] = wg.empty(of[2], of[3](count, M, N, K)) end
    return made
  end)
  if not given then return kept end
  local memory = { constants = kept.constants }
  for i, of in ipairs(handed) do
    memory[of[1]] = given[i]
    arguments.same_shape(("gemm_f64: workspace[%d]"):format(i), given[i], of[3](count, M, N, K))
  end
  return memory
end

--- The options of the four launches, in their order.
--- @param A tensor  M x K, or K x M where A is MN-major, of f64
--- @param B tensor  N x K, or K x N where B is MN-major, of f64
--- @param D tensor  M x N of f64: the result
--- @param options table?
--- @option workspace table?  a list of tensors for what the kernels hand to each other, in place of those that the
---   object keeps: the remainders of A (s8, `moduli` M x K), of B (s8, `moduli` N x K) and of D (u8, `moduli` M x N),
---   and two of s32 with M and N values; here N and K are rounded up to multiples of 16
--- @return table  a list of { kernel, { grid =, args = } }
--- @raise when the extents do not fit each other.
function gemm:launches(A, B, D, values)
  local p = self.plan
  values = arguments.options("gemm_f64:launches", values == nil and {} or values)
  local M, N, K = extents(p, A, B, D)
  -- Rows of planes have a multiple of 16 bytes, as TMA copies them. Columns of D are rows of B.
  local padded, columns = ceil_div(K, 16) * 16, ceil_div(N, 16) * 16
  local memory = workspace(self, M, columns, padded, D, values.workspace)
  local multiply = self.loop:launch(self.kernel, memory.A, memory.B, { count = p.moduli })
  for _, argument in ipairs { memory.D, memory.D, memory.constants, M } do
    multiply.args[#multiply.args + 1] = argument
  end
  return {
    { self.residues_a, {
      grid = { ceil_div(M, residues.rows(p.a_major)) },
      args = { A, memory.A, memory.rows, memory.constants, M, K, M, padded },
    } },
    { self.residues_b, {
      grid = { ceil_div(columns, residues.rows(p.b_major)) },
      args = { B, memory.B, memory.columns, memory.constants, N, K, columns, padded },
    } },
    { self.kernel, { grid = multiply.grid, args = multiply.args } },
    { self.reconstruction, {
      grid = { M, ceil_div(N, reconstruction.columns) },
      args = { memory.D, D, memory.rows, memory.columns, M, N, columns },
    } },
  }
end

--- The launches as objects of one kernel each, which a host starts one after the other: each has the kernel and the
--- method `launch`, as plans of the C API and objects of the Python package take them.
--- @return table  a list of { kernel =, launch = }
--- @see gemm_f64:launches
function gemm:steps()
  return prepared_launches.steps(self, { "residues_a", "residues_b", "kernel", "reconstruction" })
end

-- The launches of the method called `name`, and the options of the kernels' own.
local function launches_of(name, self, A, B, D, given)
  local own, rest = arguments.split_options(name, "gemm_f64:launches", given)
  return self:launches(A, B, D, own), rest
end

--- Computes D, and waits until it is in the tensor.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm_f64:launches
--- @options kernel:run without grid, args, devices, flops
--- @return string  the back end that ran it
--- @see gemm_f64:launches
function gemm:run(A, B, D, run)
  return prepared_launches.run(launches_of("gemm_f64:run", self, A, B, D, run))
end

--- Prepares launches that can be started many times, with their tensors on the device.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm_f64:launches
--- @options kernel:prepare without grid, args, devices, flops
--- @return launches
--- @see kernel:prepare
function gemm:prepare(A, B, D, run)
  return prepared_launches.prepare(launches_of("gemm_f64:prepare", self, A, B, D, run))
end

--- Measures how long the four kernels take, each by itself.
--- @param A tensor
--- @param B tensor
--- @param D tensor
--- @param options table?
--- @options gemm_f64:launches
--- @options kernel:time without grid, args, devices, flops, against
--- @return table  { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it (2 M N K operations),
---   and the four medians
--- @see kernel:time
function gemm:time(A, B, D, time)
  local sum, parts = prepared_launches.time(launches_of("gemm_f64:time", self, A, B, D, time))
  local M, N, K = extents(self.plan, A, B, D)
  return { median_us = sum, tflops = 2.0 * M * N * K / sum * 1e-6, parts = parts }
end

classes.close("a gemm_f64", gemm)
classes.shield(wg, "wg.", { "gemm_f64" })
classes.shield(gemm, "gemm_f64:", { "launches", "steps", "run", "prepare", "time" })
