# wgrun run --dump NAME@LINE: registers, fragments and tiles as they are when warps come to a line.
file dump.lua <<'END'
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local kernel = wg.kernel("product", { threads = 128 }, function(k)
  local A, B = k:param("A", "const bf16*"), k:param("B", "const bf16*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  for _, pair in ipairs { { a, A }, { b, B } } do
    k:copy_tile { to = pair[1], from = pair[2], ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true }
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, scale_d = 0 })
  k:wgmma_wait_group(0)
  local tid = k:special "tid.x"
  local sum = k:reg "u32"
  k:mov(sum, 0)
  k:loop(3, function(i)
    k:add(sum, sum, i)
  end)
  k:mov(sum, tid)
end)
local A, B = wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 })
for i = 0, 63 do A[{ i, i }] = 1 end            -- the identity: the product is B, transposed
for r = 0, 63 do for c = 0, 3 do B[{ r, c }] = 10 * r + c end end
kernel:run { grid = { 2, 1, 1 }, args = { A, B } }
print "ran"
END
run run dump.lua --dump acc@1
exits 1
err_has "--dump acc@1: no instruction of a kernel stands at line 1: the nearest are at 4"
run run dump.lua --dump acc@23
exits 1
err_has "no instruction of a kernel stands at line 23: the nearest are at 21"
run run dump.lua --dump acc@15 --when cta=1
exits 0
out_has 'acc@15 cta 1 warps 0-3
acc: wgmma D 64x64, f32, 64 x 64'
grep -qE '^ 2: +2 +12 +22 +32 ' out.txt || bad "row 2 is B's column 2"
grep -qE '^63: +0 +0 ' out.txt || bad "row 63 is zero"
[ "$(grep -c 'acc@15' out.txt)" = 1 ] || bad "one CTA is meant"
run run dump.lua --dump b@12 --when cta=0,warp=2
exits 0
out_has 'b@12 cta 0 warp 2
`b`, bf16 K-major 128B, 64 x 64'
grep -qE '^ 5: +50 +51 +52 +53 +0 ' out.txt || bad "the swizzle is undone"
run run dump.lua --dump sum@19 --when cta=0,warp=3,nth=3
exits 0
out 'sum@19 cta 0 warp 3, time 3
sum (u32) = 1 in all lanes
ran'
run run dump.lua --dump tid@21 --dump B@21 --when cta=0,warp=1
exits 0
out_has '  lane  0: 32 33 34 35 36 37 38 39'
out_has '`B`, bf16, 64 x 64'
run run dump.lua --dump tid@999
exits 1
err_has 'wgrun: --dump tid@999: no instruction of a kernel stands at line 999: the nearest are at 21'
run run dump.lua --dump acc@21 --when cta=7
exits 1
err_has 'wgrun: --dump acc@21: no selected warp reached that line'
run run dump.lua --dump nonsense@21
exits 1
err_has 'nothing is called `nonsense`'
run run dump.lua --dump acc
exits 2
err_has '`acc`: a dump is written NAME@LINE'
run run dump.lua --dump acc@15 --when warp=x
exits 2
run run dump.lua --dump acc@15 --when lane=32
exits 2
run run dump.lua --dump acc@15 --when ctaa=0
exits 2
err_has '`ctaa=0`: a stop takes cta=N, warp=N, lane=0 to 31, thread=N, nth=1 or more: did you mean `cta`?'
run run dump.lua --dump acc@15 --when cta=0,,warp=1
exits 2
err_has '``: a stop takes cta=N'
run run dump.lua --dump 'acc[]@15'
exits 1
err_has '`acc[]`: an index is missing'
run run dump.lua --dump 'B[5]@21'
exits 1
err_has '`B` has rows and columns: B[ROW,COLUMN]'

# A list is printed in lines, and has elements by one index.
file list.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("list", { threads = 64 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local tid = k:special "tid.x"
  k:st_global_u32(k:element(X, tid), tid + n)
  k:bar_sync(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 64 }), 100 } }
END
run run list.lua --dump X@6 --dump 'X[9]@6' --dump n@6 --when warp=1
exits 0
out_has '`X`, u32, 1 x 64
 0: '
out_has '
48: '
out_has 'X[9] = '
out_has 'n (u32) = 100 in all lanes'
run run list.lua --dump 'X[64]@6'
exits 1
err_has 'is 1 x 64'

# Registers in tables have names, too.
file tables.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("tables", { threads = 32 }, function(k)
  local D, sums, state = k:param("D", "u32*"), {}, { rows = {} }
  for i = 1, 2 do sums[i] = k:mov(10 * i, { type = "u32" }) end
  state.rows[3] = k:mov(33, { type = "u32" })
  local acc = { k:regs("u32", 2) }
  k:mov(acc[1][1], 5)
  k:st_global_u32(D, sums[1] + sums[2])
end)
kernel:run { grid = 1, args = { wg.zeros("u32", 1) } }
END
for thing in "sums[2] 20" "state.rows[3] 33" "acc[1][1] 5"; do
    run run tables.lua --dump "${thing% *}@8"
    exits 0
    out_has "${thing#* }"
done
