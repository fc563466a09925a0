#!/bin/sh
# site.sh BUILD [OUTPUT]: the site of the documents in OUTPUT, or in BUILD/site. MkDocs comes into BUILD/needs/site where Python lacks it.
# WGRUN_REPOSITORY: the address where links to files of the tree lead, such as https://github.com/OWNER/NAME/blob/TAG; otherwise the
# site has these files. Ends with 77 where MkDocs is not here and cannot be had; with FETCH=no it is not asked for.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
output=${2:-$build/site}
export PYTHONPATH="$build/needs/site${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 NO_MKDOCS_2_WARNING=1
if ! python3 -c "import material, mkdocs" 2> /dev/null; then
    if [ "${FETCH:-yes}" = no ] || ! python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: \
            --target "$build/needs/site" "mkdocs-material>=9.5,<10" 2> "$build/site.log"; then
        echo "skipped: no mkdocs-material; make site fetches it" >&2
        exit 77
    fi
    # axe, for tests/docs/site_pages.py --contrast; without the browser's driver that its package asks for
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$build/needs/site" axe-playwright-python 2>> "$build/site.log" || true
fi
cd "$source"
# Tests build the site with the playground that make site has left.
if [ "${FETCH:-yes}" != no ]; then
    packaging/playground.sh "$build" || [ $? -eq 77 ] || exit 1
fi
[ ! -e "$build/playground/wgrun.wasm" ] || export WGRUN_PLAYGROUND="$build/playground"
python3 -m mkdocs build --quiet --strict -f packaging/site/mkdocs.yml -d "$output"
