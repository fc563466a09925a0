#!/bin/sh
# Installs the Debian or Ubuntu packages that the build needs and this machine lacks, or those in PACKAGES.
set -eu

packages="${PACKAGES:-g++ make cmake ninja-build pkg-config lua5.4 liblua5.4-dev catch2 libfmt-dev libcli11-dev nlohmann-json3-dev libedit-dev libisl-dev python3-numpy}"
missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "installing:$missing"
if ! command -v apt-get >/dev/null; then
    echo "this is no Debian or Ubuntu: install the equivalents of$missing by hand" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "run this as root, or install sudo" >&2; exit 1; }
    sudo=sudo
fi
$sudo apt-get update -qq
# shellcheck disable=SC2086  # a list of words
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
