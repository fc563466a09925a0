# Pictures at the prompt as images: kitty, iTerm2 and sixel, and text for all other terminals (images.py).
python3 -c 'import pty' 2>/dev/null || { echo "skipped: no python3"; exit 77; }
ran="wgrun on terminals with images"
: >err.txt
code=0
python3 -B "$SOURCE/tests/cli/images.py" "$WGRUN" >out.txt 2>&1 || code=$?
exits 0
