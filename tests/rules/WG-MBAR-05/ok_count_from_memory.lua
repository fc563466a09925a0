-- WG-MBAR-05, kept: how many blocks there are stands in memory. Nobody who checks can know, and nothing is said.
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

kit.ring(kit.copy, kit.use, { count = function(k, counts) return k:ld_global_u32(counts) end })
