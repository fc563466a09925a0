# A disk that is full: a tmpfs of its own, in a mount namespace that ends with this test. Needs root, or a system that
# gives users namespaces.
if [ -z "$INSIDE" ]; then
    for rights in "" "--user --map-root-user"; do
        # shellcheck disable=SC2086
        if unshare $rights --mount sh -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null; then
            INSIDE=1 unshare $rights --mount sh "$SOURCE/tests/cli/lib.sh" "$WGRUN" "$CASE"
            exit
        fi
    done
    echo "skipped: no tmpfs can be mounted here"
    exit 77
fi
mkdir disk
trap 'umount disk; rm -rf "$WORK"' EXIT
mount -t tmpfs -o size=256k none disk || bad "cannot mount"
full="No space left on device"
nothing_left() { [ -z "$(find disk -name '.wgrun*' -o -name '*.tmp')" ] || bad "$ran: left behind: $(find disk -name '.wgrun*')"; }
fill() { # all but so many KiB
    rm -f disk/rest
    dd if=/dev/zero of=disk/rest bs=1k count=4096 2>/dev/null
    truncate -s $(($(stat -c %s disk/rest) - $1 * 1024)) disk/rest
}

# Tensors: a first one, one over another, .npy.
run -e 'require "wgrun".zeros("u8", { 100000 }):save "disk/t.npy"'
exits 0
cp disk/t.npy good.npy
for items in 200000 400000; do
    run -e "local wg = require 'wgrun' local t = wg.zeros('u8', { $items })
        local done, why, code = t:save 'disk/t.npy' assert(not done and code == 'EIO', code) io.stderr:write(why)
        done, why = t:save 'disk/new.npy' print(done)"
    exits 0
    err_has "disk/t.npy: $full"
    cmp -s disk/t.npy good.npy || bad "the good tensor is gone"
    nothing_left
done
rm disk/*

# Pictures, of the tool and of scripts.
run layout 8:1 --svg disk/picture.svg
exits 0
cp disk/picture.svg good.svg
fill 4
run layout '(64,64):(64,1)' --svg disk/picture.svg
exits 1
err_has "disk/picture.svg: $full"
run -e 'local done, why = require "wgrun".layout "(64,64):(64,1)":svg "disk/picture.svg" assert(not done) io.stderr:write(why)'
exits 0
err_has "disk/picture.svg: $full"
cmp -s disk/picture.svg good.svg || bad "the good picture is gone"
nothing_left
rm disk/*

# Exports: into a new folder, and over an old one.
file kernels.lua <<'END'
local wg = require "wgrun"
for i = 1, 4 do
  wg.kernel("k" .. i, { threads = 64 }, function(k)
    local to = k:param("to", "u32*")
    for _ = 1, VERSION do k:st_global_u32(to, i) end
  end)
end
END
sed s/VERSION/10/ kernels.lua >old.lua
sed s/VERSION/11/ kernels.lua >new.lua
run export old.lua -o disk/out
exits 0
cp -r disk/out good
for left in 0 8 16 40; do
    fill $left
    run export new.lua -o disk/out
    exits 1
    err_has "$full"
    diff -r good disk/out || bad "the old export is changed"
    run export new.lua -o disk/fresh
    exits 1
    [ ! -e disk/fresh ] || bad "half an export"
    nothing_left
done
rm disk/rest
run export new.lua -o disk/out
exits 0
rm -r disk/*

# The cache of measurements: the report says why, and the work is done.
export WGRUN_CACHE="$WORK/disk"
file tune.lua <<'END'
local wg = require "wgrun"
local function build(o) return wg.kernel("k", { threads = 32 }, function(k) k:mov(o.n, { type = "u32" }) end), {} end
local _, report = wg.tune { name = "n", build = build, rounds = 1, candidates = { { n = tonumber(arg[1]) } }, backend = "sim" }
print(report.cache_problem)
END
run tune.lua 1
exits 0
out nil
cp disk/wgrun-cache-v1/tune/results.txt results.txt
fill 0
run tune.lua 2
exits 0
out_has "$full"
cmp -s disk/wgrun-cache-v1/tune/results.txt results.txt || bad "the results that were there are gone"
nothing_left
# What ptxas has made: a warning.
unset WGRUN_CUDA
run doctor
if grep -q '^ptxas  *[0-9]' out.txt; then
    run check --assemble old.lua
    exits 0
    out_has registers
    err_has "$full"
    [ "$(grep -c "$full" err.txt)" = 1 ] || bad "said more than once"
    nothing_left
    # The folder for what ptxas reads.
    fill 0
    export TMPDIR="$PWD/disk" WGRUN_CACHE=off
    run check --assemble old.lua
    out_has "kernel.ptx: $full"
    unset TMPDIR
    export WGRUN_CACHE="$WORK/disk"
    nothing_left
fi
export WGRUN_CUDA=off
run cache info
exits 0
run cache clear
exits 0
rm disk/rest
run tune.lua 3
exits 0
out nil
rm -r disk/*
export WGRUN_CACHE=off

# A script that --fix mends, and results on standard output.
sed "s|^local kit = .*|local kit = dofile '$SOURCE/tests/rules/kit.lua'|" "$SOURCE/tests/rules/WG-FENCE-01/bad_excerpt.lua" >bad.lua
cp bad.lua disk/script.lua
fill 0
run check --fix disk/script.lua
exits 1
err_has "disk/script.lua: $full"
cmp -s disk/script.lua bad.lua || bad "the script is changed"
nothing_left
ran="wgrun rules >disk/rules.txt" code=0
"$WGRUN" rules >disk/rules.txt 2>err.txt || code=$?
: >out.txt
exits 1
err_has "$full"
