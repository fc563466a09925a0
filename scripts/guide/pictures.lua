-- Draws the pictures of the guide (docs/pictures) as SVG files.
--   wgrun scripts/guide/pictures.lua FOLDER     writes them
--   wgrun scripts/guide/pictures.lua            only draws them
local wg = require "wgrun"

local folder, drawn = arg[1], 0
if folder then os.execute("mkdir -p '" .. folder:gsub("'", "'\\''") .. "'") end
local function picture(name, object, options)
  local path = folder and ("%s/%s.svg"):format(folder, name) or os.tmpname()
  assert(object:svg(path, options))
  if not folder then os.remove(path) end
  drawn = drawn + 1
end
local function tile(mn, k, major, swizzle, order)
  return wg.tile { dtype = "bf16", mn = mn, k = k, major = major, swizzle = swizzle, order = order }
end

-- Eight rows of 128 bytes, one after the other, and with each swizzle: where the chunks of 16 bytes are.
picture("linear", wg.layout "(8,64):(64,1)", { view = "chunks", dtype = "bf16" })
picture("linear-banks", wg.layout "(8,64):(64,1)", { view = "banks", dtype = "bf16", access = "ldmatrix" })
picture("swizzle-128B", tile(8, 64, "K", "128B"), { view = "chunks" })
picture("swizzle-128B-banks", tile(8, 64, "K", "128B"), { view = "banks", access = "ldmatrix" })
picture("swizzle-64B", tile(8, 32, "K", "64B"), { view = "chunks" })
picture("swizzle-32B", tile(8, 16, "K", "32B"), { view = "chunks" })
picture("swizzle-none", tile(8, 16, "K", "none"), { view = "chunks" })

-- LBO and SBO: two groups of eight rows, two columns of core matrices or of atoms.
picture("k-major-none", tile(16, 16, "K", "none"), { view = "chunks" })
picture("k-major-128B", tile(16, 64, "K", "128B"), { view = "chunks" })
picture("mn-major-128B", tile(128, 16, "MN", "128B"), { view = "chunks" })

-- A large tile: core matrices and atoms in place of elements.
picture("overview", tile(128, 128, "K", "128B"))

-- Where stores conflict in a tile whose swizzle is narrower than its rows.
picture("conflicts", tile(64, 64, "K", "32B"), { view = "conflicts" })

-- Products: who holds what for mma.sync, and for wgmma.
picture("mma-m16n8k16", wg.mma_picture { shape = "m16n8k16" })
picture("mma-m64n64k16", wg.mma_picture { shape = "m64n64k16" })

-- Who holds what of an accumulator, for epilogues.
picture("wgmma-d", wg.fragment { of = "wgmma_d", dtype = "f32", n = 64 }, { view = "overview" })

-- A slow kernel and its repairs, as timelines.
local slow = arg[0]:gsub("pictures%.lua$", "slow.lua")
for name, words in pairs { ["slow-one-stage"] = {}, ["slow-repaired"] = { "ring", "overlap", "wide", "panel" } } do
  local globals = setmetatable({ arg = words, print = function() end }, { __index = _G })
  local product, launch = assert(loadfile(slow, "t", globals))()
  if product then -- not where kernels are only traced
    local text = product:timeline(launch).svg
    if folder then
      local file <close> = assert(io.open(("%s/%s.svg"):format(folder, name), "w"))
      file:write(text)
    end
    drawn = drawn + 1
  end
end

if folder then print(drawn .. " pictures in " .. folder) else print(drawn .. " pictures drawn") end
