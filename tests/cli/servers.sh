# wgrun mcp and wgrun lsp run the Python package with the Python that WGRUN_PYTHON names, or say what is missing.
file python <<'TEXT'
#!/bin/sh
echo "$WGRUN_TOOL" "$1"
TEXT
chmod +x python
for server in mcp lsp; do
    export WGRUN_PYTHON=/nowhere/python
    run $server
    exits 2
    err "wgrun $server: cannot run /nowhere/python: No such file or directory; WGRUN_PYTHON names a Python"
    export WGRUN_PYTHON="$WORK/python"
    unset WGRUN_TOOL
    run $server
    exits 0
    out "$(readlink -f "$WGRUN") -c"
done
if [ -x /usr/bin/python3 ]; then
    export WGRUN_PYTHON=/usr/bin/python3 PYTHONPATH=
    run mcp
    exits 1
    err_has "has no package wgrun: pip install 'wgrun[mcp]'"
fi
