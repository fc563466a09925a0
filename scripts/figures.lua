-- Draws the figures that explain wgmma's shared memory as SVG files: figures 156 to 170 of the PTX ISA
-- (9.7.15.5.1.2), the swizzle atoms, and the fragments of mma.sync, ldmatrix and wgmma.
--
--   wgrun scripts/figures.lua FOLDER     writes them, and FOLDER/index.html that shows them all
--   wgrun scripts/figures.lua            only draws them
local wg = require "wgrun"

local figures = {}  -- { file name, caption, object, options of object:svg }
local function figure(...) figures[#figures + 1] = { ... } end

local swizzles = { "128B", "64B", "32B", "none" }
local chunks = { view = "chunks", dtype = "bf16" }
local function bf16(mn, k, major, swizzle, order)
  return wg.tile { dtype = "bf16", mn = mn, k = k, major = major, swizzle = swizzle, order = order or "MN" }
end

-- Figures 156 to 163: the same 16 x 64 or 64 x 16 matrix in each canonical layout, in units of 16 bytes. The
-- numbers are those of the chunks in the matrix, the colours the blocks of 8 x 16 bytes.
local number = 156
for _, swizzle in ipairs(swizzles) do
  for _, major in ipairs { "MN", "K" } do
    local tile = major == "K" and bf16(16, 64, major, swizzle) or bf16(64, 16, major, swizzle)
    figure(
      "figure" .. number, ("Figure %d: %s-major, swizzle %s"):format(number, major, swizzle), tile, { view = "chunks" })
    number = number + 1
  end
end

-- Figures 164 and 165: the 128-byte swizzle of tf32, by element. wgmma takes tf32 K-major only, so the second is a
-- layout and no tile.
figure(
  "figure164", "Figure 164: tf32, K-major, swizzle 128B",
  wg.tile { dtype = "tf32", mn = 8, k = 32, major = "K", swizzle = "128B" })
figure("figure165", "Figure 165: tf32, MN-major, swizzle 128B",
  wg.layout "Swizzle<3,4,3> o smem_ptr[32b](unset) o ((4,8),8):((1,4),32)", { dtype = "tf32" })

-- Figures 166 to 170: the worked examples of LBO and SBO. A swizzle that permutes bytes stands before smem_ptr.
for i, example in ipairs {
  { "tf32", "K-major, no swizzle", "Swizzle<0,4,3> o smem_ptr[32b](unset) o ((8,2),(4,4)):((4,32),(1,64))" },
  { "tf32", "K-major, swizzle 32B", "Swizzle<1,4,3> o smem_ptr[32b](unset) o ((8,2),(4,4)):((8,64),(1,4))" },
  { "bf16", "MN-major, no swizzle", "Swizzle<0,4,3> o smem_ptr[16b](unset) o ((8,1,2),(8,2)):((1,8,64),(8,128))" },
  { "bf16", "MN-major, swizzle 32B", "Swizzle<1,4,3> o smem_ptr[16b](unset) o ((8,2,2),(8,2)):((1,8,128),(16,256))" },
  { "bf16", "MN-major, swizzle 64B", "Swizzle<2,4,3> o smem_ptr[16b](unset) o ((8,4,2),(8,2)):((1,8,256),(32,512))" },
} do
  local dtype, what, notation = table.unpack(example)
  local layout = wg.layout(notation)
  local is = wg.identify(layout, dtype)
  local caption = ("Figure %d: %s, %s: LBO %d, SBO %d bytes"):format(165 + i, dtype, what, is.lbo, is.sbo)
  figure("figure" .. 165 + i, caption .. "; element offsets", layout, { dtype = dtype })
  figure("figure" .. 165 + i .. "-bytes", caption .. "; byte addresses", layout, { dtype = dtype, view = "bytes" })
end

-- The atoms, chunk by chunk: what 8 x 16 bytes (one colour) are read at once lie in all banks.
for _, major in ipairs { "K", "MN" } do
  for _, swizzle in ipairs(swizzles) do
    local atom = bf16(64, 64, major, swizzle).atom
    figure(
      ("atom-%s-%s"):format(major, swizzle), ("The atom of %s-major, swizzle %s"):format(major, swizzle), atom, chunks)
  end
end

-- Why a swizzle: rows of 32 bytes one after the other put the chunks of a column into half of the banks.
local linear = wg.layout "(8,16):(16,1)"
figure("linear", "8 x 32 bytes without a swizzle, rows one after the other", linear, chunks)
figure(
  "linear-banks", "ldmatrix of its first column of chunks", linear,
  { view = "banks", dtype = "bf16", access = "ldmatrix" })
figure(
  "swizzled-banks", "The same with the 32-byte swizzle", bf16(8, 16, "K", "32B"),
  { view = "banks", access = "ldmatrix" })

-- Which atom: 8 x 64 bytes in three ways; a row of shared memory holds 16, 32 or 64 contiguous bytes of the matrix.
for _, swizzle in ipairs { "none", "32B", "64B" } do
  figure("choose-" .. swizzle, "8 x 64 bytes, swizzle " .. swizzle, bf16(8, 32, "K", swizzle), { view = "chunks" })
end

-- The order of atoms in a tile of 16 x 64 bytes.
for _, swizzle in ipairs { "none", "32B" } do
  for _, order in ipairs { "K", "MN" } do
    local caption = ("16 x 64 bytes, swizzle %s, atoms along %s first"):format(swizzle, order)
    figure(("order-%s-%s"):format(swizzle, order), caption, bf16(16, 32, "K", swizzle, order), { view = "chunks" })
  end
end

-- Fragments: thread and value of every element.
local function fragment(name, caption, options) figure(name, caption, wg.fragment(options)) end
fragment("mma-a", "A of mma.sync m16n8k8, bf16", { of = "mma_sync_a", dtype = "bf16", k = 8 })
fragment("mma-b", "B of mma.sync m16n8k8, bf16 (n down)", { of = "mma_sync_b", dtype = "bf16", k = 8 })
fragment("mma-c", "C and D of mma.sync m16n8", { of = "mma_sync_c" })
fragment("ldmatrix", "ldmatrix of two matrices", { of = "ldmatrix", matrices = 2 })
fragment("ldmatrix-trans", "ldmatrix.trans of two matrices", { of = "ldmatrix", matrices = 2, trans = true })
fragment("wgmma-d", "D of wgmma m64n16, f32", { of = "wgmma_d", dtype = "f32", n = 16 })
fragment("wgmma-a", "A of wgmma in registers, bf16", { of = "wgmma_a", dtype = "bf16" })
fragment("wgmma-metadata", "Metadata of sparse wgmma, bf16", { of = "wgmma_metadata", dtype = "bf16" })
figure("tile-64x64", "64 x 64 bf16, K-major, swizzle 128B", bf16(64, 64, "K", "128B"))

figure("tile-128x128", "128 x 128 bf16, K-major, swizzle 128B: core matrices and atoms", bf16(128, 128, "K", "128B"))
figure("mma-m16n8k16", "mma.sync m16n8k16, bf16", wg.mma_picture { shape = "m16n8k16" })
figure(
  "mma-m64n16k16", "wgmma m64n16k16, bf16: A and B in shared memory, D in registers",
  wg.mma_picture { shape = "m64n16k16" })

local folder = arg[1]
if not folder then
  local path = os.tmpname()
  for _, f in ipairs(figures) do assert(f[3]:svg(path, f[4])) end
  os.remove(path)
  print(#figures .. " figures drawn; to keep them: wgrun scripts/figures.lua FOLDER")
  return
end
os.execute("mkdir -p '" .. folder:gsub("'", "'\\''") .. "'")
local page = { "<!DOCTYPE html><meta charset=\"utf-8\"><title>wgmma in shared memory</title>" }
for _, f in ipairs(figures) do
  assert(f[3]:svg(("%s/%s.svg"):format(folder, f[1]), f[4]))
  page[#page + 1] = ("<h3>%s</h3><img src=\"%s.svg\">"):format(f[2], f[1])
end
local index <close> = assert(io.open(folder .. "/index.html", "w"))
index:write(table.concat(page, "\n"), "\n")
print(#figures .. " figures in " .. folder .. "/index.html")
