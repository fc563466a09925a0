-- WG-MBAR-05, kept: a ring of two stages, for any number of blocks.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, kit.use)
