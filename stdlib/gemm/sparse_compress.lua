-- Compressing a 2:4 sparse matrix on the device, in the order of wg.gemm (stdlib/sparse.lua). A thread makes whole
-- words of metadata: it reads the elements that belong to one in pieces of 32 bytes, keeps of each chunk of four
-- elements the two largest (of tf32, of each two the larger one), and writes these as pieces of 16 bytes. Which ones it
-- kept is the chunk's code of 4 bits in the word.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local sparse = require "wgrun.mainloop.sparse"
local native = require "wgrun.native"

local fail, ceil_div = native.fail, roofline.ceil_div
local element_bytes = native.element_bytes

-- The magnitude of an element, given as the word that holds it and its place there: an unsigned integer that orders
-- like it, without the sign.
local function magnitude(k, dtype, word, place)
  if dtype == "tf32" then return k:bfe_u32(word, 0, 31) end
  if dtype == "s8" then return k:abs_s32(k:bfe_s32(word, 8 * place, 8)) end
  if element_bytes[dtype] == 2 then return k:bfe_u32(word, 16 * place, 15) end
  return k:bfe_u32(word, 8 * place, dtype == "u8" and 8 or 7)
end

-- Where two of three predicates hold.
local function most(a, b, c) return a & b | c & (a | b) end

-- Of four magnitudes the two largest, of equal ones the first. `first` has a number for each element that may be the
-- first of the two, and `second` one for each that may be the second: returns the OR of those of the two, and the OR of
-- the other two magnitudes.
local function two_of_four(k, magnitudes, first, second)
  local wins = {} -- [i][j], i < j: element i is kept rather than element j
  for i = 1, 3 do
    wins[i] = {}
    for j = i + 1, 4 do wins[i][j] = magnitudes[i]:ge(magnitudes[j]) end
  end
  local kept = {
    most(wins[1][2], wins[1][3], wins[1][4]), most(~wins[1][2], wins[2][3], wins[2][4]),
    most(~wins[1][3], ~wins[2][3], wins[3][4]), most(~wins[1][4], ~wins[2][4], ~wins[3][4]),
  }
  local lower = k:selp_b32(first[1], k:selp_b32(first[2], first[3], kept[2]), kept[1])
  local upper = k:selp_b32(second[3], k:selp_b32(second[2], second[1], kept[3]), kept[4])
  local lost
  for i = 1, 4 do
    local dropped = k:selp_b32(0, magnitudes[i], kept[i])
    lost = lost and lost | dropped or dropped
  end
  return lower | upper, lost
end

-- The numbers for two_of_four: the selector of prmt for the element's bytes, and from bit 16 on its index in the code
-- of the chunk.
local function numbers(select)
  local first, second = {}, {}
  for i = 0, 2 do first[i + 1] = select(i) | i << 16 end
  for i = 1, 3 do second[i] = select(i) << (select(1) > 15 and 8 or 4) | i << 18 end
  return first, second
end
local first_16, second_16 = numbers(function(i) return (2 * i + 1) << 4 | 2 * i end)
local first_8, second_8 = numbers(function(i) return i end)

-- How the words of a piece of 32 bytes are compressed, by the bytes of an element: compress(k, dtype, words) returns a
-- list of four registers, the list of the chunks' codes, and the OR of the magnitudes that are dropped.
local compress_by = {}

compress_by[2] = function(k, dtype, words)
  local out, codes, lost = {}, {}, nil
  for chunk = 0, 3 do
    local low, high = words[2 * chunk], words[2 * chunk + 1]
    local magnitudes = {
      magnitude(k, dtype, low, 0), magnitude(k, dtype, low, 1), magnitude(k, dtype, high, 0),
      magnitude(k, dtype, high, 1),
    }
    local found, dropped = two_of_four(k, magnitudes, first_16, second_16)
    out[chunk + 1], codes[chunk + 1] = k:prmt(low, high, found), k:shr_u32(found, 16)
    lost = lost and lost | dropped or dropped
  end
  return out, codes, lost
end

compress_by[1] = function(k, dtype, words)
  local out, codes, lost, before = {}, {}, nil, nil
  for chunk = 0, 7 do
    local magnitudes = {}
    for i = 0, 3 do magnitudes[i + 1] = magnitude(k, dtype, words[chunk], i) end
    local found, dropped = two_of_four(k, magnitudes, first_8, second_8)
    local pair = k:prmt(words[chunk], 0, found)
    codes[chunk + 1] = k:shr_u32(found, 16)
    if chunk % 2 == 1 then out[#out + 1] = k:prmt(before, pair, 0x5410) end
    before, lost = pair, lost and lost | dropped or dropped
  end
  return out, codes, lost
end

compress_by[4] = function(k, dtype, words)
  local out, codes, lost = {}, {}, nil
  for chunk = 0, 3 do
    local left, right = words[2 * chunk], words[2 * chunk + 1]
    local of_left, of_right = magnitude(k, dtype, left), magnitude(k, dtype, right)
    local keeps_left = of_left:ge(of_right)
    out[chunk + 1], codes[chunk + 1] = k:selp_b32(left, right, keeps_left), k:selp_b32(0x4, 0xE, keeps_left)
    local dropped = k:selp_b32(of_right, of_left, keeps_left)
    lost = lost and lost | dropped or dropped
  end
  return out, codes, lost
end

-- Loads the pieces of a thread's words: all loads come before the first use. A word of 8-bit elements belongs to one
-- row, one of wider elements to two, 8 apart. top, left: the thread's first row and column.
local function load_pieces(k, dtype, words, A, M, K, top, left)
  local bytes, pieces = element_bytes[dtype], {}
  for word = 0, words - 1 do
    for half = 0, bytes == 1 and 0 or 1 do
      local row, column = half == 0 and top or top + 8, left + word * (256 // bytes // words)
      local piece = {
        row = row, column = column, inside = row:lt(M) & column:lt(K), data = k:regs("b32", 8), shift = 16 * half,
        word = word,
      }
      for i = 0, 7 do k:mov(piece.data[i], 0) end
      local from = k:mad_wide_u32(column, bytes, k:mad_wide_u32(row, K * bytes, A))
      for i = 0, 1 do
        k:ld_global_v4_b32(piece.data:slice(4 * i, 4), from, { offset = 16 * i, guard = piece.inside })
      end
      pieces[#pieces + 1] = piece
    end
  end
  return pieces
end

-- A CTA compresses 64 rows and 256 bytes of K. See sparse::compress_for_gemm for the place of each code.
local function kernel_of(dtype, prune)
  local bytes = element_bytes[dtype]
  local one_byte, compress = bytes == 1, compress_by[bytes]
  local columns, words = 256 // bytes, one_byte and 4 or 2 -- of K; words of a thread
  return wg.kernel("compress_" .. dtype, { threads = 128 }, function(k)
    local A, values = k:param("A", "const " .. dtype .. "*"), k:param("values", dtype .. "*")
    local metadata, faults = k:param("metadata", "u32*"), not prune and k:param("faults", "u32*")
    local M, K = k:param("M", "u32"), k:param("K", "u32")
    local thread, block, round = k:special "tid.x", k:special "ctaid.y", k:special "ctaid.x"
    local lane = thread & 3
    local top = (block << 6) + ((thread >> 5) << 4) + (thread >> 2 & 7)
    if one_byte then top = top + ((lane & 1) << 3) end
    local left = round * columns + (one_byte and lane >> 1 or lane) * (32 // bytes)
    local half_of_k = k:shr(K, 1)

    local made = {} -- the words of metadata
    for _, piece in ipairs(load_pieces(k, dtype, words, A, M, K, top, left)) do
      local out, codes, lost = compress(k, dtype, piece.data)
      for i, code in ipairs(codes) do
        local shift = 4 * (i - 1) + piece.shift
        local placed = shift == 0 and code or code << shift
        made[piece.word] = made[piece.word] and made[piece.word] | placed or placed
      end
      local to = k:mad_wide_u32(piece.column >> 1, bytes, k:mad_wide_u32(piece.row, half_of_k * bytes, values))
      k:st_global_v4_b32(to, out, { guard = piece.inside })
      if faults then k:red_global_max_u32(faults, piece.row + 1, { guard = lost:ne(0) }) end
    end
    local at = k:element(metadata, (block * k:special "nctaid.x" + round) * (words * 128) + thread)
    for word = 0, words - 1 do k:st_global_b32(at, made[word], { offset = 512 * word }) end
  end)
end

--- A kernel that compresses 2:4 sparse matrices for wg.gemm{ sparse = "A" }, made by wg.compressor.
--- @field kernel kernel  the kernel, like any other
--- @field dtype string  the type of the matrices
--- @field prune boolean  whether it prunes
local compressor = classes.new "compressor"

--- A kernel that splits a 2:4 sparse matrix on the device into its values and its metadata, in the order "gemm" of
--- wg.sparse.compress.
--- @param options table
--- @option dtype "bf16"|"f16"|"tf32"|"e4m3"|"e5m2"|"s8"|"u8" = "bf16"  the type of the matrix
--- @option prune boolean = false  keeps the larger half of each chunk, as wg.sparse.prune; otherwise chunks that have
---   more are counted as faults
--- @return compressor
--- @see wg.gemm
--- @example
---   local compressor = wg.compressor { dtype = "bf16", prune = true }
---   compressor.kernel:run(compressor:launch(A, values, metadata))
function wg.compressor(opts)
  arguments.options("wg.compressor", opts)
  local dtype = opts.dtype or "bf16"
  if not native.wgmma_k[dtype] then fail("wg.compressor: no sparse wgmma takes " .. tostring(dtype)) end
  return setmetatable({ dtype = dtype, prune = opts.prune or false, kernel = kernel_of(dtype, opts.prune) }, compressor)
end

--- The shape of the metadata of an M x K matrix.
--- @param M integer
--- @param K integer
--- @return table  of u32: { blocks of 64 rows, words along K, 128 }
function compressor:metadata_shape(M, K)
  return sparse.metadata_shape(self.dtype, M, K)
end

--- The options of a launch, for kernel:run, kernel:time and kernel:prepare.
--- @param A tensor|device_tensor  M x K; a row is a multiple of 32 bytes
--- @param values tensor|device_tensor  M x K / 2: the result
--- @param metadata tensor|device_tensor  u32, of compressor:metadata_shape(M, K): the result
--- @param faults tensor|device_tensor?  u32, { 1 }, 0 before: without `prune`, 1 + the last row that has a chunk with
---   too many nonzero elements
--- @return table  { grid =, args = }
--- @raise when the shapes do not fit each other.
function compressor:launch(A, values, metadata, faults)
  local M, K = arguments.matrix("compressor: A", A)
  local bytes = element_bytes[self.dtype]
  if K * bytes % 32 ~= 0 then
    fail(("compressor: a row of A has %d bytes, must be a multiple of 32"):format(K * bytes), "pad it with zeros")
  end
  local rows, half = arguments.matrix("compressor: values", values)
  if rows ~= M or 2 * half ~= K then
    fail(("compressor: values are %d x %d, must be %d x %d"):format(rows, half, M, K // 2))
  end
  arguments.same_shape("compressor: metadata", metadata, self:metadata_shape(M, K))
  local args = { A, values, metadata }
  if not self.prune then
    arguments.same_shape("compressor: faults", faults, { 1 })
    args[#args + 1] = faults
  end
  args[#args + 1], args[#args + 2] = M, K
  return { grid = { ceil_div(K * bytes, 256), ceil_div(M, 64) }, args = args }
end

-- wg.sparse.compress of a tensor on the device; those of the host go on to the engine.
local on_host, made = native.compress, {}
function wg.sparse.compress(t, order)
  if arguments.describe(t) ~= "wgrun.device_tensor" then return on_host(t, order) end
  if order ~= nil and order ~= "gemm" then
    fail("wg.sparse.compress: a tensor on the device is compressed in the order `gemm`, not " .. tostring(order))
  end
  local M, K = arguments.matrix("wg.sparse.compress: t", t)
  made[t.dtype] = made[t.dtype] or wg.compressor { dtype = t.dtype }
  local c = made[t.dtype]
  local values, metadata = wg.zeros(t.dtype, { M, K // 2 }):to "gpu", wg.zeros("u32", c:metadata_shape(M, K)):to "gpu"
  local faults = wg.zeros("u32", { 1 })
  c.kernel:run(c:launch(t, values, metadata, faults))
  if faults[0] > 0 then
    fail(
      ("sparse.compress: row %d has a chunk with too many elements that are not zero"):format(faults[0] - 1),
      "wg.sparse.prune first")
  end
  return values, metadata
end

classes.close("a compressor", compressor)
classes.shield(wg, "wg.", { "compressor" })
classes.shield(compressor, "compressor:", { "metadata_shape", "launch" })
classes.shield(wg.sparse, "wg.sparse.", { "compress" })
