# What Compiler Explorer calls (packaging/compiler-explorer): a compiler that writes PTX with the script's lines, and a checker of PTX that lies beside a file.
ce() {
    ran="wgrun-ce $*"
    code=0
    WGRUN=$WGRUN "$SOURCE/packaging/compiler-explorer/wgrun-ce" "$@" > out.txt 2> err.txt || code=$?
}
ce --version; exits 0; out_has "wgrun "
cp "$SOURCE/scripts/hello_wgmma.lua" example.lua
ce -g -o output.s -S example.lua; exits 0; out_has "proved for all launches"
has output.s ".loc"; has output.s "wgmma.mma_async"
ce -g -o guarded.s -S --guarded example.lua; exits 2; err_has "--lines" # options go to wgrun ptx

sed -i '/wgmma_fence/d' example.lua
ce -g -o output.s -S example.lua; exits 1; err_has "example.lua:25: error: no wgmma.fence"

# nvcc's folder: the host's text is handed over, and the PTX lies beside it
mkdir nvcc
echo ".section .text" > nvcc/output.s.osaca
cp "$SOURCE/tests/ptx/missing_fence.ptx" nvcc/example.ptx
ce --check nvcc/output.s.osaca; exits 1; out_has "1 error"; err_has "nvcc/example.ptx:"
# clang's text is PTX itself
mkdir clang
cp "$SOURCE/tests/ptx/two_stages.ptx" clang/output.s.osaca
ce --check clang/output.s.osaca; exits 0; out_has "sums: proved"
echo "main:" > clang/output.s.osaca
ce --check clang/output.s.osaca; exits 2; err_has "no PTX"
