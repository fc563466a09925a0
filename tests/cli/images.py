# Plays terminals for wgrun, and looks at the images that they are sent: images.py WGRUN [FOLDER for PNG files]
import base64
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
import zlib

WGRUN = sys.argv[1]
DA1 = b"\x1b[?62;22c"
DA1_SIXEL = b"\x1b[?62;4;22c"
KITTY = b"\x1b_Gi=31;OK\x1b\\"
DARK = b"\x1b]11;rgb:1000/1000/2020\x1b\\"
PROMPT = rb"(\x1b\[\?2004h\[\d+\]> |[\r\n]\[\d+\]> $)"
LINES = ['t = wg.tile { dtype = "bf16", mn = 16, k = 64, major = "K", swizzle = "128B" }',
         't:picture { view = "chunks" }']


class Session:
    """wgrun on a terminal of 100 x 50 characters of 10 x 20 pixels, which answers the first question with `answer`."""

    def __init__(self, answer, term="xterm-256color", pixels=True, late=b"", options=(), **variables):
        self.answer, self.late, self.seen = answer, late, b""
        child, self.fd = pty.fork()
        if child == 0:
            for name in ("TMUX", "STY", "TERM_PROGRAM", "LC_TERMINAL", "NO_COLOR", "COLORTERM"):
                os.environ.pop(name, None)
            os.environ.update(TERM=term, XDG_STATE_HOME=os.getcwd(), LC_ALL="C.UTF-8", **variables)
            os.execv(WGRUN, [WGRUN, *options])
        self.child = child
        size = (50, 100, 1000, 1000) if pixels else (50, 100, 0, 0)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size))
        self.until(rb"Ctrl-D leaves")
        self.until(rb"> ")

    def pump(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return
        try:
            self.seen += os.read(self.fd, 65536)
        except OSError:
            self.seen += b"<end>"
        if self.answer is not None and b"\x1b[c" in self.seen:
            os.write(self.fd, self.answer)
            self.answer = None

    def until(self, pattern, start=0):
        end = time.time() + 60
        while not re.search(pattern, self.seen[start:], re.S):
            self.pump(0.1)
            if time.time() > end:
                sys.exit("not seen: %r in %r" % (pattern, self.seen[start:][-2000:]))
        return re.search(pattern, self.seen[start:], re.S)

    def type(self, line, shows):
        """The bytes that come until `shows`."""
        start = len(self.seen)
        os.write(self.fd, line.encode() + b"\r")
        self.until(shows, start)
        return self.seen[start:]

    def leave(self):
        """The last lines: nothing of answers may be in them."""
        start = len(self.seen)
        os.write(self.fd, b'"al" .. "ive"\r')
        self.until(rb"alive\r.*" + PROMPT, start)
        os.write(self.fd, b"\x04")
        self.until(rb"<end>", start)
        text = self.seen[start:]
        for part in (b"i=31", b"OK", b"rgb:", b"62;", b"6;20"):
            expect(part not in text, "an answer was taken for keys: %r" % text)
        expect(os.waitpid(self.child, 0)[1] == 0, "a bad end")


def expect(good, what):
    if not good:
        sys.exit(what)


def decode_png(data):
    """Width and rows of (r, g, b)."""
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        expect(struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), "a wrong CRC")
        chunks[kind] = body
        at += size + 12
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    expect((depth, colour) == (8, 3) and b"IEND" in chunks, "another kind of PNG")
    raw, palette = zlib.decompress(chunks[b"IDAT"]), chunks[b"PLTE"]
    expect(len(raw) == height * (width + 1), "another number of bytes")
    above, rows = bytes(width), []
    for y in range(height):
        row = raw[y * (width + 1):(y + 1) * (width + 1)]
        expect(row[0] == 2, "another filter")
        above = bytes((a + b) & 255 for a, b in zip(row[1:], above))
        rows.append([tuple(palette[3 * i:3 * i + 3]) for i in above])
    return width, rows


def decode_sixel(text):
    head = re.match(rb'"1;1;(\d+);(\d+)', text)
    width, height = int(head[1]), int(head[2])
    rows = [[None] * width for _ in range(height)]
    colours, now, x, y = {}, None, 0, 0
    for token in re.finditer(rb"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|(\$)|(-)|(.)", text[head.end():]):
        if token[1]:
            colours[int(token[1])] = tuple(int(token[i]) for i in (2, 3, 4))
        elif token[5]:
            now = colours[int(token[5])]
        elif token[9]:
            x = 0
        elif token[10]:
            x, y = 0, y + 6
        else:
            expect(not token[11], "no sixel: %r" % token[0])
            pattern = (token[7] or token[8])[0] - 63
            for _ in range(int(token[6] or 1)):
                for bit in range(6):
                    if pattern >> bit & 1:
                        expect(rows[y + bit][x] is None, "a pixel of two colours")
                        rows[y + bit][x] = now
                x += 1
    expect(all(None not in row for row in rows), "pixels without a colour")
    return width, rows


def kitty_image(text):
    chunks = [c for c in re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text) if b"a=q" not in c[0]]
    expect(chunks, "no image: %r" % text[:200])
    expect(chunks[0][0].startswith(b"a=T,f=100,q=2,m="), "other keys: %r" % chunks[0][0])
    expect([c[0][-3:] for c in chunks] == [b"m=1"] * (len(chunks) - 1) + [b"m=0"], "chunks that do not end")
    expect(all(len(c[1]) == 4096 for c in chunks[:-1]) and len(chunks[-1][1]) <= 4096, "chunks of other sizes")
    return base64.b64decode(b"".join(c[1] for c in chunks), validate=True)


def show(session):
    session.type(LINES[0], PROMPT)
    return session.type(LINES[1], PROMPT)


def same(image, other):
    close = lambda a, b: all(abs(p - q * 255 / 100) <= 2 for p, q in zip(a, b))
    width, rows = image
    return (width, len(rows)) == (other[0], len(other[1])) and all(
        close(a, b) for row, line in zip(rows, other[1]) for a, b in zip(row, line))


# kitty: PNG in chunks.
kitty = Session(KITTY + DA1)
png = kitty_image(show(kitty))
image = decode_png(png)
expect(image[0] <= 1000 and len(image[1]) <= 1000, "larger than the terminal")
expect(image[1][0][0] == (255, 255, 255), "a background that is not light")
expect(sum(row.count((0xA8, 0xD5, 0xFF)) for row in image[1]) > 5000, "no cells of the first colour")
# An m16n8k8 fits, too; what does not fit is an overview, or text.
mma = kitty.type('wg.mma_picture { shape = "m16n8k8", dtype = "tf32" }', PROMPT)
expect(decode_png(kitty_image(mma))[0] <= 1000, "a product that is larger than the terminal")
overview = kitty.type('wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }', PROMPT)
expect(decode_png(kitty_image(overview))[0] <= 1000, "an overview that is larger than the terminal")
blocks = kitty.type('wg.layout "(64,64):(64,1)"', PROMPT)
expect(decode_png(kitty_image(blocks))[0] <= 1000, "an overview that is larger than the terminal")
wide = kitty.type('wg.mma_picture { shape = "m64n32k16", dtype = "bf16" }', PROMPT)
expect(b"\x1b_G" not in wide and b"m64n32k16" in wide, "an image that does not fit: %r" % wide[:200])
# So does a timeline, as wide as the window; its table keeps its fields.
kitty.type('double = wg.kernel("double", { threads = 128 }, function(k) local at = k:element(k:param("X", "f32*"), '
           'k:special "tid.x") k:st_global_f32(at, k:ld_global_f32(at) * 2.0) end)', PROMPT)
kitty.type('times = double:timeline { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }', PROMPT)
timeline = kitty.type("times", PROMPT)
expect(decode_png(kitty_image(timeline))[0] == 1000, "a timeline of another width")
expect(b"warps 0 to 3 " in kitty.type("times.text", PROMPT), "a timeline without its text")
kitty.leave()
expect(kitty.seen.count(b"\x1b[c") == 1, "asked more than once")

# Dark surroundings; a fine screen has pixels of 2 x 2; no size in pixels from the driver of the terminal.
dark = Session(KITTY + DARK + b"\x1b[6;40;20t" + DA1, pixels=False)
fine_png = kitty_image(show(dark))
fine = decode_png(fine_png)
expect(fine[1][0][0] == (0x15, 0x19, 0x1F), "a background that is not dark")
expect((fine[0], len(fine[1])) == (2 * image[0], 2 * len(image[1])), "not twice as large")
dark.leave()

# Sixel and iTerm2 show the same.
sixel = Session(DA1_SIXEL)
text = show(sixel)
expect(same(image, decode_sixel(re.search(rb"\x1bP0;1;0q(.*?)\x1b\\", text, re.S)[1])), "sixel shows something else")
sixel.leave()
iterm = Session(DA1, LC_TERMINAL="iTerm2")
head = re.search(rb"\x1b]1337;File=inline=1;size=(\d+);width=(\d+)px;height=(\d+)px:([^\a]*)\a", show(iterm))
expect(base64.b64decode(head[4], validate=True) == png and int(head[1]) == len(png), "iTerm2 gets something else")
expect((int(head[2]), int(head[3])) == (image[0], len(image[1])), "another size")
iterm.leave()

# Text where there are no images: a terminal without, one that says nothing, one that answers too late, tmux without
# sixel, and those that are not asked at all. Keys that are typed meanwhile are keys.
def text_only(asked, *args, **keys):
    session = Session(*args, **keys)
    session.type(LINES[0], PROMPT)
    text = session.type("t:picture()", rb"\n *15\b.*" + PROMPT)
    expect(b"\x1b_Ga" not in text and b"\x1bP" not in text and b"1337" not in text, "an image: %r" % text[:200])
    expect((b"\x1b[c" in text) == asked, "asked, or not: %r" % text[:200])
    if session.late:
        os.write(session.fd, session.late)
    session.leave()
    return text


text_only(True, DA1)
text_only(True, b"")
text_only(True, b"", late=KITTY + DARK + b"\x1b[6;20;10t" + DA1_SIXEL)
expect(b"\x1b_G" not in text_only(True, DA1, term="tmux-256color", TMUX="/tmp/x,1,0", LC_TERMINAL="iTerm2"), "asked tmux")
text_only(False, None, term="dumb")
text_only(False, None, term="linux")
text_only(False, None, options=("--color=never",))
typed = Session(b'"ear' + DA1 + b'ly"\r')
show(typed)
typed.until(rb"2004learly\r")
typed.leave()

if len(sys.argv) > 2:  # to be looked at
    for name, text in (("overview", overview), ("blocks", blocks), ("mma", mma), ("timeline", timeline)):
        with open(os.path.join(sys.argv[2], name + ".png"), "wb") as file:
            file.write(kitty_image(text))
    with open(os.path.join(sys.argv[2], "light.png"), "wb") as file:
        file.write(png)
    with open(os.path.join(sys.argv[2], "dark.png"), "wb") as file:
        file.write(fine_png)
