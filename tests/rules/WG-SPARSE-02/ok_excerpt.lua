-- WG-SPARSE-02, kept: The metadata words stand in the pair of lanes that the sparsity selector names; words for either selector stand in both pairs.
local wg = require "wgrun"

local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0xEEEEEEEE end
wg.sparse.validate(metadata, "bf16")
