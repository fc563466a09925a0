# An nvdisasm that hangs, and has started others: Ctrl-C ends all of it, and nothing is left.
unset WGRUN_CUDA
export WGRUN_CACHE=off TMPDIR="$WORK/tmp" CUDA_HOME="$WORK"
mkdir bin tmp
file bin/nvdisasm <<'END'
#!/bin/sh
sleep 300 &
echo $! >grandchild
wait
END
chmod +x bin/nvdisasm
PATH="$WORK/bin:$PATH"
cp "$SOURCE/tests/sass/hello_wgmma.ptx" .
printf '\177ELF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\276\0' >kernel.cubin  # an ELF file of CUDA's
gone() {  # what nvdisasm has started
    state=$(sed 's/.*) //; s/ .*//' /proc/"$(cat grandchild)"/stat 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ]
}
for signal in INT TERM; do
    for words in "sass hello_wgmma.ptx kernel.cubin" "check --budget 1 --sass hello_wgmma.ptx kernel.cubin" "sass kernel.cubin"; do
        rm -f grandchild
        "$WGRUN" $words >out.txt 2>err.txt &
        child=$!
        wait_until test -s grandchild
        kill -$signal $child
        code=0
        wait $child || code=$?
        ran="wgrun $words, $signal"
        [ $signal = INT ] && exits 130 || exits 143
        wait_until gone || bad "what nvdisasm has started still runs"
        [ -z "$(ls -A tmp)" ] || bad "left behind: $(ls -AR tmp)"
    done
done
