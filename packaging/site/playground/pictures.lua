-- Pictures of layouts: Run shows the SVG files that a script writes, Pictures what it returns, by name.
local wg = require "wgrun"

local tile = wg.tile { dtype = "bf16", mn = 8, k = 64, major = "K", swizzle = "128B" }
local linear = wg.layout "(8,64):(64,1)"

tile:svg("chunks.svg", { view = "chunks" }) -- 16 bytes each: where the swizzle puts them
tile:svg("banks.svg", { view = "banks", access = "ldmatrix" })
linear:svg("linear-banks.svg", { view = "banks", dtype = "bf16", access = "ldmatrix" }) -- without a swizzle: conflicts

return { tile = tile, linear = linear, product = wg.mma_picture { shape = "m64n16k16" } }
