-- WG-SPARSE-03, kept: A sparse A has at most two elements that are not zero in each chunk of four along K; for tf32 one in each chunk of two.
local wg = require "wgrun"

local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
wg.sparse.validate(metadata, "bf16")
