"""Random kernels whose descriptors are computed, of several buffers, in loops and between them.

A compiler that unrolls the steps of K adds constants of 64 bits to the address of a buffer: one for each layout and step.
"""
from collections import Counter

LEVELS = [[], [], [], ["-O1"], ["-O2"]]
LAYOUTS = [0x4000004000000000, 0x8000002000000000, 0xC000001000000000]  # swizzles of 128, 64 and 32 bytes


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.lines, self.count = [], Counter()
        self.n = rng.choice([32, 32, 64, 64, 128])
        self.sums = [self.new("f") for _ in range(self.n // 2)]
        self.bases = {}  # buffer: the register with its address / 16
        self.stored = True  # the sums: a product may begin with 0

    def new(self, kind):
        self.count[kind] += 1
        return f"%{kind}{self.count[kind] - 1}"

    def emit(self, text):
        self.lines.append(f"    {text}")

    def base(self, address):
        low, masked, base = self.new("r"), self.new("r"), self.new("d")
        self.emit(f"shr.u32 {low}, {address}, 4;")
        self.emit(f"and.b32 {masked}, {low}, 16383;")
        self.emit(f"cvt.u64.u32 {base}, {masked};")
        return base

    def descriptor(self, base, layout, step):
        out = self.new("d")
        number = layout + step
        self.emit(f"add.s64 {out}, {base}, {number - (1 << 64) if number >> 63 else number};" if step else
                  f"or.b64 {out}, {base}, {number - (1 << 64) if number >> 63 else number};")
        return out

    def fragment(self):
        out = [self.new("r") for _ in range(4)]
        self.emit(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{', '.join(out)}}}, [{self.at}+{512 * self.rng.randrange(32)}];")
        return out

    def products(self, base):
        """A product of some steps of K, by a buffer."""
        rng = self.rng
        steps, layout, stride = rng.choice([2, 4, 4]), rng.choice(LAYOUTS), rng.choice([2, 64, 128])
        transposed = rng.randrange(2)
        by_registers = rng.random() < 0.6
        a = None if by_registers else rng.choice(list(self.bases.values()))
        b = [self.descriptor(base, layout, stride * step) for step in range(steps)]
        left = [self.fragment() for _ in b] if by_registers else [
            self.descriptor(a, rng.choice(LAYOUTS[:1] + [layout]), 2 * step) for step in range(steps)]
        if rng.random() < 0.5:
            self.emit("fence.proxy.async.shared::cta;")
        self.emit("wgmma.fence.sync.aligned;")
        apart = rng.random() < 0.4
        for step, (one, other) in enumerate(zip(left, b)):
            keep = "0" if step == 0 and self.stored else self.true
            form = f"wgmma.mma_async.sync.aligned.m64n{self.n}k16.f32.bf16.bf16 {{{', '.join(self.sums)}}}"
            if by_registers:
                self.emit(f"{form}, {{{', '.join(one)}}}, {other}, {keep}, 1, 1, {transposed};")
            else:
                self.emit(f"{form}, {one}, {other}, {keep}, 1, 1, {rng.randrange(2)}, {transposed};")
            if apart:
                self.emit("wgmma.commit_group.sync.aligned;")
        if not apart:
            self.emit("wgmma.commit_group.sync.aligned;")
        self.emit("wgmma.wait_group.sync.aligned 0;")
        self.stored = False

    def store(self):
        """What was summed up becomes a buffer again."""
        packed = [self.new("r") for _ in range(4)]
        for i, reg in enumerate(packed):
            self.emit(f"cvt.rn.bf16x2.f32 {reg}, {self.sums[2 * i + 1]}, {self.sums[2 * i]};")
        self.emit("bar.sync 0;")
        self.emit(f"st.shared.v4.b32 [{self.at}+{1024 * self.rng.randrange(16)}], {{{', '.join(packed)}}};")
        self.emit("bar.sync 0;")

    def phase(self, name):
        rng = self.rng
        loop = rng.random() < 0.5
        count = self.new("r") if loop else None
        if loop:
            self.stored = False
            self.emit(f"mov.b32 {count}, {self.turns};")
            self.lines.append(f"{name}:")
        base = rng.choice(list(self.bases.values()))
        if rng.random() < 0.4:  # the stage of a ring
            stage, address = self.new("r"), self.new("r")
            self.emit(f"and.b32 {stage}, {count if loop else self.turns}, 1;")
            self.emit(f"mad.lo.u32 {address}, {stage}, 4096, {self.shared};")
            base = self.base(address)
        for _ in range(rng.choice([1, 1, 2])):
            self.products(base)
            if rng.random() < 0.6:
                self.store()
        if rng.random() < 0.7:
            to = self.new("d")
            self.emit(f"mul.wide.u32 {to}, {self.thread}, 16;")
            self.emit(f"add.u64 {to}, {to}, {self.out};")
            for i in range(0, len(self.sums), 4):
                self.emit(f"st.global.v4.f32 [{to}+{4096 * i}], {{{', '.join(self.sums[i:i + 4])}}};")
            self.stored = True
        if loop:
            pred = self.new("p")
            self.emit(f"add.u32 {count}, {count}, -1;")
            self.emit(f"setp.ne.u32 {pred}, {count}, 0;")
            self.emit(f"@{pred} bra {name};")

    def text(self):
        rng = self.rng
        self.out, self.turns, self.thread, self.shared, self.at = (self.new(kind) for kind in "drrrr")
        self.true = self.new("p")
        self.emit(f"ld.param.u64 {self.out}, [out];")
        self.emit(f"ld.param.u32 {self.turns}, [turns];")
        self.emit(f"mov.u32 {self.thread}, %tid.x;")
        self.emit(f"mov.u32 {self.shared}, shared_memory;")
        self.emit(f"mad.lo.u32 {self.at}, {self.thread}, 16, {self.shared};")
        self.emit(f"mov.pred {self.true}, -1;")
        for buffer in range(rng.randint(1, 4)):
            address = self.new("r")
            self.emit(f"add.u32 {address}, {self.shared}, {4096 * buffer};")
            self.bases[buffer] = self.base(address)
        for reg in self.sums:
            self.emit(f"mov.b32 {reg}, 0;")
        for phase in range(rng.randint(2, 5)):
            self.phase(f"again{phase}")
        for i, reg in enumerate(self.sums):
            self.emit(f"st.global.f32 [{self.out}+{4 * i}], {reg};")
        self.emit("ret;")
        types = {"d": "b64", "r": "b32", "f": "f32", "p": "pred"}
        head = [".version 8.0", ".target sm_90a", ".address_size 64", ".extern .shared .align 1024 .b8 shared_memory[];",
                ".visible .entry random(.param .u64 out, .param .u32 turns)", ".reqntid 128, 1, 1", "{"]
        head += [f"    .reg .{types[kind]} %{kind}<{number}>;" for kind, number in self.count.items()]
        return "\n".join(head + self.lines + ["}"]) + "\n"


def kernel(rng):
    """Returns a kernel as PTX."""
    return Kernel(rng).text()
