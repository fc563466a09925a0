-- The tensors of wg.attention and wg.attention_backward: coordinates, maps and copies of blocks of rows, and packed
-- sequences.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local module = {}

--- Raises where a value of a launch is missing, or given to attention that has no use for it. `options` has by value
--- the option of wg.NAME that it goes with.
function module.values(name, p, given, options)
  for value, option in pairs(options) do
    if given[value] ~= nil and not p[option] then
      native.fail(("%s: `%s` is given, but wg.%s was made without `%s`"):format(name, value, name, option))
    end
    if p[option] and given[value] == nil then native.fail(("%s: `%s` is missing"):format(name, value)) end
  end
end

local orders = { -- of dimensions
  bshd = { batch = 1, rows = 2, heads = 3, dim = 4 }, bhsd = { batch = 1, heads = 2, rows = 3, dim = 4 },
  packed = { rows = 1, heads = 2, dim = 3 },
}

--- The extents of the tensors of wg.NAME: rows, heads, dim, and where they are not packed the batch, of those called
--- `of_queries` in the table `given`, and of those called `of_keys`; V, O and their gradients have dim = p.value_dim.
--- Raises an error that names the tensor that does not fit.
function module.extents(name, p, given, of_queries, of_keys)
  local function read(tensor, heads)
    local packed = p.packed and not (p.page and tensor:find "^[KV]$")
    local order, rank = orders[packed and "packed" or p.layout], packed and 3 or 4
    local shape, out = arguments.shape_of(given[tensor]), {}
    if not shape or #shape ~= rank then
      native.fail(("%s: %s must have %d dimensions (%s), not %s"):format(
        name, tensor, rank, packed and "sequence x head x dim" or p.layout, arguments.shape_text(shape)))
    end
    for key, place in pairs(order) do out[key] = shape[place] end
    for key, want in pairs { heads = heads, dim = tensor:find "[VO]$" and p.value_dim or p.dim } do
      if out[key] ~= want then
        native.fail(("%s: %s has %s = %d, and wg.%s was made for %d"):format(name, tensor, key, out[key], name, want))
      end
    end
    return out
  end
  local function same(key, one, other, names, called)
    if one[key] ~= other[key] then
      native.fail(("%s: %s is %d in %s, but %d in %s"):format(
        name, called or key, one[key], names[1], other[key], names[2]))
    end
  end
  local function alike(tensors, heads, batch)
    local first = read(tensors[1], heads)
    for i = 2, #tensors do
      local other, names = read(tensors[i], heads), { tensors[1], tensors[i] }
      same("rows", first, other, names)
      same("batch", first, other, names, batch)
    end
    return first
  end
  local q, k = alike(of_queries, p.heads), alike(of_keys, p.kv_heads, p.page and "the number of pages")
  if not p.page then same("batch", q, k, { of_queries[1], of_keys[1] }) end
  return q, k
end

--- Returns place(column, at, row), the coordinates in a tensor: of packed ones column, head and row; of others also the
--- batch, in the order of the layout.
function module.place(p)
  if p.packed then return function(column, at, row) return { column, at.head, row } end end
  if p.layout == "bshd" then return function(column, at, row) return { column, at.head, row, at.batch } end end
  return function(column, at, row) return { column, row, at.head, at.batch } end
end

--- The box of a tensor's map, of `rows`. lines: dtype, columns and line_bytes of the tile in shared memory; by default
--- those of the panels of O.
function module.box(p, rows, constant, lines)
  lines = lines or p.panel
  local line = lines.columns
  local box = p.packed and { line, 1, rows } or p.layout == "bshd" and { line, 1, rows, 1 } or { line, rows, 1, 1 }
  return {
    dtype = lines.dtype, box = box, swizzle = lines.plain and "none" or lines.line_bytes .. "B", constant = constant,
  }
end

--- Returns a function that copies a tile of a head by TMA, from `row` on. rank: of one of two CTAs that each copy half
--- of the columns to both. more.part: how many tiles ahead its columns are; more.column: its first one, a register;
--- more.mask: the CTAs of the cluster that receive it.
function module.loader(k, p, rank)
  local place = module.place(p)
  return function(tile, to, map, at, row, barrier, more)
    more = more or {}
    local panels, options = tile.tma_box.panels, { mask = rank and 3 or more.mask }
    for i = 1, rank and #panels // 2 or #panels do
      local panel = panels[i]
      local column, down, columns = panel.k, panel.mn, tile.k
      if tile.major == "MN" then column, down, columns = down, column, tile.mn end
      column = column + (more.part or 0) * columns
      local first = more.column and more.column + column or k:mov(column, { type = "u32" })
      local ahead = to + tile:offset(panel.mn, panel.k)
      if rank then first, ahead = first + rank * (columns // 2), ahead + rank * (tile.bytes // 2) end
      local where = place(first, at, down == 0 and row or row + down)
      k["cp_async_bulk_tensor_" .. #where .. "d"](k, ahead, map, where, barrier, options)
    end
  end
end

--- A value that all lanes have loaded, now known to be the same in them.
function module.same_in_lanes(k, x)
  local out = k:reg "u32"
  k:shfl_sync_idx_b32(out, x, 0, 31)
  return out
end

--- Of a packed sequence, from the tensor `starts`: its first row and their number. `same` makes a loaded value known to
--- be the same in all lanes, as it is by default.
function module.sequence(k, starts, batch, same)
  same = same or function(x) return module.same_in_lanes(k, x) end
  local place = k:element(starts, batch)
  local from, to = same(k:ld_global_u32(place)), same(k:ld_global_u32(place, { offset = 4 }))
  return from, to - from
end

--- Stores rows of a packed sequence: they end where the next one's begin, so that no box may be stored, but pairs of
--- elements. `acc` has 64 rows of a head of `to`, from column `rows.column` on (0 without it); heads have `rows.dim`
--- columns (p.dim without it). `row` is the thread's first, and rows from `rows.count` on are not the sequence's.
function module.store_pairs(k, p, acc, to, rows, row)
  local dtype = p.o or p.dtype
  local lane, convert, bytes = k:special "tid.x" & 31, elements.to_output[dtype], native.element_bytes[dtype]
  local dim = rows.dim or p.dim
  local column = rows.head * dim + ((lane & 3) << 1)
  if rows.column then column = column + rows.column end
  local in_line = k:mad_wide_u32(column, bytes, to)
  for half = 0, 1 do
    local inside = row + 8 * half
    local address, guard = k:mad_wide_u32(rows.first + inside, bytes * rows.heads * dim, in_line),
      inside:lt(rows.count)
    for r = 2 * half, #acc - 1, 4 do
      k:st_global_b32(address, convert(k, acc[r], acc[r + 1]), { offset = 4 * r - 8 * half, guard = guard })
    end
  end
end

return module
