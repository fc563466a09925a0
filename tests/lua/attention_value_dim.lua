-- wg.attention whose V and O are narrower than Q and K, on the simulator against binary64.
local wg = require "wgrun"
local check = require "check"
local attending = require "attending"

local attend, attend_packed = attending.attend, attending.attend_packed

attend("one block", { dim = 192, value_dim = 128, heads = 1, lse = true }, 1, 5, 7, 1)
attend("edges", { dim = 192, value_dim = 128, heads = 2, lse = true }, 2, 200, 300, 3)
attend("causal, groups of heads", { dim = 192, value_dim = 128, heads = 2, kv_heads = 1, causal = true }, 1, 150, 290)
