# Escape sequences in names and in files do not reach the terminal: they are shown as \x1b.
escape=$(printf '\033')
shown='\x1b[31m'

# The header of a .npy file, in an error that ends the script and in one that it prints itself.
dictionary="{'descr': '<f4', 'fortran_order': False, '${escape}[31mshape': (1,), }"
{ printf '\223NUMPY\001\000\100\000'; printf '%-63s\n' "$dictionary"; printf 'data'; } > a.npy
run -e 'require("wgrun").load "a.npy"'
exits 1
err_has "key \`${shown}shape\` is unknown"
err_lacks "$escape"
run -e "print(select(2, require('wgrun').load '${escape}[31mabsent.npy'))"
out_has "${shown}absent.npy: No such file"
out_lacks "$escape"

# Names of tensors in a .safetensors file.
{ printf '\060\000\000\000\000\000\000\000'; printf '%-48s' '{"\u001b[31mw":[]}'; } > a.safetensors
run -e 'require("wgrun").load "a.safetensors"'
exits 1
err_has "tensor \`${shown}w\`"
err_lacks "$escape"

# A script's name, its plain errors, and what findings say; JSON has them as they are.
cat > "${escape}[31m.lua" <<'LUA'
error("\27[31m\u{9b}31m\r red")
LUA
run "${escape}[31m.lua"
exits 1
err_has '\x1b[31m.lua:1: '
err_has '\x1b[31m\x9b31m\x0d red'
err_lacks "$escape"
run check --json "${escape}[31m.lua"
out_has '\u001b[31m.lua'
run check "${escape}[31mabsent.lua"
err_has "${shown}absent.lua"
err_lacks "$escape"
run explain "${escape}[31m"
err_lacks "$escape"

# A name in a file of launches, which may be another's, and of a file that is written.
cp "$SOURCE/tests/ptx/rows.ptx" rows.ptx
echo '{"kernel": "\u001b[31mk", "grid": 1, "arguments": []}' > launch.json
run check --dynamic rows.ptx --launch launch.json
exits 1
err_has "$shown"
err_lacks "$escape"
run lua rows.ptx --kernel "${escape}[31m"
err_has "has no kernel \`$shown"
err_lacks "$escape"
run new gemm "${escape}[31mnew.lua"
exits 0
out_has "next: wgrun ${shown}new.lua"
out_lacks "$escape"

# What a text of PTX holds stays within the comment or the string of the script that is made of it, and of the messages.
{
    printf '.version 8.0\n.target sm_90a\n.address_size 64\n.file 1 "a\ros.exit(9)--.cu"\n'
    printf '.visible .entry k(.param .u64 p) .reqntid 32 {\n.reg .u32 %%r<3>;\n.loc 1 3 0\nmov.u32 %%r1, %%tid.x;\n'
    printf '.pragma "]==] } os.exit(9) --[==[, ";\nadd.u32 %%r1, %%r1, 1;\nret;\n}\n'
} > hostile.ptx
run lua hostile.ptx
exits 0
out_lacks "$(printf '\r')"
cp out.txt hostile.lua
run hostile.lua
exits 0

# A name with a newline makes no line of its own, in messages and in the texts of a kernel.
name="$(printf 'a\nb.lua')"
printf 'local wg = require "wgrun" k = wg.kernel("k", { threads = 32 }, function(k)\n  k:bar_sync(0) end) print(k:ptx(), k:cuda()) error("here")' > "$name"
run --backend=sim "$name"
exits 1
grep -q '^b.lua' out.txt err.txt && bad "$ran: the name begins a line"
err_has 'a\x0ab.lua:2: here'
out_has '// a_b.lua:2'
