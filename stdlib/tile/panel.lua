-- Panels: the shape in which a warpgroup's accumulators pass through shared memory on their way to a matrix, and C on
-- its way to the accumulators. A panel is 64 rows of accumulators and 128 bytes wide, as wide as the widest swizzle of
-- TMA, or 64 bytes or as wide as the block where n requires it; transposed, its lines are the columns of the
-- accumulators. Threads write 16-bit elements by stmatrix, others in pairs, as the accumulators have them (PTX ISA
-- 9.7.15.5.1, figure of the D fragment).

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local tile_elements = require "wgrun.tile.elements"

local module = {}

local fail, options = native.fail, arguments.options

--- The shape of the panels in shared memory through which k:epilogue stores blocks of 64 x n accumulators. A panel
--- has 64 rows and is 128 bytes wide, or 64 where n requires it, with the swizzle of its width; where n allows neither
--- and is a multiple of 16, a single panel without a swizzle holds the whole block.
--- @param options table
--- @option dtype string  of the matrix: "f16", "bf16", "f32", "s32", "e4m3", "e5m2" or "s8"
--- @option n integer  the columns of the accumulators: 8 to 256, a multiple of 8
--- @option transposed boolean = false  the columns of the accumulators become the rows of the matrix (f16 and bf16)
--- @return table  the panel, for k:epilogue
--- @field columns integer  elements in a line of the panel
--- @field lines integer  lines of the panel
--- @field bytes integer  the size of one panel
--- @field align integer  the alignment of a buffer of panels, bytes
--- @field count integer  panels in a 64 x n block
--- @field box table  options for k:tensor_map
--- @field dtype string  as given
--- @field size integer  bytes of an element
--- @field line_bytes integer  bytes of a line: 128 or 64, or n elements
--- @field plain boolean  whether there is no swizzle
--- @field transposed boolean  as given
function wg.panel(opts)
  options("wg.panel", opts)
  local dtype, n, transposed = opts.dtype, opts.n, opts.transposed
  if not tile_elements.to_output[dtype] then
    local legal = {}
    for name in pairs(tile_elements.to_output) do legal[#legal + 1] = name end
    table.sort(legal)
    fail(("an epilogue writes %s, not %s"):format(table.concat(legal, ", "), tostring(dtype)))
  end
  if math.type(n) ~= "integer" or n < 8 or n > 256 or n % 8 ~= 0 then
    fail(("wg.panel: n is %s, must be a multiple of 8 from 8 to 256"):format(tostring(n)))
  end
  local size = native.element_bytes[dtype]
  local plain = not transposed and n * size % 64 ~= 0 and n % 16 == 0
  local line_bytes = plain and n * size or (transposed or n * size % 128 == 0) and 128 or 64
  local columns, lines = line_bytes // size, transposed and n or 64
  if transposed and size ~= 2 then fail "wg.panel: `transposed` requires f16 or bf16" end
  if not transposed and n % columns ~= 0 then
    fail(("wg.panel: n is %d: for %s it must be a multiple of %d, so that the panels are 64 bytes wide"):format(
      n, dtype, columns))
  end
  return {
    dtype = dtype, size = size, transposed = transposed, plain = plain, columns = columns, lines = lines,
    line_bytes = line_bytes,
    bytes = lines * line_bytes, align = 1024, count = transposed and 1 or n // columns,
    box = { dtype = dtype, box = { columns, lines }, swizzle = plain and "none" or line_bytes .. "B" },
  }
end

-- The address of 16-byte unit `unit` of a line whose number modulo 8 is `line8`, under the 128- or 64-byte swizzle.
local function unit_address(panel, line, unit, line8)
  return line + ((unit ~ (panel.line_bytes == 128 and line8 or line8 >> 1)) << 4)
end

-- The addresses and offsets of `count` units of a line, `step` apart, by index from 0; place(i) returns unit and line8
-- as above. Without a swizzle all share the address of the first.
local function unit_addresses(panel, line, count, step, place)
  local at, ahead = {}, {}
  for i = 0, count - 1 do
    at[i] = not panel.plain and unit_address(panel, line, place(i)) or at[0] or line + (place(0) << 4)
    ahead[i] = panel.plain and step * i << 4 or 0
  end
  return at, ahead
end

-- A thread's part of a panel is a list of pieces, which it writes with one instruction each: pieces(first, offset)
-- lists those of panel `first` of the block, at `offset` bytes. A piece has an address `at`, an `offset` from there,
-- and its even registers, each of which stands for itself and the next one.

-- 16-bit panels: stmatrix takes four 8x8 blocks, lane i gives the address of line i % 8 of block i / 8.
local function pieces_16bit(panel, base, lane, warp)
  local line = base + ((warp << 4) + (lane & 15)) * panel.line_bytes
  local pairs_of_blocks = panel.columns // 16
  local at, ahead = unit_addresses(panel, line, pairs_of_blocks, 2, function(i)
    return (lane >> 4) + 2 * i, lane & 7
  end)
  return function(first, offset)
    local pieces = {}
    for b = 0, pairs_of_blocks - 1 do
      local r = panel.columns // 2 * first + 8 * b
      pieces[b + 1] = { at = at[b], offset = offset + ahead[b], r, r + 2, r + 4, r + 6 }
    end
    return pieces
  end
end

-- Transposed: line c of the panel is column c of the accumulators, a warp's 16 rows are two units of it. Of an odd
-- number of eight lines the last ones are a piece of two blocks.
local function pieces_transposed(panel, base, lane, warp)
  local in_pair = lane >> 3
  local line = base + ((lane & 7) + ((in_pair >> 1) << 3)) * panel.line_bytes
  local at = unit_address(panel, line, (warp << 1) + (in_pair & 1), lane & 7)
  return function(_, offset)
    local pieces = {}
    for line8 = 0, panel.lines // 8 - 1, 2 do
      local r, piece = 4 * line8, { at = at, offset = offset + line8 * 8 * panel.line_bytes }
      for i = 0, line8 + 1 < panel.lines // 8 and 3 or 1 do piece[i + 1] = r + 2 * i end
      pieces[#pieces + 1] = piece
    end
    return pieces
  end
end

-- 32- and 8-bit panels: each lane writes its pairs of neighbours, one for each 8 columns and each of its two rows. The
-- four lanes of a row share two 16-byte units of a 32-bit panel, or half a unit of an 8-bit one.
local function pieces_of_pairs(panel, base, lane, warp)
  local wide, row, groups = panel.size == 4, lane >> 2, panel.columns // 8
  local line = base + ((warp << 4) + row) * panel.line_bytes
  line = line + (wide and (lane & 1) << 3 or (lane & 3) << 1)
  local at, ahead
  if wide then
    at, ahead = unit_addresses(panel, line, groups, 2, function(i) return ((lane & 3) >> 1) + 2 * i, row end)
  else
    at, ahead = unit_addresses(panel, line, groups // 2, 1, function(i) return i, row end)
  end
  return function(first, offset)
    local pieces = {}
    for group = 0, groups - 1 do
      local unit, inside = wide and group or group // 2, wide and 0 or 8 * (group % 2)
      for half = 0, 1 do
        local r = panel.columns // 2 * first + 4 * group + 2 * half
        pieces[#pieces + 1] = { at = at[unit], offset = offset + ahead[unit] + inside + 8 * panel.line_bytes * half, r }
      end
    end
    return pieces
  end
end

--- The pieces of a panel at `base` that the thread writes, as above.
function module.pieces(panel, base, lane, warp)
  local pieces = panel.transposed and pieces_transposed or panel.size == 2 and pieces_16bit or pieces_of_pairs
  return pieces(panel, base, lane, warp)
end

--- The coordinates of panel `i` of the 64 x n block at that row and column, for a tensor map of rank 2.
function module.place(panel, row, column, i)
  if panel.transposed then return { row, column } end
  return { column + i * panel.columns, row }
end

-- How a thread moves a piece between registers and a panel, by the bytes of an element: four 8x8 blocks, or two, a pair
-- of neighbours in one 16-bit register, or two registers.
local transfer = {
  [2] = {
    words = function(b, _, piece) return b:regs("b32", #piece) end,
    load = function(b, words, at, panel, offset)
      b["ldmatrix_x" .. #words](b, words, at, { trans = panel.transposed and 1 or 0, offset = offset })
      if #words == 2 then b:bar_warp_sync(0xFFFFFFFF) end -- other lanes than those that read these rows write them
    end,
    store = function(b, words, at, panel, offset)
      b["stmatrix_x" .. #words](b, at, words, { trans = panel.transposed and 1 or 0, offset = offset })
    end,
  },
  [1] = {
    words = function(b, panel) return b:regs(panel.dtype == "s8" and "u16" or "b16", 1) end,
    load = function(b, words, at, _, offset) b:ld_shared_b16(words[0], at, { offset = offset }) end,
    store = function(b, words, at, _, offset) b:st_shared_b16(at, words[1], { offset = offset }) end,
  },
  [4] = {
    words = function(b, panel) return b:regs(panel.dtype, 2) end,
    load = function(b, words, at, _, offset) b:ld_shared_v2_b32(words, at, { offset = offset }) end,
    store = function(b, words, at, _, offset) b:st_shared_v2_b32(at, words, { offset = offset }) end,
  },
}

--- Loads C's words for a piece from `at` with that offset.
function module.read_piece(b, panel, piece, at, offset)
  local how = transfer[panel.size]
  local words = how.words(b, panel, piece)
  how.load(b, words, at, panel, offset)
  return words
end

--- The elements of these words, indexed by accumulator register.
function module.piece_elements(b, panel, piece, words)
  local convert, c = tile_elements.from_output[panel.dtype], {}
  if panel.size == 4 then
    c[piece[1]], c[piece[1] + 1] = convert(b, words[0], words[1])
  else
    for i, r in ipairs(piece) do c[r], c[r + 1] = convert(b, words[i - 1]) end
  end
  return c
end

--- Writes a piece; elements[r] is the one for accumulator register r.
function module.write_piece(b, panel, piece, elements)
  local convert, words = tile_elements.to_output[panel.dtype], {}
  for _, r in ipairs(piece) do
    local x, y = convert(b, elements[r], elements[r + 1])
    words[#words + 1] = x
    words[#words + 1] = y
  end
  transfer[panel.size].store(b, words, piece.at, panel, piece.offset)
end

--- Copies the rows of a panel that lie before `limit` to the matrix, 16 bytes a thread at a time. threads: how many
--- execute it, by default a warpgroup.
function module.copy_rows(b, panel, base, thread, rows, row, column, limit, threads)
  threads = threads or 128
  local units, elements = panel.line_bytes // 16, 16 // panel.size -- units of a line
  for first = 0, 64 * units - 1, threads do
    local index = thread + first
    local line = b:div(index, units)
    local unit, words = index - line * units, b:regs("b32", 4)
    local from, at = base + line * panel.line_bytes, column + unit * elements
    local stored = (row + line):lt(limit) & at:lt(rows.width)
    if first + threads > 64 * units then -- threads beyond the panel read its last line
      stored, from = stored & line:lt(64), base + b:min(line, 63) * panel.line_bytes
    end
    b:ld_shared_v4_b32(words, panel.plain and from + (unit << 4) or unit_address(panel, from, unit, line & 7))
    local to = b:mad_wide_u32(at, panel.size, b:mad_wide_u32(row + line, rows.width * panel.size, rows.to))
    b:st_global_v4_b32(to, words, { guard = stored })
  end
end

classes.shield(wg, "wg.", { "panel" })

return module
