# The prompt in a real terminal: what is typed, completed, pasted, recalled and interrupted, and what is seen of it.
command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
export XDG_STATE_HOME="$WORK/state"
sessions=0
T=:
trap '$T kill-server 2>/dev/null; rm -rf "$WORK"' EXIT
ran="wgrun in tmux"
code=0
: >err.txt

# begin TERM: a session of 80 x 24; the window ends with the words "left with CODE".
begin() {
    cat >session.sh <<END
trap : INT   # Ctrl-C is for wgrun
[ -z "$1" ] || export TERM=$1
"$WGRUN" --backend=sim
echo "left with \$?"
echo "modes \$(stty -a | tr ' ;' '\n\n' | grep -cxE 'icanon|echo')"
sleep 60
END
    $T kill-server
    sessions=$((sessions + 1))
    T="tmux -u -L wgrun-$$-$sessions -f /dev/null"   # a server of its own: the one before may still be leaving
    $T new-session -d -x 80 -y 24 "sh session.sh" || { echo "skipped: tmux does not start"; exit 77; }
    seen 'Ctrl-D leaves'
}
typed() { $T send-keys -l -- "$1"; }
keys() { $T send-keys "$@"; }
# seen PATTERN: waits until a line of the screen matches.
screen_has() { $T capture-pane -p >out.txt; grep -qE -- "$1" out.txt; }
seen() { wait_until screen_has "$1" || bad "not seen: $1"; }
unseen() { $T capture-pane -p >out.txt; ! grep -qE -- "$1" out.txt || bad "seen: $1"; }

begin ""
seen '^\[1\]>$'  # what is typed before the editor is there has no colours
typed 'local six = 6'
painted() { $T capture-pane -e -p | grep -q '35mlocal'; }
wait_until painted || bad "no colours"  # text has none while more input waits
keys Enter
typed 'six * 7'; keys Enter
seen '^42$'

# Tab: the one that is left, and a list of several.
typed 'wg.til'; keys Tab
seen '^\[[0-9]+\]> wg\.tile$'
keys C-c
typed 'string.r'; keys Tab Tab
seen 'rep .*reverse'
seen '^\[[0-9]+\]> string\.re$'
keys C-c

# Keys of options, methods with what they are, and help.
typed 'wg.tile { sw'; keys Tab
seen '^\[[0-9]+\]> wg\.tile \{ swizzle = *$'
keys C-c
typed 'wg.zeros("f32", {2}):sa'; keys Tab Tab
seen '^save  +[A-Z]'
keys C-c
typed 'help "k:loop"'; keys Enter
seen 'k:loop\('
keys C-l

# Lines of one chunk, indented; an error of it, and what came before it lasts.
typed 'function add(a, b)'; keys Enter
typed 'return a + b'; keys Enter
typed 'end'; keys Enter
seen '^  return a \+ b$'
seen '^end$'
typed 'add(20, 3)'; keys Enter
seen '^23$'

# A paste is one chunk, whatever its tabs and empty lines.
printf 'local first = 1\n\nlocal function second()\n\treturn first + 1\nend\nprint("pasted", second())\n' >block
$T load-buffer block
$T paste-buffer -p
seen '^print\("pasted", second\(\)\)$'
keys Enter
seen '^pasted	* *2$'
typed 'second() + first'; keys Enter
seen '^3$'

# Ctrl-C: a line goes, a script stops, a simulator run stops; the session goes on.
typed 'dropped + '; keys C-c
typed '"kept"'; keys Enter
seen '^kept$'
typed 'print "spins" while true do end'; keys Enter
seen '^spins$'
keys C-c
seen '\[[0-9]+\]:1: interrupted'
keys C-l
typed 'endless = wg.kernel("endless", {threads = 32}, function(k) k:loop(2000000000, function() k:bar_sync(0) end) end)'; keys Enter
typed 'print "runs" endless:run { grid = {1, 1, 1}, args = {} }'; keys Enter
seen '^runs$'
sleep 0.3
keys C-c
seen 'interrupted'
typed '"alive"'; keys Enter
seen '^alive$'

# A narrower terminal: the text stays, and results fit.
typed '"resized" .. "'
$T resize-window -x 60 -y 20 2>/dev/null && sleep 0.3
typed ' well"'; keys Enter
seen '^resized well$'
typed 'wg.zeros("f32", {4, 64})'; keys Enter
seen 'f32 [{]4, 64[}]'
! grep -qE '^.{61}' out.txt || bad "wider than the terminal"

# Output without a newline keeps its line.
typed 'io.write "no newline"; x = nil'; keys Enter
seen '^no newline%$'
keys C-d
seen '^left with 0$'

# The next session knows them: the last one, one that begins so, one of several lines.
begin ""
keys Up
seen '^\[[0-9]+\]> io.write "no newline"; x = nil$'
keys C-c
typed 'add('; keys Up
seen '^\[[0-9]+\]> add\(20, 3\)$'
keys C-c
typed 'function add'; keys Up
seen '^  return a \+ b$'
keys Enter
typed 'add(1, 2)'; keys Enter
seen '^3$'
keys C-r
typed 'six *'
seen 'six \* 7'
keys C-c
typed '.hepl'; keys Enter
seen 'unknown command'
typed '.quit'; keys Enter
seen '^left with 0$'
[ "$(stat -c %a "$XDG_STATE_HOME/wgrun/history")" = 600 ] || bad "others may read the history"

# A terminal that can do nothing: plain lines, no escape sequences.
begin dumb
typed '6 * 7'; keys Enter
seen '^42$'
typed 'dropped +'; keys C-c
typed '"still" .. " here"'; keys Enter
seen 'still here$'   # behind the new prompt, if the line was typed before it came
$T capture-pane -e -p | grep -q "$(printf '\033')\[3" && bad "colours on a dumb terminal"
unseen '2004'
keys C-d
seen '^left with 0$'

# os.exit ends the session as it ends a script: with its code, the history kept, and the terminal as it was.
begin ""
typed 'local last = "entry"'; keys Enter
typed 'os.exit(7)'; keys Enter
seen '^left with 7$'
seen '^modes 2$'
begin ""
keys Up Up
seen '^\[[0-9]+\]> local last = "entry"$'
keys C-c
typed ".quit"; keys Enter
seen '^left with 0$'
