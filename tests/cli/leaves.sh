# k:break_, k:continue_ and k:exit in both texts, and what the assembler makes of them.
file leaves.lua <<'L'
local wg = require "wgrun"
return wg.kernel("leaves", { threads = 64 }, function(k)
  local out, n = k:param("out", "u32*"), k:param("n", "u32")
  local tid = k:special "tid.x"
  local sum = k:mov_u32(0)
  k:if_(tid:ge(n), function() k:exit() end)
  k:loop(n, function(i)
    k:if_(i:eq(tid), function() k:continue_() end)
    k:if_(i:gt(20), function() k:break_() end)
    k:add(sum, sum, i)
  end)
  k:st_global_u32(k:element(out, tid), sum)
end)
L
run ptx leaves.lua
exits 0
file want.txt <<'P'
    @!%p0 bra $endif_0;
        exit;
    $endif_0:
    mov.u32 %r3, 0;
    $loop_1:
        setp.lt.u32 %p1, %r3, %r0;
        @!%p1 bra $end_1;
        setp.eq.u32 %p2, %r3, %r1;
        @!%p2 bra $endif_2;
            bra $next_1;
        $endif_2:
        setp.gt.u32 %p3, %r3, 20;
        @!%p3 bra $endif_3;
            bra $end_1;
        $endif_3:
        add.u32 %r2, %r2, %r3;
    $next_1:
        add.u32 %r3, %r3, 1;
        bra $loop_1;
    $end_1:
P
sed -n '/bra \$endif_0/,/\$end_1:/{/\/\/ /d;p}' out.txt >got.txt
cmp got.txt want.txt || bad "the PTX of the leaves is another"
run cuda leaves.lua
exits 0
out_has '        return;'
out_has '                goto next_0;'
out_has '        next_0:;'
out_has '                break;'
run check leaves.lua
exits 0

# Threads that have ended are missing where the warp does something together.
file missing.lua <<'L'
local wg = require "wgrun"
return wg.kernel("missing", { threads = 64 }, function(k)
  local out = k:param("out", "u32*")
  local tid = k:special "tid.x"
  k:if_(tid:lt(8), function() k:exit() end)
  k:bar_sync(0)
  k:st_global_u32(k:element(out, tid), tid)
end)
L
run check missing.lua
exits 1
err_has 'missing.lua:6: error: all threads of the warp execute bar.sync together, but some have left at a branch before it'

unset WGRUN_CUDA
export CUDA_VISIBLE_DEVICES=
run doctor
if grep -q "^ptxas  *missing" out.txt; then echo "skipped: no ptxas"; exit 77; fi
run check --assemble leaves.lua
exits 0
