# Results that cannot be written are an error.
[ -w /dev/full ] || exit 77
code=0
"$WGRUN" explain >/dev/full 2>err.txt || code=$?
: >out.txt
ran="wgrun explain >/dev/full"
exits 1
err_has "wgrun: cannot write the results: No space left on device"
# Nor is a script that ends by os.exit, or what CLI11 prints, written without a word.
for words in "--version" "--help" "-e print(1)" "-e print(1);os.exit(0)" "-e io.write('a');os.exit(true,true)" \
    "rules" "isa" "doctor" "layout 8:1" "decode 0x4000004000010080" "--json -e x=1"; do
    code=0
    # shellcheck disable=SC2086
    "$WGRUN" $words >/dev/full 2>err.txt || code=$?
    ran="wgrun $words >/dev/full"
    exits 1
    err_has "No space left on device"
    [ "$(grep -c "No space left" err.txt)" = 1 ] || bad "$ran: said twice"
done
