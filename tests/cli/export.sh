# export: all kernels of a script, or one, as files that appear together or not at all.
file kernels.lua <<'EOF'
local wg = require "wgrun"
print "noise"
wg.kernel("alpha", { threads = 128 }, function(k) k:param("n", "u32") end)
for _ = 1, 2 do wg.kernel("beta", { threads = 64 }, function(k) k:st_global_u32(k:param("to", "u32*"), 7) end) end
EOF
run export kernels.lua -o out
exits 0
out "out/alpha.ptx
out/alpha.cu
out/alpha.h
out/alpha.c
out/alpha.json
out/beta.ptx
out/beta.cu
out/beta.h
out/beta.c
out/beta.json"
err_has noise
err_has "wgrun: no alpha.cubin, alpha.c holds PTX: ptxas was not found"
nothing_left() { [ -z "$(find . -name '.*wgrun*')" ] || bad "left behind: $(find . -name '.*wgrun*')"; }
nothing_left
[ "$(stat -c %a out)" = "$(mkdir probe && stat -c %a probe)" ] || bad "the folder's mode"
has out/alpha.json '"format": "wgrun-export"'
has out/alpha.h '    const alpha_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, uint32_t n, CUstream stream);'
for name in ptx cu h c; do
    [ "$(sed -n "/\"beta.$name\"/,/sha256/s/.*sha256\": \"\(.*\)\".*/\1/p" out/beta.json)" = "$(sha256sum <out/beta.$name | cut -d' ' -f1)" ] || bad "the hash of beta.$name"
done

# Once more, changed: wgrun's own files are replaced, what lies beside them is left alone.
echo mine >out/main.c
sed -i 's/, 7)/, 8)/' kernels.lua
cp out/alpha.cu alpha.cu
cp out/beta.ptx beta.ptx
run export kernels.lua -o out/ --kernel beta
exits 0
same out/main.c mine
! cmp -s beta.ptx out/beta.ptx || bad "beta was not written anew"
cmp -s alpha.cu out/alpha.cu || bad "alpha was written too"
cp out/beta.json before.json
run export kernels.lua -o out --json
exits 0
out_has '"folder": "out"'
out_has '"no_cubin": "ptxas was not found'
cmp -s before.json out/beta.json || bad "the same export gave another manifest"

# What is not wgrun's stays, and then nothing is written.
echo "// edited" >>out/beta.cu
sed -i 's/, 8)/, 9)/' kernels.lua
run export kernels.lua -o out
exits 1
err_has "out/beta.cu has been changed since wgrun wrote it"
has out/beta.cu "// edited"
cmp -s before.json out/beta.json || bad "half of it was written"
nothing_left
mkdir other
echo foreign >other/alpha.h
run export kernels.lua -o other
exits 1
err_has "other/alpha.h was not written by wgrun"
[ "$(ls -A other)" = alpha.h ] || bad "other holds $(ls -A other)"
rm other/alpha.h
ln -s ../alpha.cu other/alpha.cu
run export kernels.lua -o other
exits 1
err_has "other/alpha.cu is not a regular file"
rm other/alpha.cu
echo '{"format": "wgrun-export", "files": [{"name": "../alpha.cu", "sha256": "'"$(sha256sum <alpha.cu | cut -d' ' -f1)"'"}]}' >other/alpha.json
run export kernels.lua -o other
exits 0
[ -f alpha.cu ] || bad "a manifest made it remove a file elsewhere"
echo '[]' >other/alpha.json
run export kernels.lua -o other
exits 1
err_has "other/alpha.json is not a manifest written by wgrun"

# Folders that cannot be.
run export kernels.lua -o nowhere/out
exits 1
err_has "nowhere"
[ ! -e nowhere ] || bad "made the parent"
run export kernels.lua -o alpha.cu
exits 1
err_has "Not a directory"
run export kernels.lua -o alpha.cu/out
exits 1
nothing_left

# Scripts without kernels, without that one, with two of a name, with findings.
run export kernels.lua -o none --kernel alpa
exits 1
err_has 'kernels.lua makes no kernel `alpa`: did you mean `alpha`?'
file empty.lua <<'EOF'
return 1
EOF
run export empty.lua -o none
exits 1
err_has "empty.lua makes no kernel"
file twins.lua <<'EOF'
local wg = require "wgrun"
for i = 1, 2 do wg.kernel("twin", { threads = 32 * i }, function(k) end) end
EOF
run export twins.lua -o none
exits 1
err_has 'two different kernels are called `twin`'
file wrong.lua <<'EOF'
local wg = require "wgrun"
wg.kernel("good", { threads = 128 }, function(k) end)
wg.kernel("wrong", { threads = 128 }, function(k) k:wgmma_commit_group() k:mma(k:regs("f32", 32), {
  a = k:shared(wg.tile { dtype = "bf16", mn = 64, k = 64 }, "a"), b = k:shared(wg.tile { dtype = "bf16", mn = 64, k = 64 }, "b") }) end)
EOF
run export wrong.lua -o none
exits 1
err_has "wrong.lua:3"
[ ! -e none ] || bad "written in spite of findings"
run export kernels.lua
exits 2
err_has "-o is required"
run check kernels.lua
exits 0
