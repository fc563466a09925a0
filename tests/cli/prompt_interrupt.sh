# What is typed right after Ctrl-C belongs to the next line, however long the prompt takes to see the signal.
python3 -c 'import pty' 2>/dev/null || { echo "skipped: no python3"; exit 77; }
export XDG_STATE_HOME="$WORK/state"
cat >play.py <<'END'
import os, pty, select, sys, time

def read_until(fd, wanted):
    out, end = b"", time.time() + 20
    while wanted not in out and time.time() < end and select.select([fd], [], [], 1)[0]:
        try:
            out += os.read(fd, 65536)
        except OSError:
            break
    return out

for _ in range(20):
    child, fd = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(sys.argv[1], [sys.argv[1], "--backend=sim", "--color=never"])
    read_until(fd, b"\x1b[?2004h[1]> ")
    os.write(fd, b"abc")
    read_until(fd, b"abc")
    os.write(fd, b"\x03")
    os.write(fd, b"6*7\r")
    out = read_until(fd, b"42\r")
    os.write(fd, b"\x04")
    read_until(fd, b"never")
    os.close(fd)
    os.waitpid(child, 0)
    if b"42\r" not in out:
        sys.exit(f"lost: {out}")
END
ran="wgrun on a terminal"
: >err.txt
code=0
python3 -B play.py "$WGRUN" >out.txt 2>&1 || code=$?
exits 0
