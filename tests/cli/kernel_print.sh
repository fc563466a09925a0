# k:print, k:assert, k:trap and k:breakpoint on the simulator: order, folding, formats, places.
file print.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("talk", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  local tid = k:special "tid.x"
  k:breakpoint()
  k:print("hello")
  k:if_(tid:lt(2), function()
    local x = k:ld_global_f32(k:element(X, tid))
    k:print("x = %g of %d, %s %s 100%%", x, tid, tid:lt(1), x * 2)
  end)
  k:loop(2, function(i) k:print("round %u", i, { guard = tid:eq(33) }) end)
  k:if_(tid:eq(40), function()
    local r = k:regs("s32", 3)
    for i = 0, 2 do k:mov(r[i], i - 1) end
    k:print("list %d, hex %#x %5.2f|%-4d|", r, r[0], k:cvt_rn_f32_s32(r[2]), r[2])
  end)
end)
local x = wg.zeros("f32", { 64 })
x[0] = 1.5
kernel:run { grid = { 2, 1, 1 }, args = { x }, seed = tonumber(arg[1] or 0) }
print "after"
END
run --backend=sim print.lua
exits 0
out '[print.lua:6 cta 0 threads 0-63] hello
[print.lua:9 cta 0 thread 0] x = 1.5 of 0, true 3 100%
[print.lua:9 cta 0 thread 1] x = 0 of 1, false 0 100%
[print.lua:11 cta 0 thread 33] round 0
[print.lua:15 cta 0 thread 40] list {-1, 0, 1}, hex 0xffffffff  1.00|1   |
[print.lua:11 cta 0 thread 33] round 1
[print.lua:6 cta 1 threads 0-63] hello
[print.lua:9 cta 1 thread 0] x = 1.5 of 0, true 3 100%
[print.lua:9 cta 1 thread 1] x = 0 of 1, false 0 100%
[print.lua:11 cta 1 thread 33] round 0
[print.lua:15 cta 1 thread 40] list {-1, 0, 1}, hex 0xffffffff  1.00|1   |
[print.lua:11 cta 1 thread 33] round 1
after'
for seed in 1 2 3; do
    cp out.txt before.txt
    run --backend=sim print.lua $seed
    cmp -s out.txt before.txt || bad "the order depends on the schedule"
done

# An assertion ends the kernel; what was found before is said too.
file assert.lua <<'END'
local wg = require "wgrun"
local what = ...
local kernel = wg.kernel("wrong", { threads = 32 }, function(k)
  local tid = k:special "tid.x"
  k:print("before")
  if what == "trap" then
    k:if_(tid:eq(5), function() k:trap("at %d", tid) end)
  elseif what == "negated" then
    k:assert(~tid:ge(30))
  else
    k:assert(tid:lt(30), "tid = %d", tid)
  end
  k:print("after")
end)
local ok, e = pcall(kernel.run, kernel, { grid = { 2, 1, 1 }, args = {} })
print(ok, e)
for _, note in ipairs(e.notes) do print(note.line, note.message) end
kernel:run { grid = { 1, 1, 1 }, args = {} }
END
run --backend=sim assert.lua assertion
exits 1
out '[assert.lua:5 cta 0 threads 0-31] before
false	assert.lua:11: assertion failed: tid = 30 (cta 0 thread 30) [WG-TRAP-01]
11	assertion failed: tid = 31 (cta 0 thread 31)
[assert.lua:5 cta 0 threads 0-31] before'
err_has 'assert.lua:11: error: assertion failed: tid = 30 (cta 0 thread 30)'
err_has '  assert.lua:11: assertion failed: tid = 31 (cta 0 thread 31)'
run --backend=sim assert.lua trap
exits 1
out_has 'assert.lua:7: the kernel traps: at 5 (cta 0 thread 5)'
out_lacks 'after'
run --backend=sim assert.lua negated
out_has 'assert.lua:9: assertion failed (cta 0 threads 30-31)'

# What does not fit is said where it stands.
refused() {
    printf '%s\n' 'local wg = require "wgrun"' 'wg.kernel("k", { threads = 32 }, function(k)' \
        '  local t, f, h, p = k:special "tid.x", k:reg "f32", k:reg "b16", k:special("tid.x"):eq(0)' "  $1" 'end)' >bad.lua
    run --backend=sim bad.lua
    exits 1
    err_has "bad.lua:4: $2"
}
refused 'k:print("%d", f)' '`%d` takes an integer, not a register of type f32'
refused 'k:print("%f", h)' '`%f` takes a number, not a register of type b16'
refused 'k:print("%d %d", t)' '`%d` has no value: 1 given'
refused 'k:print("%d", t, t)' '2 values for a format with 1 conversions'
refused 'k:print("%q", t)' '`%q`: no conversion that is known'
refused 'k:print("100%")' '`%`: no conversion that is known'
refused 'k:print("%d", 7)' 'value of a message: expected a register or a list of registers, got number 7'
refused 'k:print(t)' 'bad argument #1 to `print`'
refused 'k:assert(t)' 'the condition of an assertion is a predicate'
refused 'k:assert(true)' 'k:assert, condition: expected a register, got'
refused 'k:print("%d", ~p)' 'a negated predicate cannot be printed'

# An accumulator that a wgmma still writes: the print reads it, and the checker says so.
file early.lua <<'END'
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
wg.kernel("early", { threads = 128 }, function(k)
  local A = k:param("A", "const bf16*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  for _, t in ipairs { a, b } do
    k:copy_tile { to = t, from = A, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  k:print("acc[0] = %g", acc[0])
  k:wgmma_wait_group(0)
  k:print("acc[0] = %g", acc[0])
end)
END
run check early.lua
exits 1
err_has 'early.lua:14: error'
err_has 'WG-GROUP-01'
sed '14d' early.lua >late.lua
run check late.lua
exits 0

# There is no host for the messages of an exported kernel.
sed 's/^local ok.*//; /^print/d; /^for/d; /^kernel:run/d; s/lt(30)/lt(64)/' assert.lua >export.lua
run export export.lua -o folder
exits 1
err_has 'export.lua:5: kernel wrong has k:print, k:assert or k:trap here'
