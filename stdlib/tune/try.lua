-- wg.try: the product of two tiles in one call, to try a tile, a swizzle or a type before writing a kernel.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local fail, options = native.fail, arguments.options
local integers = { s8 = true, u8 = true }

-- The tile of an operand, and its tensor, which stores the tile line by line.
local function operand(name, given, tile, swizzle, seed)
  local kind = arguments.describe(given)
  if kind == "wgrun.tile" then
    local shape = given.major == "K" and { given.mn, given.k } or { given.k, given.mn }
    local make = integers[given.dtype] and wg.randint or wg.randn
    local random = { shape = shape, dtype = given.dtype, seed = seed }
    if integers[given.dtype] then random.lo, random.hi = given.dtype == "u8" and 0 or -8, 7 end
    return given, make(random)
  end
  if kind ~= "wgrun.tensor" then fail(("wg.try, %s: expected a tile or a tensor, got %s"):format(name, kind)) end
  local shape = given.shape
  if #shape ~= 2 then fail(("wg.try, %s: expected a matrix, got %s"):format(name, tostring(given))) end
  tile = tile or wg.tile { dtype = given.dtype, mn = shape[1], k = shape[2], major = "K", swizzle = swizzle }
  arguments.object(("wg.try, %s_tile"):format(name), tile, "tile")
  local lines, length = tile.mn, tile.k
  if tile.major == "MN" then lines, length = length, lines end
  if shape[1] ~= lines or shape[2] ~= length or given.dtype ~= tile.dtype then
    fail(("wg.try, %s: the tensor is %s, but its tile holds %s {%d, %d}"):format(
      name, tostring(given), tile.dtype, lines, length))
  end
  return tile, given
end

-- The matrix {mn, k}, whichever way the tile is stored.
local function as_rows(tile, tensor)
  return tile.major == "K" and tensor or tensor:transpose()
end

local report = {}
report.__index = report
-- Dtype and shape of a tensor.
local function first_line(t) return tostring(t):match "[^\n]*" end

function report.__tostring(r)
  local lines = {
    ("A %s, B %s, D = A * B^T %s"):format(first_line(r.A), first_line(r.B), first_line(r.D)),
    ("%s: %d findings"):format(tostring(r.kernel), #r.findings),
    tostring(r.where),
  }
  return table.concat(lines, "\n")
end

--- Multiplies two tiles by wgmma and compares the result with a reference: one call gives a kernel, its PTX, its
--- result, and the findings of the checker. print(result) shows a summary.
--- @param options table
--- @option a tile|tensor  A, with a multiple of 64 rows: a tile, which gets random elements, or a tensor {m, k}, which
---   gets a K-major tile
--- @option b tile|tensor  B in the same form, with n rows of k elements; n is a multiple of 8 up to 256
--- @option a_tile tile?  the tile of a tensor `a`, which then has the shape of its lines: {k, mn} for an MN-major tile
--- @option b_tile tile?  the tile of a tensor `b`
--- @option swizzle string = "128B"  the swizzle of tiles that are made for tensors
--- @option d string?  the type of D; by default "f32", and "s32" for 8-bit integers
--- @option seed integer = 1  of the random elements
--- @option backend string?  as for kernel:run
--- @option tolerance number|table?  as for wg.compare
--- @return table  tostring gives a summary
--- @field kernel kernel  the kernel that computes D
--- @field ptx string  its PTX
--- @field findings table  what the checker found, as of kernel:check
--- @field A tensor  the elements of the first operand, as they lie in memory
--- @field B tensor  those of the second operand
--- @field D tensor  the result
--- @field want tensor  the reference
--- @field ok boolean  the first result of wg.compare
--- @field worst number  its second result
--- @field where table  its third result
--- @example
--- print(wg.try {
---   a = wg.tile { dtype = "bf16", mn = 64, k = 64 }, b = wg.tile { dtype = "bf16", mn = 32, k = 64, major = "MN" },
--- })
function wg.try(opts)
  options("wg.try", opts)
  for _, name in ipairs { "a", "b" } do
    if opts[name .. "_tile"] and arguments.describe(opts[name]) == "wgrun.tile" then
      fail(("wg.try: `%s_tile` is for a tensor `%s`, which is a tile here"):format(name, name))
    end
  end
  if opts.swizzle and arguments.describe(opts.a) == "wgrun.tile" and arguments.describe(opts.b) == "wgrun.tile" then
    fail "wg.try: `swizzle` is for tensors, and `a` and `b` are tiles, which have a swizzle already"
  end
  local seed = opts.seed or 1
  local tile_a, A = operand("a", opts.a, opts.a_tile, opts.swizzle or "128B", seed)
  local tile_b, B = operand("b", opts.b, opts.b_tile, opts.swizzle or "128B", seed + 1)
  if tile_a.mn % 64 ~= 0 then fail(("wg.try, a: %d rows, must be a multiple of 64"):format(tile_a.mn)) end
  local d = opts.d or (integers[tile_a.dtype] and "s32" or "f32")
  local m, n = tile_a.mn, tile_b.mn

  local kernel = wg.kernel("try", { threads = 128 }, function(k)
    local from_a, from_b = k:param("A", "const " .. tile_a.dtype .. "*"), k:param("B", "const " .. tile_b.dtype .. "*")
    local to = k:param("D", d .. "*")
    local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
    for _, copy in ipairs { { a, from_a, tile_a }, { b, from_b, tile_b } } do
      local tile = copy[3]
      local lines, length = tile.mn, tile.k
      if tile.major == "MN" then lines, length = length, lines end
      k:copy_tile {
        to = copy[1], from = copy[2], ld = length, line = 0, along = 0, lines = lines, length = length, vector = true,
      }
    end
    k:fence_proxy_async()
    k:bar_sync(0)
    for row = 0, m - 1, 64 do
      local acc = k:regs(d, n // 2)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, a_mn = row, d = d, scale_d = 0 })
      k:wgmma_wait_group(0)
      k:store_accumulator(acc, { to = to, ld = n, row = row, col = 0, rows = m, cols = n, vector = true })
    end
  end)

  local D = wg.zeros(d, { m, n })
  local result = setmetatable(
    { kernel = kernel, ptx = kernel:ptx(), findings = kernel:check(), A = A, B = B, D = D }, report)
  kernel:run { args = { A, B, D }, backend = opts.backend }
  result.want = wg.matmul(as_rows(tile_a, A), as_rows(tile_b, B):transpose()):convert(d)
  result.ok, result.worst, result.where = wg.compare(
    D, result.want, opts.tolerance or { absolute = 1e-3 * tile_a.k ^ 0.5, relative = 1e-3 })
  return result
end

classes.shield(wg, "wg.", { "try" })
