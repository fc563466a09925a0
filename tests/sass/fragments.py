"""Random kernels with A in registers, under register pressure.

Each loads fragments, converts them, multiplies by them in groups that stay in flight, and gives the fragments new
values: what triton#11781 needs.
"""
from collections import Counter


LEVELS = [[], [], [], ["-O1"], ["-O2"]]


def kernel(rng):
    """Returns a kernel as PTX."""
    n = rng.choice([8, 16, 32, 64, 64, 96, 128, 128, 192, 256])
    accumulators = rng.choice([1, 1, 2]) if n <= 128 else 1
    sets = rng.choice([1, 2, 2, 3, 4])
    groups = rng.randint(1, 6)
    extra = rng.choice([0, 0, 8, 24, 40, 64])
    loop = rng.random() < 0.7
    threads = rng.choice([128, 128, 256, 384])
    limit = rng.choice([None, None, 1, 2]) if threads == 128 else rng.choice([None, 1])
    by = rng.choice(["cvt", "mul", "prmt", "shared", "matrix"])
    integers = rng.random() < 0.15
    lines, registers = [], Counter()

    def new(kind):
        registers[kind] += 1
        return f"%{kind}{registers[kind] - 1}"

    def emit(text):
        lines.append("    " + text)

    out, source = new("d"), new("d")
    emit(f"ld.param.u64 {out}, [out];")
    emit(f"ld.param.u64 {source}, [source];")
    thread, offset, at = new("r"), new("d"), new("d")
    emit(f"mov.u32 {thread}, %tid.x;")
    emit(f"mul.wide.u32 {offset}, {thread}, 16;")
    emit(f"add.u64 {at}, {source}, {offset};")
    shared = new("r")
    emit(f"shl.b32 {shared}, {thread}, 4;")
    kept = [new("f") for _ in range(extra)]
    for i, reg in enumerate(kept):
        emit(f"ld.global.f32 {reg}, [{at}+{4096 * (i + 1)}];")
    kind = "r" if integers else "f"
    sums = [[new(kind) for _ in range(n // 2)] for _ in range(accumulators)]
    for acc in sums:
        for reg in acc:
            emit(f"mov.b32 {reg}, 0;")
    fragments = [[new("r") for _ in range(4)] for _ in range(sets)]

    def fill(fragment, step):
        if by == "shared":
            emit(f"ld.shared.v4.b32 {{{', '.join(fragment)}}}, [{shared}+{2048 * (step % 8)}];")
            return
        if by == "matrix":
            emit(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{', '.join(fragment)}}}, [{shared}+{2048 * (step % 8)}];")
            return
        raw = [new("r") for _ in range(4)]
        emit(f"ld.global.v4.b32 {{{', '.join(raw)}}}, [{at}+{2048 * step}];")
        for reg, value in zip(fragment, raw):
            if by == "mul":
                emit(f"xor.b32 {reg}, {value}, {rng.randrange(1 << 16)};")
            elif by == "prmt":
                emit(f"prmt.b32 {reg}, {value}, {rng.choice(raw)}, {rng.randrange(0x7777)};")
            else:
                low, high = new("f"), new("f")
                emit(f"cvt.rn.f32.s32 {low}, {value};")
                emit(f"mul.f32 {high}, {low}, 0f3F000000;")
                emit(f"cvt.rn.bf16x2.f32 {reg}, {high}, {low};")

    pred, count = new("p"), new("r")
    if loop:
        emit(f"ld.param.u32 {count}, [turns];")
        lines.append("again:")
    for i, fragment in enumerate(fragments):
        fill(fragment, i)
    pending = rng.choice([0, 1, 1, 2])
    for group in range(groups):
        emit("wgmma.fence.sync.aligned;")
        for i in range(rng.randint(1, 3)):
            fragment, acc = fragments[(group + i) % sets], rng.choice(sums)
            b = new("d")
            emit(f"mov.u64 {b}, {0x4000004000010000 + 2 * rng.randrange(64)};")
            if integers:
                emit(f"wgmma.mma_async.sync.aligned.m64n{n}k32.s32.s8.s8 {{{', '.join(acc)}}}, {{{', '.join(fragment)}}}, {b}, 1;")
            else:
                emit(f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {{{', '.join(acc)}}}, {{{', '.join(fragment)}}}, {b}, 1, 1, 1, 0;")
        emit("wgmma.commit_group.sync.aligned;")
        # A set may get new values when none of its groups is in flight.
        emit(f"wgmma.wait_group.sync.aligned {pending if sets > pending else 0};")
        if rng.random() < 0.8 and sets > pending:
            fill(fragments[(group - pending) % sets] if pending else fragments[group % sets], sets + group)
    emit("wgmma.wait_group.sync.aligned 0;")
    if loop:
        emit(f"add.u32 {count}, {count}, -1;")
        emit(f"setp.ne.u32 {pred}, {count}, 0;")
        emit(f"@{pred} bra again;")
    to = new("d")
    emit(f"mul.wide.u32 {offset}, {thread}, 4;")
    emit(f"add.u64 {to}, {out}, {offset};")
    for i, reg in enumerate(reg for acc in sums for reg in acc):
        emit(f"st.global.b32 [{to}+{512 * i}], {reg};")
    for i, reg in enumerate(kept):
        emit(f"st.global.f32 [{to}+{1 << 20}+{512 * i}], {reg};")
    emit("ret;")
    types = {"d": "b64", "r": "b32", "f": "f32", "p": "pred"}
    head = [".version 8.0", ".target sm_90a", ".address_size 64", ".extern .shared .align 1024 .b8 shared_memory[];",
            ".visible .entry random(.param .u64 out, .param .u64 source, .param .u32 turns)", f".maxntid {threads}, 1, 1"]
    if limit:
        head.append(f".minnctapersm {limit}")
    head.append("{")
    head += [f"    .reg .{types[kind]} %{kind}<{number}>;" for kind, number in registers.items() if number]
    return "\n".join(head + lines + ["}"]) + "\n"
