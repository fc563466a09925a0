# --json: every command's output is what docs/schema says (schema.py).
python3 -c 'import json' 2>/dev/null || { echo "skipped: no python3"; exit 77; }
unset WGRUN_CUDA
ran="wgrun --json"
code=0
: >err.txt
python3 -B "$SOURCE/tests/cli/schema.py" "$WGRUN" "$SOURCE" >out.txt 2>&1 || code=$?
exits 0
cat out.txt
