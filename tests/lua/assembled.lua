-- ptxas puts no wgmma of the library in series (C7509 to C7514), and ignores no setmaxnreg of it: it says so only in passing. Kernels with
-- several roles, whose registers are scarce.
local wg = require "wgrun"

local may_spill = { delta_rule_preparation = true, delta_rule_backward_preparation = true, delta_rule_backward = true, mla_decode = true }

local function assembled(made)
  for _, field in ipairs { "preparation", "summary", "states", "reverse", "kernel" } do
    local kernel = rawget(made, field)
    local report = kernel and kernel:report() -- nil where there is no ptxas
    for _, one in ipairs(report and report.findings or {}) do
      local spills = one.rule == "WG-PERF-04"
      assert(spills and may_spill[kernel.name], ("%s: %s"):format(kernel.name, one.message))
    end
  end
end

local sequence = { heads = 8, final_state = true, segments = 8 }
assembled(wg.delta_rule(sequence))
sequence.decay = "channel"
assembled(wg.delta_rule(sequence))
assembled(wg.delta_rule_backward {})
assembled(wg.delta_rule_backward { decay = "channel" })
assembled(wg.ssd {})
assembled(wg.ssd { segments = 4 })
assembled(wg.ssd_backward {})
assembled(wg.attention { dim = 256, causal = true })
assembled(wg.attention { dtype = "e4m3" })
assembled(wg.attention_backward { dim = 256 })
assembled(wg.mla_decode { cache_type = "e4m3" })
assembled(wg.gemm { problem = { 8192, 8192, 8192 } })
assembled(wg.gemm { b_type = "s4" })
