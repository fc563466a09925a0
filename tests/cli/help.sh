# --help tells the exit codes; --version is one line, with the commit that it was built from.
run --help
exits 0
err ""
for text in check ptx cuda explain layout decode doctor --backend --json --color "130 interrupted" "4 no device"; do out_has "$text"; done
# README, help and manual page begin with the same words.
purpose="an assembler and checker for Hopper tensor-core kernels, scripted in Lua"
out_has "$purpose"
out_has "wgrun check kernel.ptx "
grep -q "wgrun is $purpose" "$SOURCE/README.md" || bad "README.md says something else"
run man
out_has "assembler and checker for Hopper"
out_has "wgrun check kernel.ptx "
run --version
exits 0
out_has "wgrun 1."
if git -C "$SOURCE" rev-parse HEAD > /dev/null 2>&1; then
    grep -Eq '^wgrun [0-9.]+ \([0-9a-f]{7,}(-dirty)?\), Lua 5\.4' out.txt || bad "--version: a commit is expected"
fi
out_has "Lua 5.4"
run check --help
exits 0
out_has "--sarif"
