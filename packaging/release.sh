#!/bin/sh
# release.sh BUILD: makes all that is published of this commit, in BUILD/release: the sources, an archive and a Debian package of the tool
# and the libraries, a wheel and a source distribution for Python, a rockspec, a bill of materials and checksums; and tries them in new
# roots of Debian (packaging/try.sh). Publishes nothing. Runs on Debian as root.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
here=$source/packaging
out=$build/release
cd "$source"
version=$(sed -n 's/^project(wgrun VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^## $version\$" CHANGELOG.md || { echo "release: CHANGELOG.md has no section $version" >&2; exit 1; }
grep -q "^version: $version\$" CITATION.cff || { echo "release: CITATION.cff has another version than $version" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || { echo "release: there are changes that are not committed" >&2; exit 1; }
PACKAGES="dpkg-dev file lintian mmdebstrap python3-venv binutils git" cmake/install-packages.sh
rm -rf "$out"
mkdir -p "$out"

tools=$build/release-tools
[ -x "$tools/bin/python3" ] || python3 -m venv "$tools"
"$tools/bin/python3" -m pip install --quiet --disable-pip-version-check "setuptools>=70.1" wheel build twine auditwheel \
    "cyclonedx-python-lib[json-validation]"

git archive --prefix="wgrun-$version/" -o "$out/wgrun-$version.tar.gz" HEAD
make dist BUILD="$build"
cp "$build"/dist/wgrun-*-Linux.tar.gz "$build"/dist/wgrun_*.deb "$out/"
"$here/portable.sh" "$build/portable"
"$here/wheel.sh" "$build/portable" "$out" "$tools/bin/python3"
"$here/sdist.sh" "$out/sdist" "$tools/bin/python3"
sed "s/dev-1/$version-1/; s|file://\.|wgrun-$version.tar.gz|" rockspecs/wgrun-dev-1.rockspec > "$out/wgrun-$version-1.rockspec"
# Recipes for other package managers, with the hash of the archive of the sources.
hash=$(sha256sum "$out/wgrun-$version.tar.gz" | cut -d " " -f 1)
mkdir "$out/conda" "$out/spack"
sed "s/version: \"0\"/version: \"$version\"/; s/sha256: \"0*\"/sha256: $hash/" packaging/conda/recipe.yaml > "$out/conda/recipe.yaml"
sed "s/version(\"0\", sha256=\"0*\"/version(\"$version\", sha256=\"$hash\"/; s|file:///ARCHIVE|file:///wgrun-$version.tar.gz|" \
    packaging/spack/package.py > "$out/spack/package.py"
cp packaging/conda/variants.yaml "$out/conda/"
"$tools/bin/python3" "$here/sbom.py" "$version" "$out/wgrun-$version.cdx.json"

# What has changed, for the page of the release.
awk -v head="## $version" '$0 == head { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md > "$out/NOTES.md"

# ncurses is inside as Debian's archive has it. The project has no address of its own.
lintian --fail-on error --suppress-tags embedded-library,bogus-mail-host "$out"/*.deb
"$tools/bin/python3" -m twine check --strict "$out"/*.whl "$out"/sdist/*.tar.gz
"$tools/bin/python3" -m auditwheel show "$out"/*.whl
"$here/try.sh" "$out"
(cd "$out" && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum > SHA256SUMS)
cat "$out/SHA256SUMS"
