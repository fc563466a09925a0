# -e runs code, several pieces in order, before the file.
file after.lua <<'END'
print("file", x)
END
run -e 'x = 1' -e 'print("code", x)' after.lua
exits 0
out "code	1
file	1"
run -e 'print(require("wgrun").tile{dtype="bf16", mn=64, k=64}.swizzle)'
exits 0
out "128B"
