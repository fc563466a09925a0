# A script that is not there: one line, exit code 2.
run nowhere.lua
exits 2
out ""
err "wgrun: cannot read nowhere.lua: No such file or directory"
for command in check lua sass; do
    run $command nowhere
    exits 2
    err_has "wgrun: cannot read nowhere: No such file or directory"
done
run check nowhere.lua
exits 2
err_has "wgrun: cannot read nowhere.lua: No such file or directory"
