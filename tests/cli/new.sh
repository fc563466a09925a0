# wgrun new: a kernel to start from, which runs.
run new
exits 0
out_has "elementwise"
out_has "attention"
! grep -qv '[.:]$' out.txt || bad "every summary is a sentence"
run new elementwise
exits 0
out_has "elementwise.lua"
run elementwise.lua
exits 0
run check --dynamic elementwise.lua
exits 0
# What is there is not lost.
echo mine > elementwise.lua
run new elementwise
exits 1
err "wgrun: elementwise.lua already exists (--force replaces it)"
[ "$(cat elementwise.lua)" = mine ] || bad "elementwise.lua was replaced"
run new elementwise --force
exits 0
run new elementwse
exits 2
err_has 'did you mean `elementwise`?'
run new gemm mine.lua
exits 0
grep -q "wgrun mine.lua" mine.lua || bad "mine.lua should say how it is run"
run --json new pipeline p.lua
run new pipeline /nowhere/p.lua
exits 1
err_has "/nowhere"
