# Tensor maps are read from parameters, constants and global memory alone.
run check "$SOURCE/tests/ptx/own_map.ptx"
exits 1
err_has "own_map.ptx:25: error: the tensor map of the bulk copy lies in local memory: it has to be a parameter, or in constant or global memory [WG-TMA-01]"
err_has "own_map.ptx:51: error: the tensor map of the bulk copy lies in shared memory"
err_has "fix: the address of the parameter itself, in CUDA const __grid_constant__ CUtensorMap"
out_has ": 2 kernels, 2 errors, 0 remarks"

# A kernel of a chain of launches waits for the one before; where only a role does, what others read counts too.
run check "$SOURCE/tests/ptx/dependents.ptx"
exits 0
err_has "dependents.ptx:16: warning: the kernel lets the next launch begin, and does not wait for the one before: if it is launched so itself, that one may still write what is accessed here [WG-RACE-05]"
err_has "dependents.ptx:17: lets the next launch begin here"
err_has "dependents.ptx:54: warning: \`X\` is read before griddepcontrol.wait, and read after it: the launch before may still run here [WG-RACE-05]"
err_has "fix: griddepcontrol.wait before line 54"
err_has "dependents.ptx:55: warning: \`Y\` is written before griddepcontrol.wait, and written after it"
out_has ": 3 kernels, 0 errors, 3 remarks"

# Several branches together decide who comes to an aligned instruction.
run check "$SOURCE/tests/ptx/whole_groups.ptx"
exits 1
err_has "whole_groups.ptx:50: error: all threads of the warpgroup execute wgmma.fence together"
out_has ": 3 kernels, 1 error, 0 remarks"

# A compiler moves what C++ writes before a fence: it says what keeps it there.
run check "$SOURCE/tests/ptx/missing_fence.ptx"
err_has "missing_fence.ptx:30: accessed here: a compiler moves this behind a wgmma.fence, unless asm volatile"
# A text without anything has no line to show.
: >empty.ptx
run check empty.ptx
exits 3
err "wgrun: empty.ptx:1: a text without a single directive of PTX (column 1)"
