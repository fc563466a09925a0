# wgrun ptx --lines: .file and .loc, which ptxas turns into a table of lines; the text is else the same.
run ptx "$SOURCE/scripts/hello_wgmma.lua"
cp out.txt plain.ptx
run ptx --lines "$SOURCE/scripts/hello_wgmma.lua"
exits 0
cp out.txt lines.ptx
out_has 'hello_wgmma.lua"'
out_has '.file 1 "'
grep -vE '^ *\.(loc|file) ' lines.ptx | cmp -s - plain.ptx || bad "nothing else differs"
awk '/^ *\/\/ hello_wgmma.lua:/ { split($2, a, ":"); want = a[2]; getline; if ($1 != ".loc" || $3 != want) exit 1 }' lines.ptx ||
    bad "each .loc is of the line that the comment names"
run ptx --lines --guarded "$SOURCE/scripts/hello_wgmma.lua"
exits 2

# CUDA C++ has #line before each line that comes from the script, and is else the same.
run cuda "$SOURCE/scripts/hello_wgmma.lua"
cp out.txt plain.cu
run cuda --lines "$SOURCE/scripts/hello_wgmma.lua"
exits 0
grep -v '^#line ' out.txt | cmp -s - plain.cu || bad "nothing else differs"
awk '/^ *\/\/ hello_wgmma.lua:/ { split($2, a, ":"); want = a[2] } /^#line / { if ($2 != want) exit 1; n++ } END { if (n < 20) exit 1 }' out.txt ||
    bad "each #line is of the line that the comment names"
out_has 'hello_wgmma.lua"'
run cuda --lines --guarded "$SOURCE/scripts/hello_wgmma.lua"
exits 2

unset WGRUN_CUDA
run doctor
ptxas=$(sed -n 's|^ptxas .* \(/.*\)$|\1|p' out.txt)
[ -n "$ptxas" ] || { echo "skipped: no ptxas"; exit 77; }
"$ptxas" -arch=sm_90a --generate-line-info -o lines.cubin lines.ptx || bad "ptxas refuses it"
grep -qa 'hello_wgmma.lua' lines.cubin || bad "the cubin names the script"
grep -qa 'debug_line' lines.cubin || bad "the cubin has a table of lines"
