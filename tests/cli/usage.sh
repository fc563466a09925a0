# Wrong usage: one line, exit code 2.
run --bogus script.lua
exits 2
err "wgrun: unknown option --bogus (wgrun --help)"
run --backend=cpu script.lua
exits 2
err_has "--backend"
err_has "(wgrun --help)"
run check
exits 2
err_has "FILE is required"
run check --bogus script.lua
exits 2
err_has "--bogus"
run -e
exits 2
run check --dynamic ""
exits 2
err "wgrun: the name of the file is empty (wgrun --help)"
run ""
exits 2
err "wgrun: the name of the file is empty (wgrun --help)"
run export script.lua 64 -o out
exits 2
err "wgrun: -o is required before the arguments of the script (wgrun --help)"

# An argument of the script may be what an option before it has as its value.
echo 'print("argument", (...))' >print.lua
run check --dynamic --seeds 1 --json print.lua 1
exits 0
err_has "argument	1"
run check --bogus --seeds 1 print.lua 1
exits 2
err "wgrun: unknown option --bogus (wgrun --help)"
