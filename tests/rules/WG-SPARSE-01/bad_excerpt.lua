-- WG-SPARSE-01, broken: Each code of sparse metadata names two different elements of its chunk of four, the first one's index in the lower bits; for tf32 it is 0b0100 or 0b1110.
local wg = require "wgrun"

local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0 end
wg.sparse.validate(metadata, "bf16") -- EXPECT: WG-SPARSE-01
