-- WG-SPARSE-03, broken: A sparse A has at most two elements that are not zero in each chunk of four along K; for tf32 one in each chunk of two.
local wg = require "wgrun"

local A = wg.randn{shape={64, 32}, dtype="bf16", seed=1}
local values, metadata = wg.sparse.compress(A) -- EXPECT: WG-SPARSE-03
wg.sparse.validate(metadata, "bf16")
