# help NAME: what stands beside a definition.
run help
exits 0
out_has "wg.tile "
out_has "pipeline "
run help k:loop
exits 0
out_has "k:loop(range, body)"
out_has "step  integer|reg = 1: what is added to i after each iteration"
# An instruction comes from its record: signature, options, forms, an example and what it becomes.
run help k:mbarrier_try_wait_parity
exits 0
out_has "parity  reg|number|boolean: the parity of the phase to wait for: 0 for the first, then 1, 0, ...:"
out_has "a u32 register, or an integer from 0 to 1"
out_has "local p = k:mbarrier_try_wait_parity(a, parity)"
out_has "mbarrier.try_wait.parity.shared::cta.b64 p, [a], parity"
out_has "PTX ISA 9.7.13.15.16"
run help ld.global.v4.f32
exits 0
out_has "k:ld(d?, a, {"
# A type lists what it has.
run help tile
exits 0
out_has "tile:offset "
run help wg.sparse
exits 0
out_has "wg.sparse.prune "
# A command.
run help check
exits 0
out_has "Usage: wgrun check"
run help record
exits 0
out_has "Usage: wgrun record"
# Misspelt names.
run help k:looop
exits 2
err 'wgrun: nothing is called `k:looop`: did you mean k:loop?'
run help wg.lod
exits 2
err_has 'did you mean wg.load'
run help qqqqqqqq
exits 2
err_has 'wgrun help lists the functions and types'
# For machines.
run help --json tile:offset
exits 0
out_has '"signature": "tile:offset(row, k) -> integer"'
run help --json
exits 0
out_has '"kind": "instruction"'
# Pages.
run help --markdown docs --annotations meta
exits 0
out ""
has docs/api.md "(api/wg.md#tile)"
has docs/api/tile.md "tile:offset(row, k) -> integer"
has meta/wgrun.lua "function wg.tile(options) end"
run help --markdown /dev/null/docs
exits 1
err_has "/dev/null/docs"
# An option that no word describes is found by its name, though another name is near.
run help row_sums
exits 0
out_has 'k:epilogue row_sums'
out_has 'wg.gemm epilogue.row_sums'
