# What findings call a script: its whole name, where Lua cuts it, and one name for standard input.
folder=$(printf 'a_folder_with_a_long_name_%s/' 1 2 3 4)
mkdir -p "$folder"
for code in 'local x = = 1' 'local x = nil + 1' 'error "no"' 'x.y.z = 1'; do
    echo "$code" >"$folder/script.lua"
    run check --json "$folder/script.lua"
    exits 1
    out_has "\"file\": \"$folder/script.lua\""
    run check "$folder/script.lua"
    err_has "wgrun: $folder/script.lua:1: "
done
# Through a function of the script that another file has, by its name there.
echo 'return function() error "far" end' >"$folder/far.lua"
echo 'require "far" ()' >"$folder/script.lua"
run check --json "$folder/script.lua"
out_has '"message": "far"'

input='local wg = require "wgrun" wg.kernel("k", {}, function() end) error "no"'
run check -
exits 1
err_has 'wgrun: stdin:1: no'
out_has 'stdin: 1 kernel, 1 error'
run check --json -
out_has '"file": "stdin"'
input='return 1'
run timeline -
err 'wgrun: stdin launches no kernel'
run lua -
err 'wgrun: stdin is no PTX: a text begins with .version'
run check --stdin-name mine.lua -
out 'mine.lua: 0 kernels, 0 errors, 0 remarks'
