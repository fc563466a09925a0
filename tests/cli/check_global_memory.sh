# check: of accesses to global memory nothing wrong is proved, and usual kernels are (global_memory.py).
python3 -B "$SOURCE/tests/cli/global_memory.py" ptx >kernels.ptx

# Without isl both properties are undecided.
mkdir none
echo "no library" >none/libisl.so.23
LD_LIBRARY_PATH=none run check "$SOURCE/scripts/guide/01-elementwise.lua"
exits 0
out_has "axpy: proved for all launches but races in global memory, bounds"
out_has "races in global memory, bounds: undecided: "
out_has "the library isl is not installed (libisl23)"
run check "$SOURCE/scripts/guide/01-elementwise.lua"
if grep -q "isl is not installed" out.txt; then
    echo "skipped: no isl"
    exit 77
fi

ran="wgrun check --json --budget 5 kernels.ptx"
"$WGRUN" check --json --budget 5 kernels.ptx >verdicts.json 2>err.txt || true
code=0
python3 -B "$SOURCE/tests/cli/global_memory.py" verdicts.json >out.txt 2>&1 || code=$?
exits 0
