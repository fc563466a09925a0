-- Weights of 4 and 8 bits in the order of wg.gemm{ b_type = }: what a thread needs as its part of wgmma's A lies
-- together, so that it comes by loads of 16 bytes, and what a CTA reads is contiguous.
--
-- Blocks of 64 rows follow each other; in a block, units of 16 bytes along K (64 elements of 4 bits, 32 of 8), each for
-- the 128 threads of a warpgroup. Thread t holds the rows r = 16 (t / 32) + t % 32 / 4 and r + 8, and for each step of
-- 16 elements of K the columns c = 2 (t % 4), c + 1, c + 8 and c + 9 (PTX ISA 9.7.15.5.1, figure of the A fragment).
-- They make four pairs: (r, c), (r + 8, c), (r, c + 8), (r + 8, c + 8), each with the element to the right of it.
--   4 bits: a word for each step; pair i is at bits 4 i and 16 + 4 i.
--   8 bits: two words; the first pair of a word is in its bytes 0 and 2, the second in bytes 1 and 3.
-- Signed integers are stored as unsigned ones, plus 8 or 128. mixed_input/fp4_pack.lua has the order of fp4.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local exclusions = require "wgrun.mainloop.exclusions"
local fp4 = require "wgrun.mixed_input.fp4"
local fp4_pack = require "wgrun.mixed_input.fp4_pack"
local fp4_e4m3_pack = require "wgrun.mixed_input.fp4_e4m3_pack"
local packed_weights = require "wgrun.mixed_input.packed"
local native = require "wgrun.native"

local fail = native.fail
local flip = { s4 = 0x88888888, s8 = 0x80808080 }

-- Loads the four pairs of a step: 16 bits each, of weights of 8 bits, or the byte of two of 4 bits; 0 outside of the
-- matrix.
local function load_pairs(k, bits, rows, column, K)
  local out = {}
  for i = 0, 3 do
    local row, at = rows[i % 2], i < 2 and column or column + 8
    local value, inside = k:reg "u16", row.inside & at:lt(K)
    k:mov(value, 0)
    local from = k:add(row.from, k:cvt_u64_u32(bits == 4 and at >> 1 or at))
    k[bits == 4 and "ld_global_u8" or "ld_global_u16"](k, value, from, { guard = inside })
    out[i] = k:cvt_u32_u16(value)
  end
  return out
end

-- The words of a step.
local function words_of(k, bits, pairs_of)
  if bits == 4 then
    local word
    for i = 0, 3 do
      local halves = (pairs_of[i] & 0xF) | (pairs_of[i] & 0xF0) << 12
      word = i == 0 and halves or word | halves << 4 * i
    end
    return { word }
  end
  local function merged(even, odd) return k:prmt(even, odd, 0x5140) end
  return { merged(pairs_of[0], pairs_of[1]), merged(pairs_of[2], pairs_of[3]) }
end

-- A CTA packs a unit of 64 rows.
local function kernel_of(b_type, bits)
  local steps = bits == 4 and 4 or 2 -- of 16 elements in a unit
  return wg.kernel("prepack_" .. b_type, { threads = 128 }, function(k)
    local W, packed = k:param("W", bits == 4 and "const u8*" or "const " .. b_type .. "*"), k:param("packed", "u32*")
    local N, K = k:param("N", "u32"), k:param("K", "u32")
    local thread, unit, block = k:special "tid.x", k:special "ctaid.x", k:special "ctaid.y"
    local lane, rows = thread & 31, {}
    local first = (block << 6) + ((thread >> 5) << 4) + (lane >> 2)
    for half = 0, 1 do
      local row = half == 0 and first or first + 8
      rows[half] = { inside = row:lt(N), from = k:mad_wide_u32(row, bits == 4 and K >> 1 or K, W) }
    end
    local column, words = unit * (16 * steps) + ((lane & 3) << 1), {}
    for step = 0, steps - 1 do
      local at = step == 0 and column or column + 16 * step
      for _, word in ipairs(words_of(k, bits, load_pairs(k, bits, rows, at, K))) do
        words[#words + 1] = flip[b_type] and word ~ flip[b_type] or word
      end
    end
    k:st_global_v4_b32(k:element(packed, ((block * k:special "nctaid.x" + unit) << 9) + (thread << 2)), words)
  end)
end

--- A kernel that puts weights into the order of wg.gemm{ b_type = }, made by wg.prepacker.
--- @field kernel kernel  the kernel, like any other
--- @field b_type string  the type of the weights
--- @field a_type string  the type of A
--- @field bits integer  the bits of a weight: 4 or 8
local prepacker = classes.new "prepacker"

--- A kernel that puts weights into the order in which wg.gemm{ b_type = } reads them; once for all products with them.
--- @param options table
--- @option b_type "s4"|"u4"|"s8"|"u8"|"e4m3"|"mxfp4"|"nvfp4"  the type of the weights
--- @return prepacker
--- @option a_type "bf16"|"f16"|"e4m3" = "bf16"  the type of A: for e4m3, weights have another order
--- @see wg.prepack
--- @example
---   local prepacker = wg.prepacker { b_type = "s4" }
---   prepacker.kernel:run(prepacker:launch(W, packed))
function wg.prepacker(opts)
  arguments.options("wg.prepacker", opts)
  local b_type, a_type = opts.b_type, opts.a_type or "bf16"
  local bits, format = packed_weights.bits("wg.prepacker", b_type), fp4.format(b_type, a_type)
  exclusions.check_choices { what = "wg.prepacker", b_type = b_type, dtype = a_type, fp4 = format, epilogue = {} }
  local kernel
  if format and format.row_factors then
    kernel = fp4_e4m3_pack.kernel()
  elseif format then
    kernel = fp4_pack.kernel_of(b_type)
  else
    kernel = kernel_of(b_type, bits)
  end
  return setmetatable({ b_type = b_type, a_type = a_type, bits = bits, kernel = kernel }, prepacker)
end

--- The shape of the packed weights of an N x K matrix.
--- @param N integer  the rows of the weights, which are columns of D
--- @param K integer
--- @return table  of u32: { blocks of 64 rows, units of 16 bytes along K, 128, 4 }; of mxfp4 and nvfp4, whose scales
---   lie between the weights, { blocks of 64 rows, units of 64 elements of K, 544 or 576 }; for an A of e4m3
---   { blocks of 64 rows, 544 for each unit and 64 factors of rows }
function prepacker:packed_shape(N, K) return packed_weights.shape(self.b_type, self.a_type, N, K) end

-- Raises unless there are scales where weights are packed with them, and as many as fit the weights.
local function check_scales(p, scales, N, K)
  local format = fp4.format(p.b_type)
  if not format then
    if scales ~= nil then fail(("prepacker: weights of %s are packed without scales"):format(p.b_type)) end
    return
  end
  if K % format.group_size ~= 0 then
    fail(("prepacker: K is %d, must be a multiple of the %d elements that share a scale"):format(K, format.group_size))
  end
  local want, given = arguments.shape_text { N, K // format.group_size }, arguments.shape_of(scales)
  if arguments.shape_text(given) ~= want or scales.dtype ~= format.scales then
    local got = arguments.shape_text(given) .. (given and " of " .. scales.dtype or "")
    fail(("prepacker: scales must be N x K / %d = %s of %s, not %s"):format(
      format.group_size, want, format.scales, got))
  end
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param W tensor|device_tensor  the weights, N x K of `b_type`; of 4 bits N x K / 2 of u8, where the lower half of a
---   byte is the first of two elements
--- @param packed tensor|device_tensor  u32, of prepacker:packed_shape(N, K): the result
--- @param scales tensor|device_tensor?  of mxfp4 N x K / 32 of u8, which is ue8m0; of nvfp4 N x K / 16 of e4m3
--- @return table  { grid =, args = }
--- @raise when the shapes do not fit each other, or K is odd, or no multiple of a group.
function prepacker:launch(W, packed, scales)
  local N, K = arguments.matrix("prepacker: W", W)
  if self.bits == 4 then K = 2 * K end
  if K % 2 ~= 0 then fail(("prepacker: K is %d, must be even"):format(K)) end
  check_scales(self, scales, N, K)
  local shape = self:packed_shape(N, K)
  arguments.same_shape("prepacker: packed", packed, shape)
  return { grid = { packed_weights.units(self.b_type, K), shape[1] }, args = { W, packed, N, K, scales } }
end

local made = {} -- by the types of weights and A

--- Weights in the order of wg.gemm{ b_type = }, packed where they are: on the device, or on the host by the back end
--- that runs kernels there.
--- @param W tensor|device_tensor  the weights, N x K of `b_type`; of 4 bits N x K / 2 of u8, where the lower half of a
---   byte is the first of two elements
--- @param b_type string?  the type of the weights: "s4", "u4", "s8", "u8", "e4m3", "mxfp4" or "nvfp4"; by default that
---   of W
--- @param scales tensor|device_tensor?  of mxfp4 and nvfp4, as of prepacker:launch: they are packed with the weights
--- @param a_type string?  "e4m3" where A is of e4m3, with mxfp4
--- @return tensor|device_tensor  u32, of the shape that prepacker:packed_shape gives
--- @raise when W is no matrix of that type.
--- @see wg.gemm
--- @example
---   local packed = wg.prepack(W, "s4") -- W: N x K / 2 of u8
function wg.prepack(W, b_type, scales, a_type)
  local N, K = arguments.matrix("wg.prepack: W", W)
  b_type = b_type or W.dtype
  local types = ("%s %s"):format(b_type, a_type)
  made[types] = made[types] or wg.prepacker { b_type = b_type, a_type = a_type }
  local p = made[types]
  if p.bits == 4 then K = 2 * K end
  local packed = wg.zeros("u32", p:packed_shape(N, K))
  if arguments.describe(W) == "wgrun.device_tensor" then packed = packed:to "gpu" end
  p.kernel:run(p:launch(W, packed, scales))
  packed_weights.remember(packed, N, K)
  return packed
end

classes.close("a prepacker", prepacker)
classes.shield(wg, "wg.", { "prepacker", "prepack" })
classes.shield(prepacker, "prepacker:", { "packed_shape", "launch" })
