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
# Options that come without FILE, and those of commands that take none.
run check --rulez
exits 2
err 'wgrun: unknown option --rulez (wgrun --help)'
run check --dynamc
exits 2
err_has 'unknown option --dynamc: did you mean `--dynamic`?'
run doctor --jsn
exits 2
err_has 'did you mean `--json`?'
run rules --markdwn
exits 2
err_has 'did you mean `--markdown`?'
# Words that an option takes.
run --backend=gpuu x.lua
exits 2
err 'wgrun: --backend: gpuu not in {auto,gpu,gpu-cuda,sim}: did you mean `gpu`? (wgrun --help)'
run check --numerics H20 x.lua
exits 2
err_has 'did you mean `h200`?'
run layout 8:1 --view=chunk
exits 2
err_has 'did you mean `chunks`?'
run cache inf
exits 2
err_has 'did you mean `info`?'
run completion bsh
exits 2
err_has 'did you mean `bash`?'
# Instructions, forms, types and rules.
run isa wgma
exits 2
err_has 'did you mean `wgmma`?'
for command in isa help; do
    run $command k:ld_globl_f32
    exits 2
    err_has 'k:ld_global_f32'
    run $command st_shred_v4_f32
    exits 2
    err_has 'st_shared_v4_f32'
done
run isa --dtype bff16
exits 2
err_has 'did you mean `bf16`?'
run explain WG-FENCE-99
exits 2
err_has 'did you mean `WG-FENCE-0'
run explain wg-fence-01
exits 0
out_has 'WG-FENCE-01 (error)'
run explain mbarrier
exits 0
out_has '  WG-MBAR-01 '
run explain xyzzy
exits 2
err 'wgrun: there is no rule `xyzzy` (wgrun rules lists them, wgrun help knows functions and instructions)'
# Letters of the other case.
run -e 'require "wgrun".tile { dtype = "bf16", mn = 64, k = 64, major = "k", swizzle = "128b" }'
exits 1
err_has 'did you mean `K`?'

# A type that nothing tells has to be named, although one of 128 bits stands alone in its row.
for call in 'mov(0)' 'ld_global(X)' 'st_global(X, 0)' 'atom_global_exch(X, 5)'; do
    run -e "require 'wgrun'.kernel('k', { threads = 32 }, function(k) local X = k:param('X', 'u32*') k:$call end)"
    exits 1
    err_has "needs \`type\`"
done
