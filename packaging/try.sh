#!/bin/sh
# try.sh FOLDER: installs what packaging/release.sh made in FOLDER into new roots of Debian, one for each suite in SUITES, and checks a
# kernel that is wrong with it: the wheel, and where glibc is as new as the builder's also the package and the archive. Runs as root;
# needs mmdebstrap.
set -eu
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for suite in ${SUITES:-bullseye bookworm trixie}; do # with Python 3.9, 3.11 and 3.13
    root=$work/$suite
    mmdebstrap --quiet --variant=minbase --include=python3-venv,ca-certificates "$suite" "$root"
    cp /etc/resolv.conf "$root/etc/" 2> /dev/null || true
    mkdir "$root/release"
    cp "$folder"/wgrun* "$root/release/"
    ldd --version | sed -n '1s/.* //p' > "$root/release/glibc"
    cat > "$root/release/wrong.lua" << 'LUA'
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
wg.kernel("wrong", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local acc = k:regs("f32", 32)
  k:mma(acc, { a = a, b = b, scale_d = 0 }) -- without a wgmma.fence
end)
LUA
    cat > "$root/release/inside.sh" << 'SH'
set -eu
cd /release
# found TOOL...: it finds the fence that is missing, and ends with 1
found() {
    "$@" check --restricted wrong.lua > findings 2>&1 && { echo "$*: finds nothing"; exit 1; }
    grep -q "WG-FENCE-01" findings || { echo "$*:"; cat findings; exit 1; }
    echo "ok: $*: $("$@" --version)"
}
if [ "$(printf '%s\n' "$(cat glibc)" "$(ldd --version | sed -n '1s/.* //p')" | sort -V | head -n 1)" = "$(cat glibc)" ]; then
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends ./wgrun*.deb > /dev/null 2>&1
    found wgrun
    for file in /usr/share/bash-completion/completions/wgrun /usr/share/man/man1/wgrun.1.gz; do
        [ -e "$file" ] || dpkg -L wgrun | grep -q "$file" || { echo "no $file"; exit 1; }
    done
    apt-get -qq remove wgrun > /dev/null
    mkdir archive && tar -C archive -xf wgrun-*-Linux.tar.gz
    found archive/*/bin/wgrun
fi
python3 -m venv venv
venv/bin/pip install --quiet --no-index wgrun-*.whl
found venv/bin/wgrun
venv/bin/python -c 'import wgrun; print("ok: import wgrun:", len(wgrun.loads("""return { k = require "wgrun".kernel("k", {}, function(k) end) }""").kernels))'
venv/bin/python -m wgrun check wrong.lua > findings 2>&1 && { echo "python -m wgrun check: finds nothing"; exit 1; }
grep -q "WG-FENCE-01" findings || { cat findings; exit 1; }
echo "ok: python -m wgrun check"
SH
    echo "$suite:"
    mount --bind /proc "$root/proc"
    chroot "$root" sh /release/inside.sh || { umount "$root/proc"; exit 1; }
    umount "$root/proc"
done
