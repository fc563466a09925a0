-- From accumulators to a matrix in global memory: conversion, a swizzled panel in shared memory, and a bulk copy
-- that overlaps what comes next. A panel is 64 rows of accumulators and 128 bytes wide; transposed, its lines are the
-- columns of the accumulators.

return function(wg, internal)
  local k = internal.methods.builder
  local fail, options = internal.fail, internal.options
  local line_bytes = 128
  local element_bytes = { f16 = 2, bf16 = 2, f32 = 4, s32 = 4 }

  --- What an epilogue for blocks of 64 x n needs: { columns, lines, bytes (of a panel), count (panels in a block),
  --- box (for k:tensor_map) }. A panel wants 1024-byte alignment.
  function internal.panel(dtype, n, transposed)
    local size = element_bytes[dtype] or fail("an epilogue writes f16, bf16, f32 or s32, not " .. tostring(dtype))
    local columns, lines = line_bytes // size, transposed and n or 64
    if transposed and size ~= 2 then fail "a transposed epilogue writes f16 or bf16" end
    if not transposed and n % columns ~= 0 then
      fail(("%d columns of %s are not a whole number of %d-byte panels"):format(n, dtype, line_bytes))
    end
    return {
      dtype = dtype, size = size, transposed = transposed, columns = columns, lines = lines, bytes = lines * line_bytes,
      count = transposed and 1 or n // columns, box = { dtype = dtype, box = { columns, lines }, swizzle = "128B" },
    }
  end

  -- Address of 16-byte unit `unit` of a line whose number modulo 8 is `line8`: the 128-byte swizzle.
  local function unit_address(line, unit, line8) return line + ((unit ~ line8) << 4) end

  -- Two neighbouring f32 as one register of 16-bit floats.
  local function packed(self, dtype, low, high) return self["cvt_rn_" .. dtype .. "x2_f32"](self, high, low) end

  -- 16-bit panels: stmatrix takes four 8x8 blocks, lane i gives the address of line i % 8 of block i / 8.
  local function write_16bit(self, panel, base, lane, warp)
    local line = base + ((warp << 4) + (lane & 15)) * line_bytes
    local at = {}
    for b = 0, 3 do at[b] = unit_address(line, (lane >> 4) + 2 * b, lane & 7) end
    return function(acc, first, offset)
      for b = 0, 3 do
        local words = {}
        for j = 0, 3 do
          local r = 32 * first + 8 * b + 2 * j
          words[j + 1] = packed(self, panel.dtype, acc[r], acc[r + 1])
        end
        self:stmatrix_x4(at[b], words, { offset = offset })
      end
    end
  end

  -- Transposed: line c of the panel is column c of the accumulators, a warp's 16 rows are two units of it.
  local function write_transposed(self, panel, base, lane, warp)
    local in_pair = lane >> 3
    local line = base + ((lane & 7) + ((in_pair >> 1) << 3)) * line_bytes
    local at = unit_address(line, (warp << 1) + (in_pair & 1), lane & 7)
    return function(acc, _, offset)
      for pair = 0, panel.lines // 16 - 1 do
        local words = {}
        for j = 0, 3 do words[j + 1] = packed(self, panel.dtype, acc[8 * pair + 2 * j], acc[8 * pair + 2 * j + 1]) end
        self:stmatrix_x4(at, words, { trans = 1, offset = offset + pair * 16 * line_bytes })
      end
    end
  end

  -- 32-bit panels: each lane writes its pairs of neighbours.
  local function write_32bit(self, _, base, lane, warp)
    local row = lane >> 2
    local line = base + ((warp << 4) + row) * line_bytes + ((lane & 1) << 3)
    local at = {}
    for g = 0, 3 do at[g] = unit_address(line, ((lane & 3) >> 1) + 2 * g, row) end
    return function(acc, first, offset)
      for g = 0, 3 do
        for h = 0, 1 do
          local r = 16 * first + 4 * g + 2 * h
          self:st_shared_v2_b32(at[g], { acc[r], acc[r + 1] }, { offset = offset + 8 * line_bytes * h })
        end
      end
    end
  end

  --- Returns store(acc, row, column), which stores a block of 64 x n accumulators of the executing warpgroup to row
  --- and column (registers) of a tensor, and `finish`, which waits for the last copies to have read their panels.
  --- opts: panel (of internal.panel), map (tensor map of its box), buffer, offset (of the warpgroup's panels in it:
  ---       bytes, number or register), buffers (panels that it has there), barrier (id of a named barrier for the
  ---       128 threads: number or register), scale (f32 register that all is multiplied by).
  function k:epilogue(opts)
    options("k:epilogue", opts, { "panel", "map", "buffer", "offset", "buffers", "barrier", "scale" })
    local panel, buffers = opts.panel, opts.buffers or 1
    local thread = self:special "tid.x" & 127
    local lane, warp, leader = thread & 31, thread >> 5, thread:eq(0)
    local base = self:address(opts.buffer, opts.offset)
    local write = (panel.transposed and write_transposed or panel.size == 4 and write_32bit or write_16bit)(self, panel, base, lane, warp)
    local function sync() self:bar_sync(opts.barrier, { threads = 128 }) end

    local function store(acc, row, column)
      if opts.scale then
        for r = 0, #acc - 1 do self:mul(acc[r], acc[r], opts.scale) end
      end
      -- Rounds of as many panels as there are buffers, free again when their copies have read them.
      for first = 0, panel.count - 1, buffers do
        local last = math.min(first + buffers, panel.count) - 1
        self:cp_async_bulk_wait_group(0, { read = true, guard = leader })
        sync()
        for i = first, last do write(acc, i, (i - first) * panel.bytes) end
        self:fence_proxy_async { space = "shared::cta" }
        sync()
        self:if_(leader, function()
          for i = first, last do
            local place = panel.transposed and { row, column } or { column + i * panel.columns, row }
            local from = i == first and base or base + (i - first) * panel.bytes
            self:cp_async_bulk_tensor_store_2d(opts.map, place, from)
          end
          self:cp_async_bulk_commit_group()
        end)
      end
    end
    -- The end of the kernel makes the results visible; until then the copies must have read their panels.
    return store, function() self:cp_async_bulk_wait_group(0, { read = true, guard = leader }) end
  end
end
