-- Fragments, as scripts see them. What they compute is tested in tests/unit/layout.
local check = require "check"
local wg = require "wgrun"

local d = wg.fragment { of = "wgmma_d", dtype = "f32", n = 64 }
check.equal({ d.rows, d.columns, d.threads, d.values, d.registers, d.per_register }, { 64, 64, 128, 32, 32, 1 })
check.equal({ d:at(0, 0) }, { 0, 0 })
check.equal({ d:at(1, 0) }, { 0, 2 })
check.equal({ d:at(4, 0) }, { 1, 0 })
check.equal({ d:at(0, 2) }, { 8, 0 })
for thread = 0, 127, 5 do
  for value = 0, 31, 3 do
    local row, column = d:at(thread, value)
    check.equal({ d:owner(row, column) }, { thread, value })
    check.equal(d.layout(thread, value), row + 64 * column)
    check.equal(d:inverse()(row, column), thread + 128 * value)
  end
end
check.equal(wg.fragment { of = "wgmma_a", dtype = "bf16" }.registers, 4)
check.equal(wg.fragment { of = "ldmatrix", matrices = 4 }.threads, 32)
local stored = wg.fragment { of = "stmatrix", matrices = 2, trans = true }
check.equal(tostring(stored), "stmatrix .x2.trans")
check.equal(stored.layout, wg.fragment { of = "ldmatrix", matrices = 2, trans = true }.layout)
check.equal(wg.fragment { of = "mma_sync_c" }.values, 4)
check.equal(wg.fragment { of = "wgmma_d", dtype = "f16", n = 64 }.per_register, 2)

check.raises("", d.at, d, 128, 0)
check.raises("option `n` is missing", wg.fragment, { of = "wgmma_d", dtype = "f32" })
check.raises('"wgmma_a" does not take the option `n`', wg.fragment, { of = "wgmma_a", dtype = "bf16", n = 8 })
check.raises('"wgmma_e" is not legal: did you mean `wgmma_', wg.fragment, { of = "wgmma_e" })
check.raises("", wg.fragment, { of = "wgmma_d", dtype = "f32", n = 12 })
