# On a terminal there are a prompt and a greeting, and Ctrl-C drops the line or stops what runs: with plain lines here,
# and, at the end, with the line editor (prompt.sh has more of it).
command -v script >/dev/null || exit 77
export TERM=dumb XDG_STATE_HOME="$WORK"
# typed KEYS ANSWER...: each answer is waited for before the next keys come.
typed() {
    answered 'Ctrl-D leaves'
    while [ $# -gt 0 ]; do
        printf "$1"
        answered "$2"
        shift 2
    done
}
answered() { sleep 0.1; wait_until grep -qE -- "$1" out.txt; }
code=0
: >out.txt
: >err.txt
ran="wgrun on a terminal"
typed '6 * 7\r' '^42' 'dropped +' 'dropped' '\003' '^\[[0-9]+\]> .?$' '"kept"\r' '^kept' \
    'print "runs" while true do end\r' '^runs' '\003' 'interrupted' '\003\003' '> .?$' '"alive"\r' '^alive' '\004' . |
    script -qec "exec $WGRUN" /dev/null >out.txt || code=$?
exits 0
out_has 'the module. Ctrl-D leaves.'
out_has '> 6 * 7'
out_has '42'
out_has 'kept'
out_has ']:1: interrupted'
out_has 'alive'
out_lacks 'unexpected symbol'

export TERM=xterm
: >out.txt
ran="wgrun on a terminal, edited"
typed '6 * 7\r' '42.?$' 'dropped +' 'dropped' '\003' 2004h '"kept"\r' 'kept.?$' '\004' . |
    script -qec "exec $WGRUN" /dev/null >out.txt || code=$?
exits 0
out_has '42'
out_has 'kept'
out_lacks 'unexpected symbol'
