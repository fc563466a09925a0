# What is legal as a script is legal as its text: nothing is unread, and no error is found.
for script in "$SOURCE"/tests/legal/*.lua; do
    run ptx "$script"
    exits 0
    mv out.txt legal.ptx
    run check --budget 2 legal.ptx
    [ "$code" = 0 ] || bad "the text of $script"
    out_lacks "not checked:"
done
