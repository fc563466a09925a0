-- What an epilogue makes of the rows of D besides D: the scale of each 128 elements of a row, for 8-bit floats, and
-- sums over whole rows, which the tiles of a row share. A thread has parts of two rows of a 64 x n block, `half` 0 and
-- 1, and shares each with three other lanes (PTX ISA 9.7.15.5.1, figure of the D fragment).

local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local warps = require "wgrun.builder.warp"

local module = {}

local options, divided = arguments.options, division.divided
local block = 128 -- the elements of a row that share a scale

-- The predicate that the columns of accumulator register r are columns of the matrix, which are a multiple of 4 in
-- number.
local function inside_of(lane, column, columns)
  local known = {}
  return function(r)
    local group = r // 4
    known[group] = known[group] or (column + 8 * group + ((lane & 3) << 1)):lt(columns)
    return known[group]
  end
end

local function first_row(row, lane, warp) return row + ((warp << 4) + (lane >> 2)) end

--- Returns quantize(acc, values, row, column, limit), which writes the scales of a 64 x n block of D, of rows before
--- `limit`, and makes the function that gives its elements divided by them. given: the option `quantize` of k:epilogue;
--- n: columns of the block, a multiple of 128; most: the largest number of D's type.
function module.quantizer(k, given, n, most, lane, warp)
  options("k:epilogue, quantize", given)
  -- Rows of zeros have a scale as well, the least for which `most / amax` is finite.
  local least = 2.0 ^ -100
  local function finish(amax, row, column, limit)
    amax = k:max(warps.over_lanes(k, amax, function(x, y) return k:max(x, y) end), least)
    local stored = (lane & 3):eq(0) & row:lt(limit or given.rows) & column:lt(given.columns)
    local at = k:element(given.to, (column >> 7) * given.stride + row)
    k:st_global_f32(at, k:mul(amax, 1 / most), { guard = stored })
    return k:mul(k:rcp_approx_ftz(amax), most)
  end
  return function(acc, values, row, column, limit)
    local inside, elements, inverse = inside_of(lane, column, given.columns), {}, {}
    for first = 0, n // 2 - 1, block // 2 do
      local amax = { [0] = k:mov(0.0, { type = "f32" }), k:mov(0.0, { type = "f32" }) }
      for r = first, first + block // 2 - 1, 4 do
        for at, x in pairs(values(acc, { r, r + 1, r + 2, r + 3 })) do elements[at] = x end
        for at = r, r + 3 do
          local half = at // 2 % 2
          k:max(amax[half], amax[half], k:abs(elements[at]), { guard = inside(at) })
        end
      end
      for half = 0, 1 do
        inverse[first + half] = finish(amax[half], first_row(row, lane, warp) + 8 * half, column + 2 * first, limit)
      end
    end
    return function(_, list)
      local out = {}
      for _, r in ipairs(list) do out[r] = k:mul(elements[r], inverse[r // 64 * 64 + r // 2 % 2]) end
      return out
    end
  end
end

--- Sums over the rows of D: an object with
--- begin(values, column): the function `values` of a 64 x n block of D, which also adds up what it returns;
--- share(row, column): writes the sums of the block; the threads then wait for them;
--- count(row): counts the blocks of the tile that begins at that row, without waiting for the answer;
--- settle(): where the tile counted last completes its rows, adds up the sums of their blocks, in the order of the
--- columns, whichever was the last. Called by all threads before the next block and at the end.
--- given: the option `row_sums` of k:epilogue; n: columns of a block; sync: waits for the 128 threads.
function module.row_summer(k, given, n, lane, warp, sync)
  options("k:epilogue, row_sums", given)
  local function add_to(sum, x, guard)
    if given.of == "squares" then return k:fma(sum, x, x, sum, { guard = guard }) end
    k:add(sum, sum, given.of(k, x), { guard = guard })
  end
  local thread, none, tile = (warp << 5) + lane, 0xFFFFFFFF, 64 * (given.blocks or 1)
  local leader = thread:eq(0)
  local height = divided(k, given.rows + (tile - 1), tile) * tile -- of a column of partial sums
  local blocks = divided(k, given.columns + (n - 1), n)
  local sums, answer, counted = k:regs("f32", 2), k:reg "u32", k:reg "u32" -- the first row of the tile that was counted
  k:mov(answer, 0)
  k:mov(counted, none)
  local function counter() return k:element(given.counters, divided(k, counted, tile)) end

  -- The sums of a row's blocks; loads are issued sixteen at a time.
  local function total(row)
    local sum, at = k:mov(0.0, { type = "f32" }), k:element(given.partials, row)
    k:loop({ from = 0, to = blocks, step = 16 }, function(first)
      local parts = k:regs("f32", 16)
      for i = 0, 15 do
        k:mov(parts[i], 0.0)
        k:ld_global_f32(parts[i], k:mad_wide_u32(height, 4 * i, at), { guard = (first + i):lt(blocks) })
      end
      for i = 0, 15 do k:add(sum, sum, parts[i]) end
      k:mov(at, k:mad_wide_u32(height, 64, at))
    end)
    return sum
  end

  local summer = {}
  function summer.begin(values, column)
    local inside = inside_of(lane, column, given.columns)
    for half = 0, 1 do k:mov(sums[half], 0.0) end
    return function(acc, list, c)
      local elements = values(acc, list, c)
      for _, r in ipairs(list) do add_to(sums[r // 2 % 2], elements[r], inside(r)) end
      return elements
    end
  end
  function summer.share(row, column)
    local mine = first_row(row, lane, warp)
    local at = k:element(given.partials, divided(k, column, n) * height + mine)
    for half = 0, 1 do
      local sum = warps.over_lanes(k, sums[half], function(x, y) return k:add(x, y) end)
      k:st_global_f32(at, sum, { offset = 32 * half, guard = (lane & 3):eq(0) & (mine + 8 * half):lt(height) })
    end
  end
  function summer.count(row)
    k:mov(counted, none)
    k:mov(counted, row, { guard = row:lt(given.rows) }) -- not a tile below the matrix
    k:if_(leader & counted:ne(none), function()
      k:atom_global_add_u32(answer, counter(), 1, { sem = "acq_rel.gpu" })
    end)
  end
  function summer.settle()
    k:if_(counted:ne(none), function()
      k:st_shared_u32(given.flag, answer, { guard = leader })
      sync()
      local last = k:ld_shared_u32(given.flag):eq(blocks - 1)
      k:st_global_u32(counter(), 0, { guard = last & leader })
      for first = 0, tile - 1, 128 do
        local row = counted + (thread + first)
        k:if_(last & row:lt(given.rows) & thread:lt(tile - first), function()
          local sum = total(row)
          k:st_global_f32(k:element(given.to, row), given.finish and given.finish(k, sum) or sum)
        end)
      end
    end)
  end
  return summer
end

return module
