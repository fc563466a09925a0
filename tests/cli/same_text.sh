# A kernel has the same text in each process, and with it the same place in the cache, though Lua walks a table in another order in each.
file texts.lua <<'EOF'
local wg = require "wgrun"
print(wg.gemm { problem = { 256, 256, 4096 }, epilogue = { bias = "column", residual = true } }.kernel:ptx())
print(wg.gemm { problem = { 150, 200, 256 }, tile = { 128, 128 } }.kernel:ptx()) -- with an edge of A and one of B
print(wg.gemm { groups = "masked", dtype = "e4m3", scales = { a = "1x128", b = "128x128" } }.kernel:ptx())
print(wg.gemm { problem = { 16, 512, 2048 }, b_type = "s4" }.kernel:ptx())
print(wg.attention { dim = 64, heads = 2, causal = true, packed = true, lse = true }.kernel:ptx())
print(wg.attention_decode { dim = 64, heads = 4, kv_heads = 2, page = 16 }.kernel:ptx())
-- Of several results that are missing, the first is named.
print(pcall(wg.kernel, "k", { threads = 32 }, function(k)
  k:asm { "mov.u32 %a, 1; mov.u32 %b, 2; mov.u32 %c, 3;", out = { a = "u32", b = "u32", c = "u32" }, meaning = function() return {} end }
end))
EOF
run texts.lua
exits 0
out_has "wgmma.mma_async"
mv out.txt first.txt
for process in 2 3 4 5 6 7 8; do
    run texts.lua
    cmp -s first.txt out.txt || bad "another process has another text: $(diff first.txt out.txt | head -4)"
done
