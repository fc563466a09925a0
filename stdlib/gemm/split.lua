-- f32 as a sum of parts of 16 bits, or of tf32, for wg.gemm{ precision = } (mainloop/emulated.lua). A part is what is
-- left, rounded to nearest:
--
--   a0 = round(a)    a1 = round(a - a0)    a2 = round(a - a0 - a1)
--
-- The differences are exact, and so is the sum of three parts of bf16: each takes eight bits of 24, and the sign of the
-- next one is one more. What would round to infinity is truncated. Of an infinity or NaN the first part is 1, with its
-- sign, and the last one is itself; those between are 0. So infinity times b is infinity times b0, and has b's sign: no
-- other product has it for a factor but in bf16x9, where it meets b1, which may be 0.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local emulated = require "wgrun.mainloop.emulated"
local native = require "wgrun.native"

local fail, ceil_div = native.fail, roofline.ceil_div
local threads, rows_of_cta, columns_of_thread = 256, 4, 4

-- From which magnitude on a number would round to infinity; the bits that truncation leaves.
local limits = { bf16 = { 0x7F7F8000, 0xFFFF0000 }, tf32 = { 0x7F7FF000, 0xFFFFE000 } }

-- How two f32 are rounded to a type: a word or two, and what these stand for.
local rounded = {
  bf16 = function(k, low, high)
    local both = k:cvt_rn_bf16x2_f32(high, low)
    local function number(bits) return k:mov(bits, { type = "f32" }) end
    return { both }, number(k:shl_b32(both, 16)), number(k["and"](k, both, 0xFFFF0000))
  end,
  tf32 = function(k, low, high)
    local out = {}
    for i, value in ipairs { low, high } do out[i] = k:cvt_rn_tf32_f32(value) end
    return out, k:mov(out[1], { type = "f32" }), k:mov(out[2], { type = "f32" })
  end,
}

-- A number: what its first part is rounded from, whether it is infinite or NaN, and itself.
local function number_of(k, dtype, value)
  local bits = k:reg "b32"
  k:mov(bits, value)
  local magnitude, sign = k["and"](k, bits, 0x7FFFFFFF), k["and"](k, bits, 0x80000000)
  local limit, mask = table.unpack(limits[dtype])
  local size = k:reg "u32"
  k:mov(size, magnitude)
  local special = size:ge(0x7F800000)
  local first = k:selp_b32(k["and"](k, bits, mask), bits, size:ge(limit))
  first = k:selp_b32(k["or"](k, sign, 0x3F800000), first, special)
  return { value = value, special = special, first = k:mov(first, { type = "f32" }) }
end

-- The parts of two numbers: lists of words.
local function parts_of(k, dtype, parts, low, high)
  local out, left = {}, { low.first, high.first }
  for part = 1, parts do
    local last = part == parts
    for i, number in ipairs { low, high } do
      if part > 1 then left[i] = k:selp_f32(last and number.value or 0.0, left[i], number.special) end
    end
    local words, first, second = rounded[dtype](k, left[1], left[2])
    out[part] = words
    if not last then
      for i, number in ipairs { low, high } do
        left[i] = k:sub(part == 1 and number.value or left[i], i == 1 and first or second)
      end
    end
  end
  return out
end

-- A CTA splits four rows, a thread four columns of each.
local function kernel_of(precision)
  local of = emulated.precision(precision)
  local bytes = native.element_bytes[of.dtype]
  local kernel = wg.kernel("split_" .. precision, { threads = threads }, function(k)
    local X, parts = k:param("X", "const f32*"), k:param("parts", of.dtype .. "*")
    local M, K, padded = k:param("M", "u32"), k:param("K", "u32"), k:param("padded", "u32")
    local first = k:special "ctaid.x" * rows_of_cta
    local column = (k:special "ctaid.y" * threads + k:special "tid.x") * columns_of_thread
    local aligned, rows = (K & 3):eq(0), {}
    for i = 0, rows_of_cta - 1 do
      local row = i == 0 and first or first + i
      local values, inside = k:regs("f32", columns_of_thread), row:lt(M)
      local from = k:mad_wide_u32(column, 4, k:mad_wide_u32(row, K << 2, X))
      for r = 0, columns_of_thread - 1 do k:mov(values[r], 0.0) end
      k:if_(aligned, function() k:ld_global_v4_f32(values, from, { guard = inside & column:lt(K) }) end, function()
        for r = 0, columns_of_thread - 1 do
          k:ld_global_f32(values[r], from, { offset = 4 * r, guard = inside & (r == 0 and column or column + r):lt(K) })
        end
      end)
      rows[i] = { row = row, values = values, stored = inside & column:lt(padded) }
    end
    for i = 0, rows_of_cta - 1 do
      local row, made = rows[i], {}
      for r = 0, columns_of_thread - 1 do made[r] = number_of(k, of.dtype, row.values[r]) end
      local low = parts_of(k, of.dtype, of.parts, made[0], made[1])
      local high = parts_of(k, of.dtype, of.parts, made[2], made[3])
      for part = 1, of.parts do
        local there = k:mad_wide_u32(row.row + (part == 1 and 0 or M * (part - 1)), padded * bytes, parts)
        local words = { table.unpack(low[part]) }
        table.move(high[part], 1, #high[part], #words + 1, words)
        k[#words == 2 and "st_global_v2_b32" or "st_global_v4_b32"](
          k, k:mad_wide_u32(column, bytes, there), words, { guard = row.stored })
      end
    end
  end)
  kernel:launch_rule {
    notes = {
      parts = ("those of M x K numbers, one below the other, with rows of `padded`; the grid has ceil(M / %d) x "
        .. "ceil(padded / %d) CTAs"):format(rows_of_cta, threads * columns_of_thread),
      padded = ("K, rounded up to a multiple of %d"):format(16 // bytes),
    },
  }
  return kernel
end

--- A kernel that splits f32 matrices for wg.gemm{ precision = }, made by wg.splitter.
--- @field kernel kernel  the kernel, like any other
--- @field precision string
local splitter = classes.new "splitter"

--- A kernel that splits an f32 matrix into the parts that wg.gemm{ precision = } multiplies.
--- @param options table
--- @option precision "bf16x9"|"bf16x6"|"bf16x3"|"3xtf32" = "bf16x6"  as of wg.gemm
--- @return splitter
--- @see wg.split
--- @example
---   local splitter = wg.splitter { precision = "bf16x6" }
---   splitter.kernel:run(splitter:launch(X, parts))
function wg.splitter(opts)
  local precision = arguments.options("wg.splitter", opts == nil and {} or opts).precision
  return setmetatable({ precision = precision, kernel = kernel_of(precision) }, splitter)
end

--- The shape of the parts of an M x K matrix: all rows of the first part, and below them those of the others. Rows have
--- a multiple of 16 bytes, with zeros at their end.
--- @param M integer
--- @param K integer
--- @return table  of bf16, or with 3xtf32 of tf32
function splitter:parts_shape(M, K)
  local of = emulated.precision(self.precision)
  local unit = 16 // native.element_bytes[of.dtype]
  return { of.parts * M, ceil_div(K, unit) * unit }
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param X tensor|device_tensor  M x K of f32
--- @param parts tensor|device_tensor  of splitter:parts_shape(M, K): the result
--- @return table  { grid =, args = }
--- @raise when the shapes do not fit each other.
function splitter:launch(X, parts)
  local M, K = arguments.matrix("splitter: X", X)
  local shape = self:parts_shape(M, K)
  arguments.same_shape("splitter: parts", parts, shape)
  return {
    grid = { ceil_div(M, rows_of_cta), ceil_div(shape[2], threads * columns_of_thread) },
    args = { X, parts, M, K, shape[2] },
  }
end

local made = {} -- by precision

--- The parts of an f32 matrix that wg.gemm{ precision = } multiplies, split where it is: on the device, or on the host
--- by the back end that runs kernels there.
--- @param X tensor|device_tensor  M x K of f32
--- @param precision string = "bf16x6"  as of wg.gemm
--- @return tensor|device_tensor  of the shape that splitter:parts_shape gives
--- @raise when X is no matrix of f32.
--- @see wg.gemm
--- @example
---   local parts = wg.split(X, "bf16x6") -- X: M x K of f32; parts: 3 M x K of bf16
function wg.split(X, precision)
  local M, K = arguments.matrix("wg.split: X", X)
  precision = precision or "bf16x6"
  if X.dtype ~= "f32" then fail("wg.split: X is of " .. X.dtype .. ", must be of f32") end
  made[precision] = made[precision] or wg.splitter { precision = precision }
  local s = made[precision]
  local parts = wg.zeros(emulated.precision(precision).dtype, s:parts_shape(M, K))
  if arguments.describe(X) == "wgrun.device_tensor" then parts = parts:to "gpu" end
  s.kernel:run(s:launch(X, parts))
  return parts
end

classes.close("a splitter", splitter)
classes.shield(wg, "wg.", { "splitter", "split" })
classes.shield(splitter, "splitter:", { "parts_shape", "launch" })
