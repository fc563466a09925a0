# Results that cannot be written are an error.
[ -w /dev/full ] || exit 77
code=0
"$WGRUN" explain >/dev/full 2>err.txt || code=$?
: >out.txt
ran="wgrun explain >/dev/full"
exits 1
err_has "wgrun: cannot write the results: No space left on device"
