-- The tile tier: whole tiles instead of single instructions. Everything here is made of ISA-tier calls.

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local atom_width = { none = 16, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 } -- bytes of a swizzled line
local swizzle_mask = { none = 0, ["32B"] = 0x10, ["64B"] = 0x30, ["128B"] = 0x70 }

local k = native.methods.builder
local fail, options = native.fail, arguments.options
local element_bytes, wgmma_k = native.element_bytes, native.wgmma_k

-- The tile of a buffer.
local function tile_of(what, buffer)
  return arguments.object(what, buffer, "shared").tile or fail(what .. ": a buffer made by k:shared(tile) is needed")
end

-- The element type behind a pointer parameter.
local function pointee_of(what, pointer)
  return arguments.object(what, pointer, "reg").pointee or fail(what .. ": a pointer made by k:param is needed")
end

-- Raises unless opts[key] is a register or an integer, for each key.
local function counts(name, opts, keys)
  for _, key in ipairs(keys) do arguments.count(name .. ", " .. key, opts[key]) end
end

-- value * factor: computed now for a number, by an instruction for a register.
local function scaled(self, value, factor)
  if type(value) == "number" then return value * factor end
  return self:mul(value, factor)
end

-- Raises for numbers that vectors cannot begin at. Registers are not known.
local function whole_vectors(what, opts, length, vector)
  if not opts.vector then return end
  for _, key in ipairs { "ld", length } do
    local value = opts[key]
    if math.type(value) == "integer" and value % vector ~= 0 then
      local text = "%s: `vector` takes %d elements at a time, so `%s` must be a multiple of %d, not %d"
      fail(text:format(what, vector, key, vector, value))
    end
  end
end

--- The address of an element behind a pointer parameter, in a new u64 register.
--- @param pointer reg  made by k:param; its pointee gives the size of the elements
--- @param index integer|reg  the element, from 0 (u32, or u64 where there may be more)
--- @return reg  u64
--- @raise for elements that are not whole bytes.
--- @example
---   local x = k:ld_global_f32(k:element(X, i))
function k:element(pointer, index)
  local pointee = pointee_of("k:element, pointer", pointer)
  local bytes = element_bytes[pointee] or fail("k:element: elements must be whole bytes, not " .. pointee)
  arguments.count("k:element, index", index)
  if type(index) == "number" then return native.points_to(self:add(pointer, index * bytes), pointer) end
  if index.type == "u64" or index.type == "s64" then
    return native.points_to(self:mad(index, bytes, pointer, { type = "u64", half = "lo" }), pointer)
  end
  return native.points_to(self:mad_wide_u32(index, bytes, pointer), pointer)
end

--- A matrix descriptor of the part of a buffer's tile that one wgmma reads.
--- @param buffer shared  made by k:shared(tile)
--- @param options table?
--- @option kstep integer = 0  the K step in the tile
--- @option mn integer = 0  the first row (M or N) of the block
--- @option offset reg?  bytes that are added to the start address; uniform over the warpgroup
--- @return reg  b64
--- @see tile:descriptor
function k:descriptor(buffer, opts)
  opts = opts or {}
  options("k:descriptor", opts)
  local tile = tile_of("k:descriptor, buffer", buffer)
  -- The fields do not depend on the address, and the start address of the block is the tile's plus an offset.
  local fields = tile:descriptor(0, opts.kstep or 0, opts.mn or 0)
  local start = (fields & 0x3FFF) << 4
  local address = self:mov(buffer, { type = "u32" })
  if opts.offset then address = self:add(address, opts.offset) end
  if start ~= 0 then address = self:add(address, start) end
  return self:matrix_descriptor(address, fields & ~0x3FFF)
end

--- Multiplies two tiles: acc += A * B over their whole K extent, with one wgmma for each K step, in one commit group.
--- The caller places k:wgmma_fence before it and k:wgmma_wait_group after it.
--- @param acc regs  the accumulators of a warpgroup, 64 x n: n / 2 registers of type `d`
--- @param options table
--- @option a shared|regs  A: a buffer of a tile, or registers as accumulator:operand makes them
--- @option b shared  B: a buffer of a tile
--- @option a_mn integer = 0  the first of A's 64 rows
--- @option b_mn integer = 0  the first of B's n rows
--- @option a_offset reg?  bytes that are added to A's address
--- @option b_offset reg?  bytes that are added to B's address
--- @option n integer?  the columns of D, 8 to 256; all rows of B where it is left out
--- @option d string = "f32"  the type of the accumulators
--- @option scale_d reg|integer = 1  for the first K step: 0 overwrites the accumulators, 1 adds to them
--- @option metadata regs|table?  of a sparse A, whose tile has half of B's K: one register for each step (wg.sparse)
--- @option sp_sel integer = 0  the sparsity selector, 0 or 1: which threads of each four hold the metadata
--- @raise when the K extents of the tiles differ, or no wgmma takes their types.
--- @see wg.wgmma
function k:mma(acc, opts)
  if opts == nil and type(acc) == "table" then
    fail "k:mma: the accumulators come first: k:mma(acc, { a = ..., b = ... })"
  end
  options("k:mma", opts)
  local in_registers = arguments.describe(opts.a) == "wgrun.regs"
  local a = not in_registers and tile_of("k:mma, a", opts.a)
  local b = tile_of("k:mma, b", opts.b)
  a = a or { dtype = b.dtype, k = #opts.a // 4 * (wgmma_k[b.dtype] or 0), major = "K" }
  local ratio = opts.metadata and 2 or 1 -- K of B over the stored K of A
  if a.k * ratio ~= b.k then
    fail(("k:mma: the K extents of the tiles differ: %d and %d%s"):format(
      a.k, b.k, opts.metadata and " (a sparse A stores half of B's K)" or ""))
  end
  local step = arguments.k_of_wgmma("k:mma", a.dtype)
  local steps = a.k // step
  if opts.metadata and #opts.metadata ~= steps then
    fail(("k:mma: %d metadata registers for %d K steps: one for each is needed"):format(#opts.metadata, steps))
  end
  for i = 0, steps - 1 do
    local form = {
      n = opts.n or b.mn, k = step * ratio, d = opts.d or "f32", a = a.dtype, b = b.dtype,
      scale_d = i == 0 and opts.scale_d or 1,
    }
    if a.dtype == "f16" or a.dtype == "bf16" then
      if not in_registers then form.trans_a = a.major == "MN" and 1 or 0 end
      form.trans_b = b.major == "MN" and 1 or 0
    end
    local of_a = in_registers and opts.a:slice(4 * i, 4)
      or self:descriptor(opts.a, { kstep = i, mn = opts.a_mn, offset = opts.a_offset })
    local of_b = self:descriptor(opts.b, { kstep = ratio * i, mn = opts.b_mn, offset = opts.b_offset })
    if opts.metadata then
      form.sp_sel = opts.sp_sel
      self:wgmma_mma_async_sp(acc, of_a, of_b, opts.metadata[i], form)
    else
      self:wgmma_mma_async(acc, of_a, of_b, form)
    end
  end
  self:wgmma_commit_group()
end

-- The places of the 16-byte units of a tile. A line is a row (K-major) or one k (MN-major); `along` is the other
-- extent.
local function geometry(tile)
  local k_major = tile.major == "K"
  local width, bytes = atom_width[tile.swizzle], element_bytes[tile.dtype]
  local per_atom = width // bytes
  local along = k_major and tile.k or tile.mn
  local lines = k_major and tile.mn or tile.k
  local function offset(line, position)
    if k_major then return tile:offset(line, position) end
    return tile:offset(position, line)
  end
  return {
    k_major = k_major, lines = lines, units = along * bytes // 16, elements = 16 // bytes, width = width,
    line_stride = lines > 8 and offset(8, 0) or 0, along_stride = along > per_atom and offset(0, per_atom) or 0,
  }
end

-- The byte offset in the tile of unit `unit` of line `line`, both registers: the atom's place, the place in the
-- atom, and the swizzle, an XOR of address bits 4-6 with bits 7-9 (of offsets, since atoms are aligned).
local function unit_offset(self, tile, g, line, unit)
  local units_per_line = g.width // 16
  local linear = self:mul(line >> 3, g.line_stride) + self:mul(line & 7, g.width)
  if g.units > units_per_line then
    local shift = math.tointeger(math.log(units_per_line, 2))
    linear = linear + self:mul(unit >> shift, g.along_stride) + ((unit & (units_per_line - 1)) << 4)
  else
    linear = linear + (unit << 4)
  end
  local mask = swizzle_mask[tile.swizzle]
  return mask == 0 and linear or linear ~ ((linear >> 3) & mask)
end

-- Eight 16-bit elements at `address`, each loaded under its own guard, as four 32-bit registers.
local function load_scalars(self, address, first, limit, line_ok)
  local words = {}
  for w = 0, 3 do
    local halves = {}
    for h = 0, 1 do
      local i = 2 * w + h
      local value = self:reg "b16"
      self:mov(value, 0)
      self:ld_global_b16(value, address, { offset = 2 * i, guard = (first + i):lt(limit) & line_ok })
      halves[h + 1] = value
    end
    words[w + 1] = self:pack(halves)
  end
  return words
end

--- Copies a tile of a matrix in global memory into a shared buffer. All threads of the CTA execute it, with loads
--- and stores of the generic proxy. Elements outside of the matrix become 0. Before a wgmma reads the tile, the caller
--- places k:fence_proxy_async and k:bar_sync. A line is a row of a K-major tile or a column of an MN-major one; its
--- elements are contiguous in memory, and `along` counts them.
--- @param options table
--- @option to shared  a buffer of a tile
--- @option from reg  a pointer parameter; it points to the tile's type
--- @option ld integer|reg  elements from one line of the matrix to the next
--- @option line integer|reg  the tile's first line in the matrix
--- @option along integer|reg  the tile's first element in its lines
--- @option lines integer|reg  the lines of the matrix
--- @option length integer|reg  the elements of a line of the matrix
--- @option vector boolean = false  copies 16 bytes at a time, which requires `length` and `ld` to be multiples of 16
---   bytes; needed for elements that are not 16 bits
function k:copy_tile(opts)
  options("k:copy_tile", opts)
  local tile = tile_of("k:copy_tile, to", opts.to)
  local pointee = pointee_of("k:copy_tile, from", opts.from)
  if pointee ~= tile.dtype then
    fail(("k:copy_tile: `from` points to %s, but the tile holds %s"):format(pointee, tile.dtype))
  end
  counts("k:copy_tile", opts, { "ld", "line", "along", "lines", "length" })
  local bytes = element_bytes[tile.dtype]
  if bytes ~= 2 and not opts.vector then
    fail(("k:copy_tile: %s needs `vector = true`; without it, only 16-bit elements are copied"):format(tile.dtype))
  end
  whole_vectors("k:copy_tile", opts, "length", 16 // bytes)
  local g = geometry(tile)
  local tid = self:special "tid.x"
  local base = self:mov(opts.to, { type = "u32" })
  local shift = math.tointeger(math.log(g.units, 2))
    or fail(("k:copy_tile: a line of the tile has %d bytes, must be 16 times a power of two"):format(16 * g.units))
  local total = g.lines * g.units
  -- All loads come before all stores, so that every load has been issued before the first result is needed.
  local stores = {}
  for first = 0, total - 1, self.threads do
    local index = first == 0 and tid or tid + first
    local line, unit = index >> shift, index & (g.units - 1)
    local matrix_line, position = line + opts.line, (unit << math.tointeger(math.log(g.elements, 2))) + opts.along
    local line_ok = matrix_line:lt(opts.lines)
    -- Threads beyond the end of the tile do nothing.
    local partial = total - first < self.threads
    local inside = partial and index:lt(total) or nil
    if partial then line_ok = line_ok & inside end
    local row = self:mad_wide_u32(matrix_line, scaled(self, opts.ld, bytes), opts.from)
    local address = self:mad_wide_u32(position, bytes, row)
    local words
    if opts.vector then
      words = self:regs("b32", 4)
      for i = 0, 3 do self:mov(words[i], 0) end
      self:ld_global_v4_b32(words, address, { guard = position:lt(opts.length) & line_ok })
    else
      words = load_scalars(self, address, position, opts.length, line_ok)
    end
    stores[#stores + 1] = { base + unit_offset(self, tile, g, line, unit), words, { guard = inside } }
  end
  for _, store in ipairs(stores) do self:st_shared_v4_b32(store[1], store[2], store[3]) end
end

--- Stores the accumulators of a warpgroup, 64 x n, to a row-major matrix in global memory. Rows and columns outside
--- of the matrix are not stored. Register r of thread t holds row 16 w + l / 4 + 8 (r / 2 % 2) and column
--- 8 (r / 4) + 2 (l % 4) + r % 2, with w = t / 32 and l = t % 32 (PTX ISA 9.7.15.5.1, figure of the D fragment).
--- @param acc regs  f32 or s32, n / 2 registers
--- @param options table
--- @option to reg  a pointer parameter to f32 or s32
--- @option ld integer|reg  elements from one row of the matrix to the next
--- @option row integer|reg  the first row of the block in the matrix
--- @option col integer|reg  the first column of the block in the matrix
--- @option rows integer|reg  the rows of the matrix
--- @option cols integer|reg  the columns of the matrix
--- @option vector boolean = false  stores two elements at a time, which requires `cols` and `ld` to be even
--- @see k:epilogue
function k:store_accumulator(acc, opts)
  options("k:store_accumulator", opts)
  local pointee = pointee_of("k:store_accumulator, to", opts.to)
  if pointee ~= "f32" and pointee ~= "s32" then
    fail("k:store_accumulator: `to` points to " .. pointee .. ", must point to f32 or s32")
  end
  local one, two = self["st_global_" .. pointee], self["st_global_v2_" .. pointee]
  if #arguments.object("k:store_accumulator, acc", acc, "regs") % 4 ~= 0 then
    fail((
      "k:store_accumulator: %d registers cannot hold a 64 x n block, which takes n / 2 registers, n being a multiple "
        .. "of 8"):format(#acc))
  end
  counts("k:store_accumulator", opts, { "ld", "row", "col", "rows", "cols" })
  local ld, cols, rows = opts.ld, opts.cols, opts.rows
  if math.type(ld) == "integer" and math.type(cols) == "integer" and ld < cols and rows ~= 1 then
    fail(("k:store_accumulator: `ld` is %d, but a row has %d elements (`cols`): rows would overlap"):format(ld, cols))
  end
  whole_vectors("k:store_accumulator", opts, "cols", 2)
  local thread = self:special "tid.x" & 127
  local lane = thread & 31
  local row = opts.row + ((thread >> 5) << 4) + (lane >> 2)
  local col = opts.col + ((lane & 3) << 1)
  for half = 0, 1 do
    local at = row + 8 * half
    local row_ok = at:lt(opts.rows)
    local line = self:mad_wide_u32(at, scaled(self, opts.ld, 4), opts.to)
    local address = self:mad_wide_u32(col, 4, line)
    for group = 0, #acc // 4 - 1 do
      local left, right = acc[4 * group + 2 * half], acc[4 * group + 2 * half + 1]
      local left_ok = (col + 8 * group):lt(opts.cols) & row_ok
      if opts.vector then
        two(self, address, { left, right }, { offset = 32 * group, guard = left_ok })
      else
        one(self, address, left, { offset = 32 * group, guard = left_ok })
        local right_ok = (col + (8 * group + 1)):lt(opts.cols) & row_ok
        one(self, address, right, { offset = 32 * group + 4, guard = right_ok })
      end
    end
  end
end

classes.shield(k, "k:", { "element", "descriptor", "mma", "copy_tile", "store_accumulator" })
