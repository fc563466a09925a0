# A line on a terminal while something takes more than a second; it is gone before anything else is printed, and never
# comes through pipes, in JSON, or on a terminal that cannot erase it.
python3 -c 'import pty' 2>/dev/null || { echo "skipped: no python3"; exit 77; }
# The second of two CTAs does not end before its time is up: the line has come by then, however fast the machine is.
file endless.lua <<'END'
local wg = require "wgrun"
local k = wg.kernel("endless", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  local cta = k:special "ctaid.x"
  k:if_(k:setp_eq_u32(cta, 1), function()
    k:loop(2000000000, function() k:bar_sync(0) end)
  end)
end)
print "begins"
print(pcall(k.run, k, { grid = { 2 }, args = { wg.zeros("u32", { 1 }) }, timeout_ms = tonumber((...)) or 60000 }))
print "ends"
END
cat >play.py <<'END'
import os, pty, select, sys, time
wgrun, term, wanted, *words = sys.argv[1:]
child, fd = pty.fork()
if child == 0:
    os.environ["TERM"] = term
    os.execv(wgrun, [wgrun, *words])
seen, end = b"", time.time() + 40
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            seen += os.read(fd, 4096)
        except OSError:
            break
    if wanted and wanted.encode() in seen:
        os.write(fd, b"\x03")   # Ctrl-C
        wanted = ""
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
ran="wgrun endless.lua on a terminal"
: >err.txt
play() { code=0; python3 -B play.py "$WGRUN" "$@" >out.txt 2>&1 || code=$?; }
play xterm '1 of 2 CTAs' --backend=sim endless.lua
exits 130
out_has 'endless on the simulator: 1 of 2 CTAs, about '
# It goes before the next line is printed.
erased=$(printf '\r\033[K')
tr '\n' '~' <out.txt | tr -d '\r' | grep -q "$(printf ' left\033\\[K.*\033\\[K')" || bad "the line stays"
play xterm '1 of 2 CTAs' check --dynamic --backend=sim endless.lua
out_has 'schedule 1 of '
play dumb '' --backend=sim endless.lua 2000
out_lacks 'CTAs'
play xterm '' run --json --backend=sim endless.lua 2000
out_lacks 'CTAs'
run --backend=sim endless.lua 2000
err_lacks 'CTAs'
err_lacks "$(printf '\033')"
