# Texts that are made to take long, or much: jumps back and forth, nested loops, functions that call functions.
head='.version 8.0
.target sm_90a
.address_size 64'
entry='.visible .entry k(.param .u64 p) {
.reg .pred %p<3>;
.reg .u32 %r<3>;
mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7;'
made() { # NAME N
    {
        echo "$head"
        awk -v name="$1" -v n="$2" -v entry="$entry" 'BEGIN {
            if (name == "calls") {
                for (i = n - 1; i >= 0; --i)
                    printf ".func f%d() {%s ret; }\n", i, i == n - 1 ? "" : sprintf(" call f%d; call f%d;", i + 1, i + 1)
                print ".visible .entry k(.param .u64 p) { call f0; ret; }"
                exit
            }
            print entry
            for (i = 0; i < n; ++i) {
                if (name == "crossing") printf "L%d: @%%p1 bra L%d;\n", i, (i * 7919) % n
                if (name == "nested") printf "L%d:\n add.u32 %%r1, %%r1, 1;\n", i
                if (name == "continues") printf "%sadd.u32 %%r1, %%r1, 1; @%%p1 bra L;\n", i == 0 ? "L: " : ""
            }
            if (name == "nested") for (i = n - 1; i >= 0; --i) printf "@%%p1 bra L%d;\n", i
            print "ret; }"
        }'
    } > text.ptx
}
quick() { # SECONDS COMMAND...: at most so many seconds of the processor
    limit=$1
    shift
    ran="wgrun $*"
    code=0
    (ulimit -s 128 && ulimit -t "$limit" && exec "$WGRUN" "$@") >out.txt 2>err.txt || code=$?
}

made crossing 10000
quick 20 check text.ptx
exits 1
err_has 'this loop is inside 256 others: loops may be nested 256 deep (fix: '
grep -qE '^wgrun: text.ptx:[0-9]+: this loop' err.txt || bad "$ran: no place"
made nested 3000
quick 20 check text.ptx
exits 1
err_has 'this loop is inside 256 others: loops may be nested 256 deep (fix: '
made nested 200
quick 20 check text.ptx
exits 0
made continues 20000
quick 40 check text.ptx
exits 0
made calls 40
quick 40 check text.ptx
exits 0

# Errors without end, which would each be compared with all others.
{ echo "$head"; echo '.visible .entry k('; for i in $(seq 20000); do echo ".param .u64 p$i,"; done; echo '.param .u64 p) { ret; }'; } > text.ptx
quick 5 check text.ptx
exits 3
out_has '0 kernels, 100 errors'
# A table of jumps to one label is as many branches, one after the other.
{ echo "$head"; echo "$entry"; echo 'L: t: .branchtargets'; for i in $(seq 20000); do echo 'L,'; done; echo 'L; brx.idx %r1, t; ret; }'; } > text.ptx
quick 20 check --max-seconds 5 text.ptx
exits 1
err_has 'the time for this work is over'

# The limits of the command line are those of texts, too.
made continues 100
run check --max-program 50 text.ptx
exits 1
err_has 'instructions, and is not checked: 50 are allowed'
{ echo "$head"; for i in $(seq 400); do echo ".visible .entry k$i(.param .u64 p) {"; echo "$entry" | tail -n +2
    for j in $(seq 60); do echo "L$j: add.u32 %r1, %r1, $j; @%p1 bra L$j;"; done; echo "ret; }"; done; } > text.ptx
begun=$(date +%s)
run check --max-seconds 0.2 text.ptx
exits 1
err_has 'wgrun: the time for this work is over (fix: raise the limit: --max-seconds'
[ $(($(date +%s) - begun)) -le 5 ] || bad "$ran: took $(($(date +%s) - begun)) s"
