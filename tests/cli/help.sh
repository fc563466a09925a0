# --help tells the exit codes; --version is one line.
run --help
exits 0
err ""
for text in check ptx cuda explain layout decode doctor --backend --json --color "130 interrupted" "4 no device"; do out_has "$text"; done
run --version
exits 0
out_has "wgrun 0."
out_has "Lua 5.4"
run check --help
exits 0
out_has "--sarif"
