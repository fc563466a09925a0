# check --fix: the missing call is inserted, and the script is clean then. --diff shows it and writes nothing.

# take RULE/NAME: case.lua is a copy of that script, and taken.lua too. It finds the kit where that is.
take() {
    sed "s|^local kit = .*|local kit = dofile '$SOURCE/tests/rules/kit.lua'|" "$SOURCE/tests/rules/$1.lua" >taken.lua
    cp taken.lua case.lua
}

# mends RULE [OPTIONS]: tests/rules/RULE/bad_*.lua is mended by calls, and by nothing else, unless it says that no call mends it.
mends() {
    rule=$1
    shift
    for bad in "$SOURCE/tests/rules/$rule"/bad_*.lua; do
        grep -q '^-- No call mends it' "$bad" && continue
        take "$rule/$(basename "$bad" .lua)"
        run check --budget 0.1 "$@" --diff case.lua
        exits 0
        out_has "--- case.lua"
        cmp -s taken.lua case.lua || bad "$ran has written"
        cp out.txt patch.txt
        run check --budget 0.1 "$@" --fix case.lua
        exits 0
        out_has "[$rule]"
        # All that was there is there, in its order.
        diff taken.lua case.lua | grep -q '^<' && bad "$ran: lines of $bad are gone"
        diff taken.lua case.lua | sed -n 's/^> *//p' >inserted.txt
        sed -n 's/^+ *//p' patch.txt | grep -v '^+' | cmp -s - inserted.txt || bad "$ran: --diff showed something else"
        grep -qv '^k:[a-z_]*(.*)$' inserted.txt && bad "$ran: more than calls: $(cat inserted.txt)"
        run check --budget 0.1 "$@" case.lua
        exits 0
    done
}
mends WG-FENCE-01
mends WG-GROUP-01
mends WG-GROUP-02
mends WG-GROUP-05 --dynamic
mends WG-GROUP-06 --dynamic
mends WG-MBAR-02
mends WG-PROXY-01
mends WG-PROXY-02 --dynamic
mends WG-PROXY-03 --dynamic
mends WG-RACE-01 --dynamic
mends WG-RACE-02
mends WG-RACE-03 --dynamic
mends WG-SYNC-04
mends WG-SYNC-05
mends WG-TMA-03 --dynamic
ls "$WORK" | grep -q 'case.lua\.' && bad "a temporary file is left"

# An option with another value, where the statement gives it; elsewhere nothing is written.
take WG-DESC-04/bad_excerpt
run check --diff case.lua
exits 0
grep -q '^-.*align=16' out.txt || bad "--diff does not show the old line: $(cat out.txt)"
grep -q '^+.*align=1024' out.txt || bad "--diff does not show the new line: $(cat out.txt)"
run check --fix case.lua
exits 0
out_has "align = 1024 set [WG-DESC-04]"
out_has "case.lua: 0 calls inserted, 1 option set, 0 errors"
sed 's/align=16/align=1024/' taken.lua | cmp -s - case.lua || bad "more than the option was changed"
take WG-DESC-04/bad_excerpt
run check --fix --json case.lua
exits 0
out_has '"inserted": []'
out_has '"option": "align = 1024"'
run check --json "$SOURCE/tests/rules/WG-DESC-04/bad_excerpt.lua"
exits 1
out_has '"position": "line"'

# What no change mends stays as it is.
take WG-DESC-01/bad_excerpt
run check --fix case.lua
exits 1
err_has "wgrun: case.lua was not changed: 1 error that no proposed change mends"
err_has "[WG-DESC-01]"
cmp -s taken.lua case.lua || bad "case.lua was written"

# How many threads a kernel has is for its author to say, although the fix names a number.
take WG-SYNC-03/bad_excerpt
run check --fix case.lua
exits 1
err_has "fix: threads = "
cmp -s taken.lua case.lua || bad "case.lua was written"

# A fault that a call mends beside one that none does: nothing is written either.
take WG-DESC-01/bad_excerpt
sed 's/k:wgmma_fence()/-- none/' taken.lua >both.lua
cp both.lua case.lua
run check --fix case.lua
exits 1
cmp -s both.lua case.lua || bad "case.lua was written"

# Several faults, a kernel with another name, calls of the tile tier, statements over several lines; the script's own
# output is not in the way, and the file keeps its mode.
file many.lua <<'L'
#!/usr/bin/env wgrun
local wg = require "wgrun"
print "made of calls ( { function"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local Maker = {}
function Maker:build()
  local at = self.kernel:special "ctaid.x"
  for _, it in ipairs { { self.a, self.from }, { self.b, self.from } } do
    self.kernel:copy_tile {
      to = it[1], from = it[2], ld = 64, line = 0, along = 0,
      lines = 64, length = 64, vector = true,
    }
  end
  local acc = self.kernel:regs("f32", 32)
  local da, db = self.kernel:descriptor(self.a), self.kernel:descriptor(self.b)
  self.kernel:wgmma_mma_async(acc, da, db,
    { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  self.kernel:store_accumulator(acc, { to = self.to, ld = 64, row = 0, col = 0, rows = 64, cols = 64 })
end
local kernel = wg.kernel("many", { threads = 128 }, function(body)
  local maker = setmetatable({ kernel = body }, { __index = Maker })
  maker.from, maker.to = body:param("from", "const bf16*"), body:param("to", "f32*")
  maker.a, maker.b = body:shared(tile, "a"), body:shared(tile, "b")
  maker:build()
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }), wg.zeros("f32", { 64, 64 }) } }
L
chmod 750 many.lua
run check many.lua
exits 1
run check --fix many.lua
exits 0
out_has "self.kernel:wgmma_fence() inserted [WG-FENCE-01]"
out_has "self.kernel:wgmma_commit_group() inserted [WG-GROUP-01]"
out_has "self.kernel:fence_proxy_async() inserted [WG-PROXY-01]"
out_lacks "made of calls"
[ "$(stat -c %a many.lua)" = 750 ] || bad "the mode of many.lua has changed"
run check --dynamic many.lua
exits 0
run check --fix many.lua
exits 0
out "many.lua: 0 calls inserted, 0 errors"

# A link stays one; what cannot be read or written is said.
ln -s many.lua link.lua
sed -i '/wgmma_fence/d' many.lua
run check --fix link.lua
exits 0
[ -L link.lua ] || bad "link.lua is no link any more"
grep -q 'self.kernel:wgmma_fence()' many.lua || bad "many.lua was not mended"
run check --fix none.lua
exits 2
err_has "wgrun: cannot read none.lua: No such file"
run check --fix -
exits 2
err_has "standard input cannot be written"
run check --fix --sarif many.lua
exits 2

# The lines to insert, for programs.
sed -i '/wgmma_fence/d' many.lua
run check --json many.lua
exits 1
out_has '"text": "  self.kernel:wgmma_fence()\n"'
run check --sarif many.lua
exits 1
out_has '"insertedContent": {'
out_has '"text": "insert self.kernel:wgmma_fence() before line '

# A call that would end up outside of the kernel is not taken for a cure, even where the script then says less.
file wait.lua <<'L'
local wg = require "wgrun"
local kernel = wg.kernel("wait", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, { guard = first })
  k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full, { guard = first })
  local x = k:ld_shared_f32(k:mad_lo_u32(k:special "tid.x", 4, k:mov(tile, { type = "u32" })))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }) } }
L
cp wait.lua before.lua
run check --dynamic --fix wait.lua
exits 1
err_lacks "attempt to index"
cmp -s wait.lua before.lua || bad "wait.lua was written"

# --json: what was inserted, what remains, and with --diff the change.
take WG-FENCE-01/bad_excerpt
run check --diff --json case.lua
exits 0
out_has '"written": false'
out_has '+  k:wgmma_fence()\n'
err ""
cmp -s taken.lua case.lua || bad "--diff has written"
run check --fix --json case.lua
exits 0
out_has '"findings": []'
out_has '"call": "k:wgmma_fence()"'
out_has '"rule": "WG-FENCE-01"'
out_has '"written": true'
out_lacks '"problem"'
run check --fix --json case.lua
exits 0
out_has '"inserted": []'
out_has '"written": false'
take WG-DESC-01/bad_excerpt
run check --fix --json case.lua
exits 1
out_has '"rule": "WG-DESC-01"'
out_has '"problem": "case.lua was not changed: 1 error that no proposed change mends"'
cmp -s taken.lua case.lua || bad "case.lua was written"
