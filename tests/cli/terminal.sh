# On a terminal there are a prompt and a greeting, and Ctrl-C drops the line or stops what runs.
command -v script >/dev/null || exit 77
export TERM=xterm
typed() {
    sleep 1
    for keys in "$@"; do printf "$keys"; sleep 0.5; done
}
code=0
: >err.txt
ran="wgrun on a terminal"
typed '6 * 7\r' 'dropped +\003' '"kept"\r' 'while true do end\r' '\003' '"alive"\r' '\004' |
    script -qec "$WGRUN" /dev/null >out.txt || code=$?
exits 0
out_has 'the module. Ctrl-D leaves.'
out_has '> 6 * 7'
out_has '42'
out_has 'kept'
out_has 'stdin:1: interrupted'
out_has 'alive'
out_lacks 'unexpected symbol'
