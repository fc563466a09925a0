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
