-- WG-FORM-02, broken: what lies behind a parameter is read.
local wg = require "wgrun"
wg.kernel("case", { threads = 32 }, function(k)
  local pair = k:parameter("pair", { bytes = 16, align = 8 })
  k:ld_param_at_v2_u32(pair, { offset = 12 }) -- EXPECT: WG-FORM-02
end)
