-- From accumulators to a matrix in global memory: elementwise operations, conversion, a swizzled panel in shared
-- memory, and a bulk copy that overlaps later work. A panel is 64 rows of accumulators and 128 bytes wide, or 64 bytes
-- or as wide as the block where n requires it; transposed, its lines are the columns of the accumulators. C is loaded through the same panel.

return function(wg, internal)
  local k = internal.methods.builder
  local fail, options = internal.fail, internal.options
  local element_bytes = internal.element_bytes

  --- The shape of the panels in shared memory through which k:epilogue stores blocks of 64 x n accumulators. A panel
  --- has 64 rows and is 128 bytes wide, or 64 where n requires it, with the swizzle of its width; where n allows neither and is
  --- a multiple of 16, a single panel without a swizzle holds the whole block.
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
    if not internal.to_output[dtype] then
      local legal = {}
      for name in pairs(internal.to_output) do legal[#legal + 1] = name end
      table.sort(legal)
      fail(("an epilogue writes %s, not %s"):format(table.concat(legal, ", "), tostring(dtype)))
    end
    if math.type(n) ~= "integer" or n < 8 or n > 256 or n % 8 ~= 0 then
      fail(("wg.panel: n is %s, must be a multiple of 8 from 8 to 256"):format(tostring(n)))
    end
    local size = element_bytes[dtype]
    local plain = not transposed and n * size % 64 ~= 0 and n % 16 == 0
    local line_bytes = plain and n * size or (transposed or n * size % 128 == 0) and 128 or 64
    local columns, lines = line_bytes // size, transposed and n or 64
    if transposed and size ~= 2 then fail "wg.panel: `transposed` requires f16 or bf16" end
    if not transposed and n % columns ~= 0 then
      fail(("wg.panel: n is %d: for %s it must be a multiple of %d, so that the panels are 64 bytes wide"):format(n, dtype, columns))
    end
    return {
      dtype = dtype, size = size, transposed = transposed, plain = plain, columns = columns, lines = lines, line_bytes = line_bytes,
      bytes = lines * line_bytes, align = 1024, count = transposed and 1 or n // columns,
      box = { dtype = dtype, box = { columns, lines }, swizzle = plain and "none" or line_bytes .. "B" },
    }
  end

  -- The address of 16-byte unit `unit` of a line whose number modulo 8 is `line8`, under the 128- or 64-byte swizzle.
  local function unit_address(panel, line, unit, line8)
    return line + ((unit ~ (panel.line_bytes == 128 and line8 or line8 >> 1)) << 4)
  end

  -- The addresses and offsets of `count` units of a line, `step` apart, by index from 0; place(i) returns unit and line8 as
  -- above. Without a swizzle all share the address of the first.
  local function unit_addresses(panel, line, count, step, place)
    local at, ahead = {}, {}
    for i = 0, count - 1 do
      at[i] = not panel.plain and unit_address(panel, line, place(i)) or at[0] or line + (place(0) << 4)
      ahead[i] = panel.plain and step * i << 4 or 0
    end
    return at, ahead
  end

  -- The pieces of a panel that a thread writes with one instruction each: pieces(first, offset) lists those of panel
  -- `first` of the block, at `offset` bytes. A piece has an address, an offset, and its even registers, each of which
  -- stands for itself and the next register.

  -- 16-bit panels: stmatrix takes four 8x8 blocks, lane i gives the address of line i % 8 of block i / 8.
  local function pieces_16bit(panel, base, lane, warp)
    local line = base + ((warp << 4) + (lane & 15)) * panel.line_bytes
    local pairs_of_blocks = panel.columns // 16
    local at, ahead = unit_addresses(panel, line, pairs_of_blocks, 2, function(i) return (lane >> 4) + 2 * i, lane & 7 end)
    return function(first, offset)
      local pieces = {}
      for b = 0, pairs_of_blocks - 1 do
        local r = panel.columns // 2 * first + 8 * b
        pieces[b + 1] = { at = at[b], offset = offset + ahead[b], r, r + 2, r + 4, r + 6 }
      end
      return pieces
    end
  end

  -- Transposed: line c of the panel is column c of the accumulators, a warp's 16 rows are two units of it. Of an odd number of eight
  -- lines the last ones are a piece of two blocks.
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

  -- 32-bit panels: each lane writes its pairs of neighbours.
  local function pieces_32bit(panel, base, lane, warp)
    local row, blocks = lane >> 2, panel.columns // 8
    local line = base + ((warp << 4) + row) * panel.line_bytes + ((lane & 1) << 3)
    local at, ahead = unit_addresses(panel, line, blocks, 2, function(i) return ((lane & 3) >> 1) + 2 * i, row end)
    return function(first, offset)
      local pieces = {}
      for g = 0, blocks - 1 do
        for h = 0, 1 do
          local r = panel.columns // 2 * first + 4 * g + 2 * h
          pieces[#pieces + 1] = { at = at[g], offset = offset + ahead[g] + 8 * panel.line_bytes * h, r }
        end
      end
      return pieces
    end
  end

  -- 8-bit panels: likewise; the four lanes of a row share half a 16-byte unit.
  local function pieces_8bit(panel, base, lane, warp)
    local row, blocks = lane >> 2, panel.columns // 8
    local line = base + ((warp << 4) + row) * panel.line_bytes + ((lane & 3) << 1)
    local at, ahead = unit_addresses(panel, line, blocks // 2, 1, function(i) return i, row end)
    return function(first, offset)
      local pieces = {}
      for g = 0, blocks - 1 do
        for h = 0, 1 do
          local r = panel.columns // 2 * first + 4 * g + 2 * h
          pieces[#pieces + 1] = { at = at[g // 2], offset = offset + ahead[g // 2] + 8 * (g % 2) + 8 * panel.line_bytes * h, r }
        end
      end
      return pieces
    end
  end

  --- The coordinates of panel `i` of the 64 x n block at that row and column, for a tensor map of rank 2.
  function internal.panel_place(panel, row, column, i)
    if panel.transposed then return { row, column } end
    return { column + i * panel.columns, row }
  end

  -- How a thread moves a piece between registers and a panel, by the bytes of an element: four 8x8 blocks, or two, a pair of
  -- neighbours in one 16-bit register, or two registers.
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

  -- Loads C's words for a piece, from the place where the piece will be written or from `at` with that offset.
  local function read_piece(self, panel, piece, at, offset)
    local words = transfer[panel.size].words(self, panel, piece)
    transfer[panel.size].load(self, words, at or piece.at, panel, offset or piece.offset)
    return words
  end

  -- The elements of these words, indexed by accumulator register.
  local function elements_of(self, panel, piece, words)
    local convert, c = internal.from_output[panel.dtype], {}
    if panel.size == 4 then
      c[piece[1]], c[piece[1] + 1] = convert(self, words[0], words[1])
    else
      for i, r in ipairs(piece) do c[r], c[r + 1] = convert(self, words[i - 1]) end
    end
    return c
  end

  -- Writes a piece; elements[r] is the one for accumulator register r.
  local function write_piece(self, panel, piece, elements)
    local convert, words = internal.to_output[panel.dtype], {}
    for _, r in ipairs(piece) do
      local x, y = convert(self, elements[r], elements[r + 1])
      words[#words + 1] = x
      words[#words + 1] = y
    end
    transfer[panel.size].store(self, words, piece.at, panel, piece.offset)
  end

  -- Copies the rows of a panel that lie before `limit` to the matrix, 16 bytes a thread at a time.
  local function copy_rows(self, panel, base, thread, rows, row, column, limit)
    local units, elements = panel.line_bytes // 16, 16 // panel.size -- units of a line
    for first = 0, 64 * units - 1, 128 do
      local index = thread + first
      local line = self:div(index, units)
      local unit, words = index - line * units, self:regs("b32", 4)
      local from, at = base + line * panel.line_bytes, column + unit * elements
      local stored = (row + line):lt(limit) & at:lt(rows.width)
      if first + 128 > 64 * units then -- threads beyond the panel read its last line
        stored, from = stored & line:lt(64), base + self:min(line, 63) * panel.line_bytes
      end
      self:ld_shared_v4_b32(words, panel.plain and from + (unit << 4) or unit_address(panel, from, unit, line & 7))
      local to = self:mad_wide_u32(at, panel.size, self:mad_wide_u32(row + line, rows.width * panel.size, rows.to))
      self:st_global_v4_b32(to, words, { guard = stored })
    end
  end

  --- Prepares to store 64 x n blocks of the executing warpgroup's accumulators to a matrix, through panels in shared
  --- memory and bulk copies that overlap later work. The value stored is activation(alpha * scales * acc + beta * C + bias) + residual,
  --- or gate(scales * acc' + bias', scales * acc + bias) + residual, computed in f32; parts that are left out drop out.
  --- @param options table
  --- @option panel table  made by wg.panel
  --- @option map reg  the tensor map of the matrix: k:tensor_map(name, panel.box)
  --- @option buffer shared  the shared memory that holds the panels
  --- @option offset integer|reg?  the offset of the warpgroup's panels in the buffer, in bytes
  --- @option buffers integer = 1  the number of panels that the warpgroup has there, 1 to 64
  --- @option barrier integer|reg  the number of a named barrier for the 128 threads
  --- @option alpha reg?  f32
  --- @option beta reg?  f32; goes with `source`
  --- @option source table?  the source of C; an empty table where store gets the address of C's panels
  --- @option source.map reg?  the tensor map of C, with the panel's box
  --- @option source.barrier reg?  u32: the address of an mbarrier with one arrival, used by this warpgroup alone
  --- @option residual table?  in place of `beta` and `source`: a matrix that is added last, with the fields of `source`
  --- @option bias table?  a value for each row or column
  --- @option bias.along string  "row" or "column" of the accumulators
  --- @option bias.from reg  a pointer parameter to f32
  --- @option bias.extent integer|reg  how many values there are
  --- @option rows table?  of blocks whose last rows are not all stored: store gets a `limit`, the first row that is not
  --- @option rows.to reg  a pointer parameter to the matrix
  --- @option rows.width reg  u32: its columns
  --- @option scales table?  a list of factors, each a table as `bias` is; along "all" it is one f32
  --- @option activation string|function?  "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32 register that returns one
  --- @option gate table?  a second product, whose accumulators follow those of the first: blocks have twice the columns of the matrix
  --- @option gate.of string|function  an activation by name, whose value is multiplied by the first product, or a function of k and two f32 registers, gate and value, that returns one
  --- @option gate.scales table?  as `scales`, for the second product
  --- @option gate.bias table?  as `bias`, for the second product
  --- @option vectors reg?  u32: an address in shared memory for 4 bytes for each column of the block and each bias, scale and gate scale along columns; they are then loaded once for all blocks with the same columns
  --- @option quantize table?  divides D, an 8-bit float, by a scale for each row and each 128 columns; blocks have a multiple of 128 columns
  --- @option quantize.to reg  a pointer parameter to f32: the scales, a row of them for each 128 columns
  --- @option quantize.stride reg  u32: f32 values in a row of scales
  --- @option quantize.rows reg  u32: the rows of the matrix
  --- @option quantize.columns reg  u32: the columns of the matrix
  --- @option row_sums table?  sums over the rows of the matrix, before its elements are rounded
  --- @option row_sums.of string|function  "squares", or a function of k and an f32 register: what is summed
  --- @option row_sums.to reg  a pointer parameter to f32: a sum for each row
  --- @option row_sums.finish function?  a function of k and the sum that returns what is written
  --- @option row_sums.blocks integer = 1  the blocks of a tile, which are stored one below the other
  --- @option row_sums.partials reg  a pointer parameter to f32: for each column of tiles as many as there are rows, rounded up to those of a tile
  --- @option row_sums.counters reg  a pointer parameter to u32, one for each row of tiles, 0 before and after the kernel
  --- @option row_sums.rows reg  u32: the rows of the matrix
  --- @option row_sums.columns reg  u32: the columns of the matrix
  --- @option row_sums.flag reg  u32: the address of 4 bytes of shared memory of this warpgroup
  --- @option policy reg?  a policy of the L2 cache for the stores, made by k:createpolicy_fractional
  --- @option place function?  place(column, row) returns the list of coordinates of that element for a map of another rank; by default { column, row }
  --- @return function  store(acc, row, column, limit, source, narrow): stores a block at that row and column (registers) of the matrix; `limit`, a register, goes with `rows`, and `source`, the address of all panels of C's block in shared memory, with an empty `source` or `residual`; where `narrow`, a predicate, holds, only the left half of the block is stored, which has a multiple of `buffers` panels
  --- @return function  finish(): waits until the last copies have read their panels
  --- @return function  fetch(row, column): may be called ahead of the first store of a tile, for the same place, so that C, the residual and vectors along columns are loaded meanwhile
  --- @return function  complete(row): with row_sums, to be called after the last block of a tile, with the row of its first
  function k:epilogue(opts)
    options("k:epilogue", opts)
    local panel, buffers, source = opts.panel, opts.buffers or 1, opts.source or opts.residual
    if type(panel) ~= "table" or not panel.box then fail "k:epilogue: `panel` must be made by wg.panel" end
    internal.whole("k:epilogue: buffers", buffers, 1, 64)
    internal.object("k:epilogue, map", opts.map, "reg")
    internal.object("k:epilogue, buffer", opts.buffer, "shared")
    internal.count("k:epilogue, barrier", opts.barrier)
    if (opts.beta == nil) ~= (opts.source == nil) then fail "k:epilogue: `beta` and `source` go together" end
    if opts.source and opts.residual then fail "k:epilogue: `residual` stands in place of `beta` and `source`" end
    if source and opts.quantize then fail "k:epilogue: `quantize` goes without C and the residual" end
    if source then options("k:epilogue, source", source) end
    if opts.rows then options("k:epilogue, rows", opts.rows) end
    local thread = self:special "tid.x" & 127
    local lane, warp, leader = thread & 31, thread >> 5, thread:eq(0)
    local base = self:address(opts.buffer, opts.offset)
    local pieces = (panel.transposed and pieces_transposed or panel.size == 4 and pieces_32bit or panel.size == 2 and pieces_16bit
      or pieces_8bit)(panel, base, lane, warp)
    local columns = panel.transposed and panel.lines or panel.columns * panel.count -- of a block
    local block, along_columns, stage = internal.elementwise(self, opts, columns, lane, warp)
    local quantize = opts.quantize and internal.quantizer(self, opts.quantize, columns, internal.largest[panel.dtype], lane, warp)
    local function sync() self:bar_sync(opts.barrier, { threads = 128 }) end
    local row_sums = opts.row_sums and internal.row_summer(self, opts.row_sums, columns, lane, warp, sync)
    local copied = source and source.map -- C comes into the panels
    local phase
    if copied then
      phase = self:reg "u32"
      self:mov(phase, 0)
    end

    local fetched, staged = false, false -- the loads of C for the first round have been issued; so have those of vectors along columns

    local function places(row, column)
      return function(i)
        local where = internal.panel_place(panel, row, column, i)
        return opts.place and opts.place(where[1], where[2]) or where
      end
    end
    local function address(i, first) return i == first and base or base + (i - first) * panel.bytes end
    local function last_of(first) return math.min(first + buffers, panel.count) - 1 end

    -- Panels are free once the copies have read them; then C may be loaded into them.
    local function free_panels(first, place)
      self:cp_async_bulk_wait_group(0, { read = true, guard = leader })
      if not copied then return end
      self:if_(leader, function()
        self:mbarrier_arrive_expect_tx(source.barrier, (last_of(first) - first + 1) * panel.bytes)
        for i = first, last_of(first) do
          local where = place(i)
          self["cp_async_bulk_tensor_" .. #where .. "d"](self, address(i, first), source.map, where, source.barrier)
        end
      end)
    end

    local function store(acc, row, column, limit, from, narrow)
      local values, load = block(row, column)
      local place, moved = places(row, column), {} -- addresses of C's pieces by those of D's
      local function c_of(piece, first)
        if not from then return read_piece(self, panel, piece) end
        moved[piece.at] = moved[piece.at] or piece.at + (from - base)
        return read_piece(self, panel, piece, moved[piece.at], piece.offset + first * panel.bytes)
      end
      -- Loads come before the stores of up to `together` elements, which they would wait for.
      local together = 32
      local function write_pieces(list, first)
        local registers, words = {}, {}
        for n, piece in ipairs(list) do
          registers[n] = {}
          for _, r in ipairs(piece) do
            table.insert(registers[n], r)
            table.insert(registers[n], r + 1)
          end
          load(registers[n])
          words[n] = source and c_of(piece, first)
        end
        for n, piece in ipairs(list) do
          write_piece(self, panel, piece, values(acc, registers[n], source and elements_of(self, panel, piece, words[n])))
        end
      end
      local function write_panel(i, first)
        local list = pieces(i, (i - first) * panel.bytes)
        local count = together // (2 * #list[1])
        for n = 1, #list, count do write_pieces({ table.unpack(list, n, math.min(n + count - 1, #list)) }, first) end
      end
      if along_columns > 0 and not staged then stage(column) end
      if row_sums then
        row_sums.settle()
        values = row_sums.begin(values, column)
      end
      if quantize then
        if along_columns > 0 then sync() end
        values = quantize(acc, values, row, column, limit)
      end
      -- Rounds of as many panels as there are buffers.
      local function round(first)
        local last = last_of(first)
        if not fetched then free_panels(first, place) end
        fetched = false
        if copied then
          self:mbarrier_wait(source.barrier, phase)
          self:xor(phase, phase, 1)
        end
        if not copied or first == 0 and along_columns > 0 then sync() end
        for i = first, last do write_panel(i, first) end
        if row_sums and last == panel.count - 1 then row_sums.share(row, column) end
        self:fence_proxy_async { space = "shared::cta" }
        sync()
        local function copy_whole()
          self:if_(leader, function()
            for i = first, last do
              local where = place(i)
              self["cp_async_bulk_tensor_store_" .. #where .. "d"](self, opts.map, where, address(i, first), { policy = opts.policy })
            end
            self:cp_async_bulk_commit_group()
          end)
        end
        if limit then
          self:if_((row + 64):le(limit), copy_whole, function()
            for i = first, last do copy_rows(self, panel, address(i, first), thread, opts.rows, row, column + i * panel.columns, limit) end
          end)
        else
          copy_whole()
        end
      end
      for first = 0, panel.count - 1, buffers do
        if narrow and first >= panel.count // 2 then
          self:if_(~narrow, function() round(first) end)
        else
          round(first)
        end
      end
    end

    local function fetch(row, column)
      if along_columns > 0 then stage(column) end
      if copied then free_panels(0, places(row, column)) end
      fetched, staged = copied ~= nil, true
    end

    -- The end of the kernel makes the results visible, but shared memory must stay valid until the copies have read it.
    local function finish()
      if row_sums then row_sums.settle() end
      self:cp_async_bulk_wait_group(0, { read = true, guard = leader })
    end
    local function complete(row)
      if row_sums then row_sums.count(row) end
    end
    return store, finish, fetch, complete
  end
end
