# What is nearly the name of a command or an option is named.
run chekc x.lua
exits 2
err 'wgrun: there is no file and no command `chekc`: did you mean `check`? (wgrun --help)'
run --bakend=sim x.lua
exits 2
err_has 'did you mean `--backend`?'
run check --dynamc x.lua
exits 2
err_has 'did you mean `--dynamic`?'
# A file comes before a command that is nearly its name.
echo 'print("file")' > chek
run chek
exits 0
out file
echo 'print("run", ...)' > x.lua
run run x.lua 1 2
exits 0
out_has "1	2"
