"""Random kernels of integers.

Each computes integers of all widths from its parameters, its place and memory, under guards, in branches and loops, and
stores them: what is refuted is a fault of ptxas, or one of how wgrun executes machine code.
"""
from collections import Counter

LEVELS = [[], ["-O0"], ["-O1"]]
BINARY = ["add", "sub", "mul.lo", "min", "max", "mul.hi", "div", "rem"]
BITS = ["and", "or", "xor"]


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.lines, self.count = [], Counter()
        self.values = {"r": [], "d": [], "h": []}
        self.predicates = []

    def new(self, kind):
        self.count[kind] += 1
        return f"%{kind}{self.count[kind] - 1}"

    def emit(self, text):
        self.lines.append("    " + text)

    def value(self, kind):
        if self.rng.random() < 0.2:
            bits = {"r": 32, "d": 64, "h": 16}[kind]
            return str(self.rng.choice([0, 1, 2, 3, 7, 31, 32, 255, 1 << (bits - 1), (1 << bits) - 1, self.rng.getrandbits(bits)]) & ((1 << bits) - 1)
                       if kind != "d" else self.rng.choice([0, 1, 5, 63, 1 << 32, self.rng.getrandbits(31)]))
        return self.rng.choice(self.values[kind][-24:])

    def register(self, kind):
        return self.rng.choice(self.values[kind][-24:])

    def step(self):
        rng = self.rng
        kind = rng.choice("rrrrrdddh")
        bits = {"r": "32", "d": "64", "h": "16"}[kind]
        sign = rng.choice("us")
        out = self.new(kind)
        what = rng.randrange(16)
        if what < 5:
            op = rng.choice(BINARY)
            self.emit(f"{op}.{sign}{bits} {out}, {self.register(kind)}, {self.value(kind)};")
        elif what < 7:
            self.emit(f"{rng.choice(BITS)}.b{bits} {out}, {self.register(kind)}, {self.value(kind)};")
        elif what < 9:
            shift = rng.choice([f"shl.b{bits}", f"shr.u{bits}", f"shr.s{bits}"])
            amount = str(rng.randrange(70)) if rng.random() < 0.7 else self.register("r")
            self.emit(f"{shift} {out}, {self.register(kind)}, {amount};")
        elif what == 9:
            pred = self.predicate()
            self.emit(f"selp.b{bits} {out}, {self.register(kind)}, {self.value(kind)}, {pred};")
        elif what == 10 and kind != "h":
            op = rng.choice(["popc", "clz", "brev"])
            if op == "brev" or kind == "r":
                self.emit(f"{op}.b{bits} {out}, {self.register(kind)};")
            else:
                low = self.new("r")
                self.emit(f"{op}.b64 {low}, {self.register(kind)};")
                self.emit(f"cvt.u64.u32 {out}, {low};")
        elif what == 11 and kind == "r":
            self.emit(rng.choice([f"prmt.b32 {out}, {self.register('r')}, {self.value('r')}, {rng.randrange(1 << 16)};",
                                  f"bfe.{sign}32 {out}, {self.register('r')}, {rng.randrange(32)}, {rng.randrange(33)};",
                                  f"bfi.b32 {out}, {self.register('r')}, {self.register('r')}, {rng.randrange(32)}, {rng.randrange(33)};",
                                  f"lop3.b32 {out}, {self.register('r')}, {self.register('r')}, {self.register('r')}, {rng.randrange(256)};",
                                  f"shf.l.wrap.b32 {out}, {self.register('r')}, {self.register('r')}, {self.register('r')};",
                                  f"shf.r.clamp.b32 {out}, {self.register('r')}, {self.register('r')}, {rng.randrange(40)};",
                                  f"add.{sign}16x2 {out}, {self.register('r')}, {self.register('r')};"]))
        elif what == 12:
            if kind == "d":
                self.emit(f"mul.wide.{sign}32 {out}, {self.register('r')}, {self.value('r')};")
            elif kind == "r":
                self.emit(f"mad.lo.{sign}32 {out}, {self.register('r')}, {self.value('r')}, {self.register('r')};")
            else:
                self.emit(f"mad.lo.u16 {out}, {self.register('h')}, {self.register('h')}, {self.register('h')};")
        elif what == 13 and kind != "h":
            self.emit(f"{rng.choice(['abs', 'neg'])}.s{bits} {out}, {self.register(kind)};")
        else:
            other = rng.choice([one for one in "rdh" if one != kind])
            width = {"r": "32", "d": "64", "h": "16"}[other]
            self.emit(f"cvt.{rng.choice('us')}{bits}.{rng.choice('us')}{width} {out}, {self.register(other)};")
        self.values[kind].append(out)

    def predicate(self):
        if self.predicates and self.rng.random() < 0.4:
            return self.rng.choice(self.predicates[-6:])
        pred = self.new("p")
        kind = self.rng.choice("rrd")
        bits = {"r": "32", "d": "64"}[kind]
        test = self.rng.choice(["lt", "le", "gt", "ge", "eq", "ne"])
        self.emit(f"setp.{test}.{self.rng.choice('us')}{bits} {pred}, {self.register(kind)}, {self.value(kind)};")
        self.predicates.append(pred)
        return pred

    def store(self, place):
        kind = self.rng.choice("rrd")
        guard = f"@{self.rng.choice(['', '!'])}{self.predicate()} " if self.rng.random() < 0.3 else ""
        bits = {"r": "32", "d": "64"}[kind]
        self.emit(f"{guard}st.global.b{bits} [{self.at}+{place}], {self.register(kind)};")

    def text(self):
        rng = self.rng
        out, number, small = self.new("d"), self.new("r"), self.new("r")
        self.emit(f"ld.param.u64 {out}, [out];")
        self.emit(f"ld.param.u32 {number}, [n];")
        self.emit(f"ld.param.u32 {small}, [m];")
        self.values["r"] += [number, small]
        for name in ["tid.x", "ctaid.x", "ntid.x"]:
            reg = self.new("r")
            self.emit(f"mov.u32 {reg}, %{name};")
            self.values["r"].append(reg)
        offset, self.at = self.new("d"), self.new("d")
        self.emit(f"mul.wide.u32 {offset}, {self.values['r'][2]}, 1024;")
        self.emit(f"add.u64 {self.at}, {out}, {offset};")
        wide, half = self.new("d"), self.new("h")
        self.emit(f"ld.global.u64 {wide}, [{self.at}+512];")
        loaded = self.new("r")
        self.emit(f"ld.global.u32 {loaded}, [{self.at}+520];")
        self.emit(f"cvt.u16.u32 {half}, {loaded};")
        self.values["d"] += [wide, offset]
        self.values["r"].append(loaded)
        self.values["h"].append(half)
        place = 0
        for part in range(rng.randint(1, 4)):
            shape = rng.choice(["plain", "plain", "branch", "loop"])
            before = {kind: list(values) for kind, values in self.values.items()}, list(self.predicates)
            if shape == "branch":
                self.emit(f"@{rng.choice(['', '!'])}{self.predicate()} bra past{part};")
            turns = sums = None
            if shape == "loop":
                turns, sums = self.new("r"), self.new("r")
                self.emit(f"and.b32 {turns}, {self.register('r')}, 7;")
                self.emit(f"mov.b32 {sums}, {self.register('r')};")
                self.lines.append(f"again{part}:")
                self.values["r"].append(sums)
            for _ in range(rng.randint(3, 25)):
                self.step()
            for _ in range(rng.randint(1, 4)):
                self.store(place)
                place += 8
            if shape == "loop":
                pred = self.new("p")
                self.emit(f"add.u32 {sums}, {sums}, {self.register('r')};")
                self.emit(f"add.u32 {turns}, {turns}, -1;")
                self.emit(f"setp.gt.s32 {pred}, {turns}, 0;")
                self.emit(f"@{pred} bra again{part};")
            if shape == "branch":
                self.lines.append(f"past{part}:")
                self.values, self.predicates = before
        self.store(place)
        self.emit("ret;")
        types = {"d": "b64", "r": "b32", "h": "b16", "p": "pred"}
        head = [".version 8.0", ".target sm_90a", ".address_size 64",
                ".visible .entry random(.param .u64 out, .param .u32 n, .param .u32 m)", ".reqntid 128, 1, 1", "{"]
        head += [f"    .reg .{types[kind]} %{kind}<{number}>;" for kind, number in self.count.items()]
        return "\n".join(head + self.lines + ["}"]) + "\n"


def kernel(rng):
    """Returns a kernel as PTX."""
    return Kernel(rng).text()
