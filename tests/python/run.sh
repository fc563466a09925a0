#!/bin/sh
# Runs a test of the Python package: run.sh PYTHON FILE; 77 where Python or numpy is missing.
if [ ! -x "$1" ]; then
    echo "skipped: no python3 in /usr/bin"
    exit 77
fi
if ! "$1" -c "import numpy" 2> /dev/null; then
    echo "skipped: $1 has no numpy (python3-numpy)"
    exit 77
fi
exec "$1" -X faulthandler "$2"
