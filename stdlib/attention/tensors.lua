-- The tensors of wg.attention and wg.attention_backward: coordinates, maps and copies of blocks of rows, and packed sequences.

local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local module = {}

--- Raises where a value of a launch is missing, or given to attention that has no use for it. `options` says with which option of wg.NAME
--- each value goes.
function module.values(name, p, given, options)
  for value, option in pairs(options) do
    if given[value] ~= nil and not p[option] then
      native.fail(("%s: `%s` is given, but wg.%s was made without `%s`"):format(name, value, name, option))
    end
    if p[option] and given[value] == nil then native.fail(("%s: `%s` is missing"):format(name, value)) end
  end
end

--- Returns place(column, at, row), the coordinates in a tensor: of packed ones column, head and row; of others also the batch, in the order of the layout.
function module.place(p)
  if p.packed then return function(column, at, row) return { column, at.head, row } end end
  if p.layout == "bshd" then return function(column, at, row) return { column, at.head, row, at.batch } end end
  return function(column, at, row) return { column, row, at.head, at.batch } end
end

--- The box of a tensor's map, of `rows`. lines: dtype, columns and line_bytes of the tile in shared memory; by default those of the panels of O.
function module.box(p, rows, constant, lines)
  lines = lines or p.panel
  local line = lines.columns
  local box = p.packed and { line, 1, rows } or p.layout == "bshd" and { line, 1, rows, 1 } or { line, rows, 1, 1 }
  return { dtype = lines.dtype, box = box, swizzle = lines.plain and "none" or lines.line_bytes .. "B", constant = constant }
end

--- Returns a function that copies a tile of a head by TMA, from `row` on.
function module.loader(k, p)
  local place = module.place(p)
  return function(tile, to, map, at, row, barrier)
    for _, panel in ipairs(tile.tma_box.panels) do
      local column, down = panel.k, panel.mn
      if tile.major == "MN" then column, down = down, column end
      local where = place(k:mov(column, { type = "u32" }), at, down == 0 and row or row + down)
      k["cp_async_bulk_tensor_" .. #where .. "d"](k, to + tile:offset(panel.mn, panel.k), map, where, barrier)
    end
  end
end

--- A value that all lanes have loaded, now known to be the same in them.
function module.same_in_lanes(k, x)
  local out = k:reg "u32"
  k:shfl_sync_idx_b32(out, x, 0, 31)
  return out
end

--- Of a packed sequence, from the tensor `starts`: its first row and their number. `same` makes a loaded value known to be the same in all lanes,
--- as it is by default.
function module.sequence(k, starts, batch, same)
  same = same or function(x) return module.same_in_lanes(k, x) end
  local place = k:element(starts, batch)
  local from, to = same(k:ld_global_u32(place)), same(k:ld_global_u32(place, { offset = 4 }))
  return from, to - from
end

--- Stores rows of a packed sequence: they end where the next one's begin, so that no box may be stored, but pairs of elements. `acc` has 64 rows
--- of a head of `to`, from column `rows.column` on (0 without it); `row` is the thread's first, and rows from `rows.count` on are not
--- the sequence's.
function module.store_pairs(k, p, acc, to, rows, row)
  local dtype = p.o or p.dtype
  local lane, convert, bytes = k:special "tid.x" & 31, elements.to_output[dtype], native.element_bytes[dtype]
  local column = rows.head * p.dim + ((lane & 3) << 1)
  if rows.column then column = column + rows.column end
  local in_line = k:mad_wide_u32(column, bytes, to)
  for half = 0, 1 do
    local inside = row + 8 * half
    local address, guard = k:mad_wide_u32(rows.first + inside, bytes * rows.heads * p.dim, in_line), inside:lt(rows.count)
    for r = 2 * half, #acc - 1, 4 do
      k:st_global_b32(address, convert(k, acc[r], acc[r + 1]), { offset = 4 * r - 8 * half, guard = guard })
    end
  end
end

return module
