# layout: a layout, or what a script calls by a name: facts, a grid, an SVG file.
run layout "((2,2),4):((1,8),2)"
exits 0
out "((2,2),4):((1,8),2)
size 16, cosize 16, rank 2, depth 2

mode 0 down, mode 1 to the right
   0  1  2  3
0  0  2  4  6
1  1  3  5  7
2  8 10 12 14
3  9 11 13 15"
err ""
run layout --json "(8,2):(2,1)"
exits 0
out_has '"cosize": 16'
run layout "(8,"
exits 1
out ""
err_has "(8,"
run layout
exits 2
err_has "EXPR is required"
run layout kernel.lua
exits 2
err_has "wgrun layout kernel.lua NAME"

# Colour where it is asked for.
escape=$(printf '\033')
run layout "8:1"
out_lacks "$escape"
run layout --color=always "8:1"
out_has "$escape"
NO_COLOR=1 run layout --color=auto "8:1"
out_lacks "$escape"
COLORTERM=truecolor run layout --color=always "8:1"
out_has "$escape[38;2;0;0;0;48;2;168;213;255m"
COLORTERM= run layout --color=always "8:1"
out_has "$escape[30;48;5;153m"

# An SVG file; a layout too large to look at still has its facts.
run layout "Swizzle<2,1,3> o (8,8):(8,1)" --svg picture.svg
exits 0
has picture.svg "</svg>"
has picture.svg "Swizzle&lt;2,1,3&gt;"
run layout "8:1" --svg no/such/folder.svg
exits 1
err_has "no/such/folder.svg"
run layout "(8192,8192):(8192,1)"
exits 0
out_has "size 67108864"
err_has "offsets"
run layout "(8192,8192):(8192,1)" --svg large.svg
exits 1
[ ! -e large.svg ] || bad "no picture, but a file"
run layout "(1024,1024):(1024,1)" --view offsets
exits 1
err_has "too many"
run layout "(1024,1024):(1024,1)" --view offsets --svg large.svg
exits 1
[ ! -e large.svg ] || bad "no picture, but a file"
run layout "(1024,1024):(1024,1)"
exits 0
out_has "lowest and highest offset of 32x32 coordinates"
out_has "0 31775"
err ""

# On standard output a picture is alone, and the same as in a file.
for form in "--svg" "--svg -" "--svg=-"; do
    run layout "Swizzle<2,1,3> o (8,8):(8,1)" $form
    exits 0
    err ""
    cmp -s out.txt picture.svg || bad "$form prints something else than the picture"
done
run layout "Swizzle<2,1,3> o (8,8):(8,1)" --svg --json
cmp -s out.txt picture.svg || bad "--svg --json prints something else than the picture"
run layout "8:1" --html page.html
exits 0
out_has "size 8"
has page.html "</html>"
run layout "8:1" --html
exits 0
out_lacks "size 8"
cmp -s out.txt page.html || bad "--html prints something else than the page"
run layout "(1024,1024):(1024,1)" --view offsets --svg
exits 1
out ""

# Views, and what they need.
run layout "(8,64):(64,1)" --view chunks
exits 1
err_has "dtype"
run layout "(8,64):(64,1)" --view chunks --dtype bf16
exits 0
out_has "shared memory: chunk at each address"
run layout "(8,64):(64,1)" --view banks --access ldmatrix --dtype bf16
out_has "ldmatrix: 8-way conflict"
run layout "(8,64):(64,1)" --view conflicts --dtype bf16
out_has "st.shared.v4: no conflicts"
run layout "(8,64):(64,1)" --view pictures
exits 2
run layout "(2,4):(4,1)" --bytes --dtype f32
out_has "1 16 20 24 28"

# A product of one instruction.
run layout m16n8k16
exits 0
out_has "A: registers, mma.sync A bf16 16x16, m down, k to the right"
out_has "28:7 29:6"
run layout m64n128k32 --dtype e4m3 --svg mma.svg
exits 0
has mma.svg "D: registers, wgmma D f32 64x128"
run layout m64n16k17
exits 1
err_has "has k16"
COLUMNS=80 run layout m64n64k16
awk 'length > 80 { exit 1 }' out.txt || bad "wider than 80 columns"

# Objects of a script.
file kernel.lua <<'END'
local wg = require "wgrun"
print "words of the script"
return {
  tile = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K", swizzle = "32B" },
  accumulator = wg.fragment { of = "wgmma_d", dtype = "f32", n = 8 },
  plain = wg.layout "(4,4):(4,1)",
  product = wg.mma_picture { shape = "m16n8k8" },
  number = 3,
}
END
run layout kernel.lua tile
exits 0
out_has "tile bf16 64x16, K-major, swizzle 32B"
out_has "SBO        256 bytes"
out_lacks "words of the script"
err_has "words of the script"
run layout kernel.lua tile --bytes --json
out_has '"sbo": 256'
run layout kernel.lua tile --bytes --svg tile.svg
has tile.svg "byte offsets"
has tile.svg "SBO 256 bytes"
run layout kernel.lua accumulator
out_has "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))"
out_has "T0 V0"
run layout kernel.lua plain
out_has "size 16, cosize 16"
run layout kernel.lua plain --bytes
exits 1
err_has "--bytes: the offsets of a layout count elements"
run layout kernel.lua product
exits 0
out_has "B: registers, mma.sync B bf16 8x8"
run layout m64n8k16 --swizzle 64B
exits 0
out_has "A: shared memory, k 0 to 15 of bf16 64x32 K-major swizzle 64B"
run layout m16n8k16 --swizzle 64B
exits 1
err_has "operands in registers"
run layout m64n8k16 --swizzle 12B
exits 2
run layout kernel.lua product --view chunks
exits 1
err_has "a product has only one view"
run layout kernel.lua accumulator --view chunks
exits 1
err_has "a fragment is in registers"
run layout kernel.lua number
exits 1
err_has "no layout, tile, fragment or picture called \`number\`, but number"
run layout kernel.lua nothing
exits 1
err_has "called \`nothing\`, but nil"
run layout absent.lua tile
exits 2
err_has "cannot read absent.lua"
file silent.lua <<'END'
local x = 1
END
run layout silent.lua x
exits 1
err_has "silent.lua does not return a table: end it with return { x = ... }"
file broken.lua <<'END'
error "no layout today"
END
run layout broken.lua x
exits 1
err_has "broken.lua:1"
err_has "no layout today"
