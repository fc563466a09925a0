# check --batch and serve: messages and answers, each a process of its own.
answers() { python3 -c '
import json, sys
a = {str(one["id"]): one for one in map(json.loads, open("out.txt"))}
assert eval(sys.argv[1], {"a": a}), a' "$1" || bad "$ran: $1"; }

cp "$SOURCE/tests/ptx/one_row_less.ptx" "$SOURCE/tests/ptx/sized.ptx" .
cat > messages.jsonl <<'J'
{"id": 1, "file": "one_row_less.ptx"}
{"id": "two", "text": "local wg = require 'wgrun'\nwg.kernel('k', { threads = 32 }, function(k) k:bar_sync(1, { threads = 64 }) end)", "name": "over/there.lua"}
{"id": 3, "command": "explain", "file": "WG-MBAR-05"}
{"id": 4, "file": "absent.ptx"}

no JSON
{"id": 5, "text": "while true do end", "seconds": 0.3}
{"id": 6, "command": "run", "text": "os.execute('kill -SEGV $PPID') while true do end"}
{"id": 7, "foo": 1}
{"id": 8, "text": "", "options": {"stric": true}}
{"id": 9, "text": "while true do end"}
{"cancel": 9}
{"id": 10, "command": "record", "file": "true"}
{"id": 11, "text": "return 1", "file": "x.lua"}
{"id": 12, "text": "print(...)", "command": "run", "args": ["a", "b"]}
{"id": 13, "command": "layout", "file": "(8,64):(64,1)"}
{"id": 14, "text": "local x = 1", "options": {"budget": 1, "assume": ["n=1", "m=2"]}}
{"id": 15, "text": "a\u0000b", "name": "nul.lua"}
[1, 2]
J
deep=$(printf '%080d' 0 | tr 0 '[')$(printf '%080d' 0 | tr 0 ']')
cat >> messages.jsonl <<J
{"id": $deep}
{"id": 16, "command": "run", "options": {"restricted=false": true}, "text": ""}
{"id": 17, "text": "", "name": "$(printf '%070000d' 0)"}
{"id": 18, "command": "run", "text": "while true do print(('x'):rep(1 << 20)) end", "seconds": 1}
J
input=$(cat messages.jsonl)
run serve --jobs 3
exits 1
input=
answers 'a["16"]["error"]["code"] == a["17"]["error"]["code"] == "EINVAL" and "without the dashes" in a["16"]["error"]["message"]'
answers '"nested more than 64 deep" in open("out.txt").read() and a["18"]["error"]["code"] == "ETIMEDOUT"'
answers 'len(a) == 19 and a["1"]["code"] == 1 and a["1"]["report"]["findings"][0]["rule"] == "WG-MBAR-05"'
answers 'a["two"]["report"]["findings"][0]["file"] == "over/there.lua" and a["two"]["report"]["inputs"][0]["file"] == "over/there.lua"'
answers 'a["3"]["code"] == 0 and a["3"]["report"]["id"] == "WG-MBAR-05"'
answers 'a["4"]["code"] == 2 and "cannot read absent.ptx" in a["4"]["messages"]'
answers 'a["5"]["error"]["code"] == "ETIMEDOUT" and 0.2 < a["5"]["seconds"] < 3'
answers 'a["6"]["error"]["code"] == "ECRASH" and "signal 11" in a["6"]["error"]["message"]'
answers '"unknown key `foo`" in a["7"]["error"]["message"] and "line 9: " in a["7"]["error"]["message"]'
answers 'a["8"]["code"] == 2 and "did you mean `--strict`" in a["8"]["messages"]'
answers 'a["9"]["error"]["code"] == "ECANCELED"'
answers '"no command `record`" in a["10"]["error"]["message"] and "either" in a["11"]["error"]["message"]'
answers 'a["12"]["report"]["findings"] == [] and a["12"]["messages"] == "a\tb\n"'
answers 'a["13"]["report"]["size"] == 512 and a["14"]["code"] == 2 and a["15"]["code"] == 1'
answers '"expected an object" in open("out.txt").read()'

# A batch has checks alone, whose limits no message takes away.
run check --batch --restricted messages.jsonl
exits 1
answers '"a batch has checks alone" in a["12"]["error"]["message"] and a["two"]["code"] == 1'
run check messages.jsonl --batch
exits 2
err_has "options stand before FILE"
[ -e /dev/full ] && { "$WGRUN" check --batch messages.jsonl > /dev/full 2> err.txt && bad "answers that nobody gets"; }
run check --batch .
exits 1

# Options of the command line are those of each check, before its own; the exit code is one that all have.
echo '{"id": 1, "file": "sized.ptx"}' > one.jsonl
run check --batch --block 64 --json one.jsonl
answers '"64" in str(a["1"]["report"]["kernels"][0]["verdicts"])'
input='{"id": 1, "text": "return 1"}
{"id": 2, "text": "return 2"}'
run check --batch -
exits 0
run serve
exits 0
answers 'a["1"]["code"] == a["2"]["code"] == 0'
input=
run check --batch absent.jsonl
exits 2
err_has "cannot read absent.jsonl"

# Nobody reads the answers: it ends, and what ran ends with it.
(for i in 1 2 3 4 5 6 7 8; do echo "{\"id\": $i, \"text\": \"return $i\"}"; done; echo '{"text": "while true do end"}') > many.jsonl
timeout 20 "$WGRUN" check --batch many.jsonl | head -n 1 > first.txt || bad "head"
[ "$(wc -l < first.txt)" = 1 ] || bad "one answer expected"

# A socket: clients beside each other, one that leaves, a name that is in use, one that was left.
"$WGRUN" serve --socket here.sock --jobs 2 2> served.txt &
server=$!
wait_until test -S here.sock || bad "no socket: $(cat served.txt)"
python3 - "$WGRUN" <<'P' || { kill $server; bad "clients"; }
import json, socket, subprocess, sys, time

def client():
    s = socket.socket(socket.AF_UNIX)
    s.connect("here.sock")
    return s, s.makefile("rw")

def ask(f, **message):
    f.write(json.dumps(message) + "\n")
    f.flush()

one, two, three = client(), client(), client()
ask(one[1], id=1, text="while true do end")
ask(two[1], id=1, text="while true do end")
ask(three[1], id="c", text="return 3")     # waits: two jobs run
ask(three[1], cancel="none such")
time.sleep(0.2)
one[1].close(), one[0].close()             # its job ends, and the third runs
assert json.loads(three[1].readline())["code"] == 0
ask(two[1], id=2, text="return 1")
assert json.loads(two[1].readline())["id"] == 2
ask(two[1], cancel=1)
answer = json.loads(two[1].readline())
assert answer["id"] == 1 and answer["error"]["code"] == "ECANCELED", answer
two[0].shutdown(socket.SHUT_WR)            # answers still come
ask(three[1], id=4, text="return 1")
three[0].shutdown(socket.SHUT_WR)
assert json.loads(three[1].readline())["id"] == 4 and three[1].readline() == ""
again = subprocess.run([sys.argv[1], "serve", "--socket", "here.sock"], capture_output=True, text=True)
assert again.returncode == 1 and "in use" in again.stderr, again
P
[ "$(stat -c %a here.sock)" = 700 ] || [ "$(stat -c %a here.sock)" = 600 ] || bad "others may connect"
kill -9 $server
wait $server 2> none.txt
[ -S here.sock ] || bad "a killed server leaves its socket"
"$WGRUN" serve --socket here.sock &
server=$!
wait_until sh -c 'echo "{\"id\": 1, \"text\": \"return 1\"}" | timeout 5 python3 -c "
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(\"here.sock\"); s.sendall(sys.stdin.buffer.read()); sys.exit(0 if s.recv(100) else 1)"' 2> none.txt || bad "a socket that was left is replaced"
kill $server
wait $server
[ ! -e here.sock ] || bad "the socket is left"
# A file is a file, and a value a value, whatever they are called.
input='{"id": 1, "file": "--help"}
{"id": 2, "text": "return 1", "name": "--help"}
{"id": 3, "text": "return 1", "options": {"budget": "--help"}}'
run serve
out_has 'cannot read --help'
out_has '"file":"--help"'
out_has 'Could not convert: --budget = --help'
out_lacks Usage
input=
run serve --socket "$(printf '%0120d' 0)"
exits 1
err_has "at most 107 bytes"
run serve --socket "$(printf '%064d' 0)"
exits 1
err_has "at most 63 bytes"
run serve --seconds nan
exits 2
