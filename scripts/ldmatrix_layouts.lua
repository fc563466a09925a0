-- Why tensor cores need their layouts: from the registers of mma.sync over ldmatrix to the eight swizzle
-- atoms, which one to take, what happens to a transposed input, and the order of atoms. Every claim is computed.
local wg = require "wgrun"

local function claim(text, holds)
  if not holds then error("does not hold: " .. text, 2) end
  print("  " .. text)
end
local function section(title) print("\n" .. title) end

-- The conflicts of one way of accessing a tile or, with its element type, a layout.
local function conflicts(object, access, dtype)
  for _, found in ipairs(object:bank_conflicts(dtype)) do
    if found.access == access then return found end
  end
end
local function tile(mn, k, major, swizzle, order)
  return wg.tile { dtype = "bf16", mn = mn, k = k, major = major, swizzle = swizzle, order = order or "MN" }
end
local swizzles = { { "none", 16 }, { "32B", 32 }, { "64B", 64 }, { "128B", 128 } }

section "The A fragment of mma.sync.m16n8k8, bf16: 16 x 8 elements in 32 threads of 4"
local A = wg.fragment { of = "mma_sync_a", dtype = "bf16", k = 8 }
A:print()
claim("(thread, value) -> (row, column) is ((4,8),(2,2)):((32,1),(16,8))",
  A.layout == wg.layout "((4,8),(2,2)):((32,1),(16,8))")
local inverse = wg.layout "((8,2),(2,4)):((4,64),(32,1))"
claim("its inverse is ((8,2),(2,4)):((4,64),(32,1)), which right_inverse finds",
  wg.same_function(A:inverse(), inverse) and wg.same_function(wg.right_inverse(A.layout), inverse))
claim("thread 1 holds its third value at row 8, column 2", (function()
  local row, column = A:at(1, 2)
  return row == 8 and column == 2
end)())
local x2 = wg.fragment { of = "ldmatrix", matrices = 2 }
claim("two matrices of 8 x 16 bytes that ldmatrix loads are this fragment", wg.same_function(x2.layout, A.layout))

section "The eight layouts: chunks of 16 bytes stay whole, and 8 x 16 bytes always lie in all 32 banks"
for _, major in ipairs { "K", "MN" } do
  for _, s in ipairs(swizzles) do
    local swizzle, width = table.unpack(s)
    local t = tile(64, 64, major, swizzle)
    local atom, wide = t.atom, width // 2
    local long, across = wide, 8
    if major == "MN" then long, across = across, long end
    local whole = true
    for row = 0, across - 1 do
      for column = 0, long - 1 do
        local along = major == "K" and column or row
        local first = along - along % 8
        local start = major == "K" and atom(row, first) or atom(first, column)
        whole = whole and atom(row, column) == start + along % 8
      end
    end
    claim(("%-2s-major, swizzle %-4s: an atom of %2d x %2d elements, %d blocks of 8 x 16 bytes, each read in one pass")
      :format(major, swizzle, t.atom_mn, t.atom_k, width // 16),
      whole and t.atom_mn == across and t.atom_k == long and #atom * 2 == 8 * width
      and conflicts(t, "ldmatrix").degree == 1 and conflicts(t, "wgmma").degree == 1)
  end
end
local none = tile(8, 16, "K", "none")
claim("swizzle none is no linear matrix: 8 x 16 bytes are contiguous, then come the next 8 x 16",
  none:offset(1, 0) == 16 and none:offset(7, 7) == 126 and none:offset(0, 8) == 128)

section "Why swizzle: 8 x 32 bytes"
local linear = wg.layout "(8,16):(16,1)"
local bad = conflicts(linear, "ldmatrix", "bf16")
linear:print { view = "chunks", dtype = "bf16" }
claim("row after row, " .. bad.text, bad.degree == 2)
tile(8, 16, "K", "32B"):print { view = "chunks" }
claim("with the 32-byte swizzle: no conflicts", conflicts(tile(8, 16, "K", "32B"), "ldmatrix").degree == 1)
claim("without a swizzle, block after block: no conflicts", conflicts(tile(8, 16, "K", "none"), "ldmatrix").degree == 1)

section("Which one to take: 8 x 64 bytes. What fills 128 bytes of shared memory comes from how long runs of global "
  .. "memory?")
-- The fewest bytes of one row of the matrix in 128 bytes of shared memory.
local function run_length(t)
  local shortest = math.huge
  for line = 0, t.bytes // 128 - 1 do
    local rows = {}
    for row = 0, t.mn - 1 do
      for column = 0, t.k - 1, 8 do
        if t:offset(row, column) // 128 == line then rows[row] = (rows[row] or 0) + 16 end
      end
    end
    for _, bytes in pairs(rows) do shortest = math.min(shortest, bytes) end
  end
  return shortest
end
for i = 1, 3 do
  local swizzle, width = table.unpack(swizzles[i])
  claim(("swizzle %-4s: %2d bytes a request"):format(swizzle, width), run_length(tile(8, 32, "K", swizzle)) == width)
end
claim("so 64B is what wg.tile takes", tile(8, 32, "K").swizzle == "64B")
claim(
  "and 128B as soon as rows have 128 bytes",
  tile(8, 64, "K").swizzle == "128B" and run_length(tile(8, 64, "K", "128B")) == 128)
claim("64B then serves both 2 x 64 bytes (stores) and 8 x 16 bytes (ldmatrix) in one pass", (function()
  local t = tile(8, 32, "K", "64B")
  for row = 0, 7, 2 do
    local stored = {}
    for lane = 0, 7 do stored[lane + 1] = t:offset(row + lane // 4, lane % 4 * 8) end
    if wg.bank_phases(stored, 16)[1].degree ~= 1 then return false end
  end
  return conflicts(t, "ldmatrix").degree == 1
end)())

section "A transposed input: ldmatrix turns it, the swizzle has no part in it"
-- What thread `thread` gets from the block of 8 x 16 bytes whose line r is row r (K-major) or column r (M-major).
local function holds(matrix, thread, m_major)
  local names = {}
  for value = 0, 1 do
    local line, along = matrix:at(thread, value)
    names[#names + 1] = m_major and ("M%dK%d"):format(along, line) or ("M%dK%d"):format(line, along)
  end
  return table.concat(names, " ")
end
local plain = wg.fragment { of = "ldmatrix", matrices = 1 }
local trans = wg.fragment { of = "ldmatrix", matrices = 1, trans = true }
local function claim_held(what, matrix, m_major, t0, t22)
  claim(("%s: T0 holds %s, T22 holds %s"):format(what, t0, t22),
    holds(matrix, 0, m_major) == t0 and holds(matrix, 22, m_major) == t22)
end
claim_held("K-major, ldmatrix", plain, false, "M0K0 M0K1", "M5K4 M5K5")
claim_held("M-major, ldmatrix", plain, true, "M0K0 M1K0", "M4K5 M5K5")
claim_held("M-major, ldmatrix.trans", trans, true, "M0K0 M0K1", "M5K4 M5K5")
claim("the last is what mma.sync wants of A's rows 0 to 7", (function()
  for thread = 0, 31 do
    for value = 0, 1 do
      local row, column = A:at(thread, value)
      local line, along = trans:at(thread, value)
      if row ~= along or column ~= line then return false end
    end
  end
  return true
end)())

section "The other swizzle: transposing a 32 x 32 matrix of f32 needs chunks of 4 bytes"
for _, case in ipairs {
  { "row after row", wg.layout "(32,32):(32,1)", 1, 32 },
  { "Swizzle<5,0,5>", wg.layout "Swizzle<5,0,5> o (32,32):(32,1)", 1, 1 },
} do
  local name, layout, by_row, by_column = table.unpack(case)
  local row, column = {}, {}
  for lane = 0, 31 do row[lane + 1], column[lane + 1] = 4 * layout(3, lane), 4 * layout(lane, 3) end
  claim(("%-14s: a row in %d pass, a column in %d"):format(name, by_row, by_column),
    wg.bank_phases(row, 4)[1].degree == by_row and wg.bank_phases(column, 4)[1].degree == by_column)
end

section "The order of atoms in 16 x 64 bytes"
for _, case in ipairs { { swizzle = "none", wide = 8, bytes = 128 }, { swizzle = "32B", wide = 16, bytes = 256 } } do
  local swizzle, wide, bytes = case.swizzle, case.wide, case.bytes
  local along_k, along_m = tile(16, 32, "K", swizzle, "K"), tile(16, 32, "K", swizzle, "MN")
  claim(("swizzle %-4s, along K first: the atom to the right follows after %d bytes; along M first: the one below")
    :format(swizzle, bytes), along_k:offset(0, wide) == bytes and along_m:offset(8, 0) == bytes)
  claim("  wgmma reads both: strides in the descriptor tell them apart",
    along_k.sbo == bytes * 32 // wide and along_m.sbo == bytes)
end
