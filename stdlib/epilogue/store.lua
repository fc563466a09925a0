-- From accumulators to a matrix in global memory: elementwise operations, conversion, panels in shared memory, and bulk
-- copies that overlap later work. C is loaded through the same panels.
--
-- A warpgroup has some panels, its buffers, and stores a block of accumulators in rounds of as many panels. In a round
--
--   one thread    waits until the copies of the round before have read the panels, and has C copied into them by TMA
--   all threads   wait for C's mbarrier, compute, and write the panels (stmatrix for 16-bit types)
--   one thread    begins to copy them to the matrix by TMA, when all have met at a named barrier

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local elementwise = require "wgrun.epilogue.elementwise"
local rows = require "wgrun.epilogue.row_reductions"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"
local panels = require "wgrun.tile.panel"

local k = native.methods.builder
local fail, options = native.fail, arguments.options

-- Raises where the options of k:epilogue are not what it takes, or contradict each other.
local function check(opts)
  options("k:epilogue", opts)
  local source = opts.source or opts.residual
  if type(opts.panel) ~= "table" or not opts.panel.box then fail "k:epilogue: `panel` must be made by wg.panel" end
  arguments.whole("k:epilogue: buffers", opts.buffers or 1, 1, 64)
  arguments.object("k:epilogue, map", opts.map, "reg")
  arguments.object("k:epilogue, buffer", opts.buffer, "shared")
  arguments.count("k:epilogue, barrier", opts.barrier)
  if (opts.beta == nil) ~= (opts.source == nil) then fail "k:epilogue: `beta` and `source` go together" end
  if opts.source and opts.residual then fail "k:epilogue: `residual` stands in place of `beta` and `source`" end
  if source and opts.quantize then fail "k:epilogue: `quantize` excludes C and the residual" end
  if source then options("k:epilogue, source", source) end
  if opts.rows then options("k:epilogue, rows", opts.rows) end
end

-- What an epilogue consists of: the warpgroup's panels, which begin at `base`, and the operations on elements and rows.
-- `fetched`: the loads of C for the first round have been issued; `staged`: those of vectors along columns have.
local function made_of(b, opts)
  local panel, source = opts.panel, opts.source or opts.residual
  local thread = b:special "tid.x" & 127
  local lane, warp, leader = thread & 31, thread >> 5, thread:eq(0)
  local base = b:address(opts.buffer, opts.offset)
  local e = {
    -- C comes into the panels
    b = b, opts = opts, panel = panel, buffers = opts.buffers or 1, source = source, copied = source and source.map,
    thread = thread, leader = leader, base = base, pieces = panels.pieces(panel, base, lane, warp), fetched = false,
    staged = false,
  }
  function e.sync() b:bar_sync(opts.barrier, { threads = 128 }) end
  -- Waits until the copies of earlier rounds have read the panels.
  function e.panels_read() b:cp_async_bulk_wait_group(0, { read = true, guard = leader }) end
  local columns = panel.transposed and panel.lines or panel.columns * panel.count -- of a block
  e.elementwise, e.along_columns, e.stage = elementwise.emit(b, opts, columns, lane, warp)
  e.quantize = opts.quantize and rows.quantizer(b, opts.quantize, columns, elements.largest[panel.dtype], lane, warp)
  e.row_sums = opts.row_sums and rows.row_summer(b, opts.row_sums, columns, lane, warp, e.sync)
  e.phase = e.copied and b:mov(0, { type = "u32" })
  return e
end

-- The coordinates of the panels of the block at that row and column.
local function places(e, row, column)
  return function(i)
    local where = panels.place(e.panel, row, column, i)
    return e.opts.place and e.opts.place(where[1], where[2]) or where
  end
end

-- The buffer that panel `i` has in the round of panel `first`; the last panel of that round.
local function buffer_of(e, i, first) return i == first and e.base or e.base + (i - first) * e.panel.bytes end
local function last_of(e, first) return math.min(first + e.buffers, e.panel.count) - 1 end

-- Panels are free once the copies have read them; then C may be loaded into them.
local function free_panels(e, first, place)
  local b, barrier = e.b, e.source and e.source.barrier
  e.panels_read()
  if not e.copied then return end
  b:if_(e.leader, function()
    b:mbarrier_arrive_expect_tx(barrier, (last_of(e, first) - first + 1) * e.panel.bytes)
    for i = first, last_of(e, first) do
      local where = place(i)
      b["cp_async_bulk_tensor_" .. #where .. "d"](b, buffer_of(e, i, first), e.source.map, where, barrier)
    end
  end)
end

local function wait_for_c(e)
  e.b:mbarrier_wait(e.source.barrier, e.phase)
  e.b:xor(e.phase, e.phase, 1)
end

-- The block that is stored: its accumulators and place, and what gives its elements (elementwise.emit), for which all
-- values but those of C are on their way. from: the address of all panels of C's block, where it doesn't come into the
-- panels.
local function block_of(e, acc, row, column, limit, from)
  local values, load = e.elementwise(row, column)
  local block = {
    acc = acc, row = row, column = column, limit = limit, load = load, place = places(e, row, column), from = from,
    moved = {},
  }
  if e.along_columns > 0 and not e.staged then e.stage(column) end
  if e.row_sums then
    e.row_sums.settle()
    values = e.row_sums.begin(values, column)
  end
  if e.quantize then
    if e.along_columns > 0 then e.sync() end
    values = e.quantize(acc, values, row, column, limit)
  end
  block.values = values
  return block
end

-- C's words of a piece: they lie where the piece will be written, or in C's block. `moved` has the addresses of pieces
-- there by those of D's.
local function words_of_c(e, block, piece, first)
  if not block.from then return panels.read_piece(e.b, e.panel, piece, piece.at, piece.offset) end
  local at = block.moved[piece.at] or piece.at + (block.from - e.base)
  block.moved[piece.at] = at
  return panels.read_piece(e.b, e.panel, piece, at, piece.offset + first * e.panel.bytes)
end

-- Computes and writes these pieces.
local function write_pieces(e, block, pieces, first)
  local registers, words = {}, {}
  for n, piece in ipairs(pieces) do
    registers[n] = {}
    for _, r in ipairs(piece) do
      table.insert(registers[n], r)
      table.insert(registers[n], r + 1)
    end
    block.load(registers[n])
    words[n] = e.source and words_of_c(e, block, piece, first)
  end
  for n, piece in ipairs(pieces) do
    local c = e.source and panels.piece_elements(e.b, e.panel, piece, words[n])
    panels.write_piece(e.b, e.panel, piece, block.values(block.acc, registers[n], c))
  end
end

local together = 32 -- elements whose loads come before the stores, which they would wait for

local function write_panel(e, block, i, first)
  local pieces = e.pieces(i, (i - first) * e.panel.bytes)
  local count = together // (2 * #pieces[1])
  for n = 1, #pieces, count do
    write_pieces(e, block, { table.unpack(pieces, n, math.min(n + count - 1, #pieces)) }, first)
  end
end

-- Copies the panels of a round to the matrix by TMA, or row by row where the block's last rows are not stored.
local function copy_panels(e, block, first)
  local b = e.b
  local function copy_whole()
    b:if_(e.leader, function()
      for i = first, last_of(e, first) do
        local where = block.place(i)
        b["cp_async_bulk_tensor_store_" .. #where .. "d"](
          b, e.opts.map, where, buffer_of(e, i, first), { policy = e.opts.policy })
      end
      b:cp_async_bulk_commit_group()
    end)
  end
  if not block.limit then return copy_whole() end
  b:if_((block.row + 64):le(block.limit), copy_whole, function()
    for i = first, last_of(e, first) do
      panels.copy_rows(
        b, e.panel, buffer_of(e, i, first), e.thread, e.opts.rows, block.row, block.column + i * e.panel.columns,
        block.limit)
    end
  end)
end

-- A round: as many panels of the block as there are buffers, from panel `first` on.
local function round(e, block, first)
  local last = last_of(e, first)
  if not e.fetched then free_panels(e, first, block.place) end
  e.fetched = false
  if e.copied then wait_for_c(e) end
  if not e.copied or first == 0 and e.along_columns > 0 then e.sync() end
  for i = first, last do write_panel(e, block, i, first) end
  if e.row_sums and last == e.panel.count - 1 then e.row_sums.share(block.row, block.column) end
  e.b:fence_proxy_async { space = "shared::cta" }
  e.sync()
  copy_panels(e, block, first)
end

--- Prepares to store 64 x n blocks of the executing warpgroup's accumulators to a matrix, through panels in shared
--- memory and bulk copies that overlap later work. The value stored is activation(alpha * scales * acc + beta * C +
--- bias) + residual, or gate(scales * acc' + bias', scales * acc + bias) + residual, computed in f32; parts that are
--- left out drop out.
--- @param options table
--- @option panel table  made by wg.panel
--- @option map reg  the tensor map of the matrix: k:tensor_map(name, panel.box)
--- @option buffer shared  the shared memory that holds the panels
--- @option offset integer|reg?  the offset of the warpgroup's panels in the buffer, in bytes
--- @option buffers integer[1,64] = 1  the number of panels that the warpgroup has there
--- @option barrier integer|reg  the number of a named barrier for the 128 threads
--- @option alpha reg?  f32
--- @option beta reg?  f32; goes with `source`
--- @option source table?  the source of C; an empty table where store gets the address of C's panels
--- @option source.map reg?  the tensor map of C, with the panel's box
--- @option source.barrier reg?  u32: the address of an mbarrier with one arrival, used by this warpgroup alone
--- @option residual table?  in place of `beta` and `source`: a matrix that is added last, with the fields of `source`
--- @option bias table?  a value for each row or column
--- @option bias.along "row"|"column"  of the accumulators
--- @option bias.from reg  a pointer parameter to f32
--- @option bias.extent integer|reg  how many values there are
--- @option rows table?  of blocks whose last rows are not all stored: store gets a `limit`, the first row that is not
--- @option rows.to reg  a pointer parameter to the matrix
--- @option rows.width reg  u32: its columns
--- @option scales table?  a list of factors, each a table as `bias` is; along "all" it is one f32
--- @option activation string|function?  "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32
---   register that returns one
--- @option gate table?  a second product, whose accumulators follow those of the first: blocks have twice the columns
---   of the matrix
--- @option gate.of string|function  an activation by name, whose value is multiplied by the first product, or a
---   function of k and two f32 registers, gate and value, that returns one
--- @option gate.scales table?  as `scales`, for the second product
--- @option gate.bias table?  as `bias`, for the second product
--- @option vectors reg?  u32: an address in shared memory for 4 bytes for each column of the block and each bias, scale
---   and gate scale along columns; they are then loaded once for all blocks with the same columns
--- @option quantize table?  divides D, an 8-bit float, by a scale for each row and each 128 columns; blocks have a
---   multiple of 128 columns
--- @option quantize.to reg  a pointer parameter to f32: the scales, a row of them for each 128 columns
--- @option quantize.stride reg  u32: f32 values in a row of scales
--- @option quantize.rows reg  u32: the rows of the matrix
--- @option quantize.columns reg  u32: the columns of the matrix
--- @option row_sums table?  sums over the rows of the matrix, before its elements are rounded
--- @option row_sums.of "squares"|function  "squares", or a function of k and an f32 register: what is summed
--- @option row_sums.to reg  a pointer parameter to f32: a sum for each row
--- @option row_sums.finish function?  a function of k and the sum that returns what is written
--- @option row_sums.blocks integer = 1  the blocks of a tile, which are stored one below the other
--- @option row_sums.partials reg  a pointer parameter to f32: for each column of tiles as many as there are rows,
---   rounded up to those of a tile
--- @option row_sums.counters reg  a pointer parameter to u32, one for each row of tiles, 0 before and after the kernel
--- @option row_sums.rows reg  u32: the rows of the matrix
--- @option row_sums.columns reg  u32: the columns of the matrix
--- @option row_sums.flag reg  u32: the address of 4 bytes of shared memory of this warpgroup
--- @option policy reg?  a policy of the L2 cache for the stores, made by k:createpolicy_fractional
--- @option place function?  place(column, row) returns the list of coordinates of that element for a map of another
---   rank; by default { column, row }
--- @return function  store(acc, row, column, limit, source, tail): stores a block at that row and column (registers)
---   of the matrix; `limit`, a register, goes with `rows`, and `source`, the address of all panels of C's block in
---   shared memory, with an empty `source` or `residual`; where `tail`, a predicate, holds, only the left half of the
---   block is stored, which has a multiple of `buffers` panels
--- @return function  finish(): waits until the last copies have read their panels
--- @return function  fetch(row, column): may be called ahead of the first store of a tile, for the same place, so that
---   C, the residual and vectors along columns are loaded meanwhile
--- @return function  complete(row): with row_sums, to be called after the last block of a tile, with the row of its
---   first
function k:epilogue(opts)
  check(opts)
  local e = made_of(self, opts)

  local function store(acc, row, column, limit, from, tail)
    local block = block_of(e, acc, row, column, limit, from)
    for first = 0, e.panel.count - 1, e.buffers do
      if tail and first >= e.panel.count // 2 then
        self:if_(~tail, function() round(e, block, first) end)
      else
        round(e, block, first)
      end
    end
  end

  local function fetch(row, column)
    if e.along_columns > 0 then e.stage(column) end
    if e.copied then free_panels(e, 0, places(e, row, column)) end
    e.fetched, e.staged = e.copied ~= nil, true
  end

  -- The end of the kernel makes the results visible, but shared memory must stay valid until the copies have read it.
  local function finish()
    if e.row_sums then e.row_sums.settle() end
    e.panels_read()
  end
  local function complete(row)
    if e.row_sums then e.row_sums.count(row) end
  end
  return store, finish, fetch, complete
end

classes.shield(k, "k:", { "epilogue" })
