# Runs one case: sh lib.sh WGRUN CASE.sh. A case calls run, then says what it expects.
#   run ARGS...        runs wgrun with ARGS; standard input is the case's $input
#   exits CODE         the exit code
#   out TEXT           standard output is TEXT
#   err TEXT           standard error is TEXT
#   out_has / err_has TEXT   ... holds TEXT
#   wait_until COMMAND...    until COMMAND succeeds, for 12 seconds at most; fails then
#   file NAME          standard input of the case becomes NAME in the case's own folder, where it runs
WGRUN=$1
CASE=$2
SOURCE=$(cd "$(dirname "$CASE")/../.." && pwd)   # the tree
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
input=
unset NO_COLOR
export WGRUN_CUDA=off LC_ALL=C   # as on a machine without a GPU

bad() {
    echo "$CASE: $*"
    echo "--- exit code $code, standard output:"; cat out.txt
    echo "--- standard error:"; cat err.txt
    exit 1
}
run() {
    ran="wgrun $*"
    code=0
    printf '%s' "$input" | "$WGRUN" "$@" >out.txt 2>err.txt || code=$?
}
exits() { [ "$code" = "$1" ] || bad "$ran: exit code $1 expected"; }
same() { [ "$(cat "$1")" = "$2" ] || bad "$ran: expected in $1: $2"; }
has() { grep -qF -- "$2" "$1" || bad "$ran: $1 should hold: $2"; }
lacks() { ! grep -qF -- "$2" "$1" || bad "$ran: $1 should not hold: $2"; }
out() { same out.txt "$1"; }
err() { same err.txt "$1"; }
out_has() { has out.txt "$1"; }
err_has() { has err.txt "$1"; }
out_lacks() { lacks out.txt "$1"; }
err_lacks() { lacks err.txt "$1"; }
wait_until() {
    for _ in $(seq 60); do
        "$@" && return
        sleep 0.2
    done
    return 1
}
file() { cat >"$1"; }

. "$CASE"
