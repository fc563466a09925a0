# check --block, --cluster, --grid, --assume, --budget: what a text leaves open is given, and the verdicts say so.
ring="$SOURCE/tests/ptx/two_stages.ptx"
less="$SOURCE/tests/ptx/one_row_less.ptx"

# How many threads a CTA has is open: the verdict names the option that decides it.
sed '/^.reqntid/d' "$ring" >open.ptx
run check open.ptx
exits 0
out_has "undecided: open.ptx:6: the launch decides how many threads a CTA has (--block THREADS, or"
run check --block 64 open.ptx
exits 0
out_has "sums: proved for all launches of 64 threads with trips >= 1 but races in global memory"
run check --block 64,1,1 --json open.ptx
exits 0
out_has '"domain": "all launches of 64 threads with trips >= 1"'
# Nobody arrives for the second warp.
run check --block 32 open.ptx
exits 1
err_has "hangs"
run check --block 128 "$ring"
exits 2
err_has "block {128, 1, 1}: the text requires 64, 1, 1 (.reqntid)"

# A number that is given takes the place of all others.
run check --assume trips=13 "$less"
exits 1
err_has "hangs"
run check --assume trips=12 "$less"
exits 0
out_has "sums: proved for all launches with trips = 12 but races in global memory"
run check --assume trips=12 --json "$less"
out_has '"domain": "all launches with trips = 12"'
run check --assume tripz=12 "$less"
exits 2
err_has "no kernel has a number \`tripz\`: did you mean \`trips\`?"
for wrong in trips trips= =3 trips=x trips=1.5; do
    run check --assume $wrong "$less"
    exits 2
    err_has "NAME=VALUE"
done
run check --assume trips=5000000000 "$less"
exits 2
err_has "trips = 5000000000: \`trips\` of sums has 32 bits"

# A part of a structure.
cat >structure.ptx <<'P'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry waits(.param .align 8 .b8 sizes[16])
.reqntid 64, 1, 1
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, bar;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $made;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
$made:
  bar.sync 0;
  ld.param.u32 %r3, [sizes+8];
  setp.eq.u32 %p2, %r3, 7;
  @%p1 bra $wait;
  @%p2 bra $wait;
  mbarrier.arrive.shared::cta.b64 _, [%r2];
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra $wait;
  ret;
}
P
run check structure.ptx
out_lacks "proved for all launches but races in global memory, bounds"
run check --assume sizes+8=3 structure.ptx
exits 0
out_has "waits: proved for all launches with sizes+8 = 3"
run check --assume sizes+8=7 structure.ptx
exits 1
err_has "hangs"
run check --assume sizes+20=7 structure.ptx
exits 2

# A grid: what its CTAs do besides each other is proved of each of its clusters.
cat >grid.lua <<'L'
local wg = require "wgrun"
wg.kernel("first", { threads = 64 }, function(k)
  local bar, tid = k:shared { bytes = 8, align = 8, name = "bar" }, k:special "tid.x"
  k:if_(tid:eq(0), function()
    k:mbarrier_init(bar, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_(tid:eq(0), function() k:if_(k:special "ctaid.x":ne(5), function() k:mbarrier_arrive(bar) end) end)
  k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
end)
L
run check grid.lua
exits 0
out_has "no deadlock"
run check --grid 4 grid.lua
exits 0
out_has "first: proved for all launches of grids of 4"
run check --strict --grid 4 grid.lua
exits 0
run check --grid 6 grid.lua
out_lacks "no deadlock: proved"
out_lacks "first: proved for all launches of grids of 6"

# Scripts: numbers, but not the shape, which is their own.
cat >turns.lua <<'L'
local wg = require "wgrun"
wg.kernel("turns", { threads = 64 }, function(k)
  local n, bar, tid = k:param("n", "u32"), k:shared { bytes = 8, align = 8, name = "bar" }, k:special "tid.x"
  k:if_(tid:eq(0), function()
    k:mbarrier_init(bar, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_(tid:eq(0), function() k:if_(k:rem(n, 9):ne(5), function() k:mbarrier_arrive(bar) end) end)
  k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
end)
L
run check --assume n=6 turns.lua
exits 0
out_has "turns: proved for all launches with n = 6"
run check --assume n=14 turns.lua
exits 1
err_has "hangs"
run check --assume m=6 turns.lua
exits 2
err_has "turns.lua: no kernel has a number \`m\`"
run check --block 64 turns.lua
exits 2
err_has "a script's kernels have their own"

for wrong in 0 64,0 1,2,3,4 x 64, -1; do
    run check --block=$wrong open.ptx
    exits 2
    err_has "1 to 3 extents from 1"
done
run check --block 2048 open.ptx
exits 2
err_has "1024 at most"

# The budget counts operations: with too few nothing is proved of the protocol, and that is said.
run check --budget 0.001 --json "$ring"
exits 0
python3 - <<'P' || bad "$ran: not undecided by its budget"
import json
[kernel] = json.load(open("out.txt"))["kernels"]
[deadlock] = [one for one in kernel["verdicts"] if one["property"] == "no-deadlock"]
assert deadlock["verdict"] == "undecided" and "the budget is spent" in deadlock["reason"], deadlock
P
run check --budget 0 "$ring"
exits 2

# CTAs of a dimension that the kernel does not ask for: a grid that has several there is none of those that are proved.
elementwise=$SOURCE/scripts/guide/01-elementwise.lua
run check --grid 4 "$elementwise"
exits 0
out_lacks "undecided"
run check --grid 4,2 "$elementwise"
exits 0
out_has "races in global memory: undecided: $elementwise:14: the kernel does not ask which CTA it is: those of a grid meet in Y"
