-- What is proved of the library's kernels for every size: as many of their properties as here, or more.
-- `wgrun tests/verdicts/library.lua` lists the rest, with the reasons.
local wg = require "wgrun"

local function proved(what, kernel, least)
  local count, missing = 0, {}
  for _, one in ipairs(kernel:verdicts()) do
    if one.verdict == "proved" then
      count = count + 1
    else
      missing[#missing + 1] = ("%s: %s, %s"):format(one.property, one.verdict, one.reason)
    end
  end
  if count < least then
    error(("%s: %d properties are proved, not %d: %s"):format(what, count, least, table.concat(missing, "; ")))
  end
end

proved("a product", wg.gemm {}.kernel, 14)
proved("a ring of twelve stages", wg.gemm { tile = { 64, 32, 64 }, stages = 12 }.kernel, 14)
proved("rows of A along M", wg.gemm { a_major = "MN" }.kernel, 14)
proved("D in f32", wg.gemm { d = "f32" }.kernel, 14)
proved("an activation", wg.gemm { epilogue = { activation = "gelu" } }.kernel, 14)
proved("few rows", wg.gemm { problem = { 16, 8192, 8192 } }.kernel, 13)
local gradients = wg.attention_backward { dim = 128 }
for _, name in ipairs { "before", "kernel", "after" } do
  proved("gradients of attention, " .. name, gradients[name], 14)
end
proved("the delta rule", wg.delta_rule {}.kernel, 14)
proved("what segments of it make of states", wg.delta_rule { segments = 4, decay = "channel" }.summary, 13)
proved("ssd", wg.ssd {}.kernel, 14)
proved("sums of its gradients", wg.ssd_backward {}.after, 14)
proved("causal attention, whose tiles are drawn from a queue",
  wg.attention { dim = 192, value_dim = 128, causal = true }.kernel, 12)
proved("a tile for each consumer", wg.gemm { schedule = "pingpong", tile = { 64, 32, 64 }, stages = 3 }.kernel, 13)
proved("a product of a sparse A", wg.gemm { sparse = "A" }.kernel, 12)
