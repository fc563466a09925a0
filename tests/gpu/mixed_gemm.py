"""wg.gemm with weights of 4 and 8 bits, whole numbers and floats, on a GPU, beside bf16 (wg.gemm, cuBLASLt through PyTorch) and torch._weight_int4pack_mm:
errors against binary64 products of the weights' values, then times of graphs of launches that take several copies of the
weights in turn, so that none is in the L2 cache. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py; --errors: no times; --e4m3: only A of e4m3, by mxfp4. Ends with
77 where there is no PyTorch or no Hopper GPU, with 1 where something is wrong."""

import itertools
import statistics
import sys

from hopper import graph_of, microseconds, torch  # first: ends where there is no GPU

import wgrun

RANGES = {"s4": (-8, 8), "u4": (0, 16), "s8": (-128, 128), "u8": (0, 256)}
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
FP8 = torch.float8_e4m3fn
READ = 4.3e12  # bytes a second that an H200 reads
failed = 0
prepackers = {}


def bits_of(b_type):
    return 4 if b_type in ("s4", "u4", "mxfp4", "nvfp4") else 8


def prepacker_of(b_type, a_type="bf16"):
    if (b_type, a_type) not in prepackers:
        options = f'b_type = "{b_type}", a_type = "{a_type}"'
        prepackers[b_type, a_type] = wgrun.loads(f'return require("wgrun").prepacker {{ {options} }}').only
    return prepackers[b_type, a_type]


def prepack(b_type, values):
    """`values`: N x K, as numbers. Returns the packed weights."""
    n, k = values.shape
    if b_type == "e4m3":
        rows = values.to(torch.float8_e4m3fn)
    elif bits_of(b_type) == 8:
        rows = values.to(torch.uint8 if b_type == "u8" else torch.int8)
    else:
        nibbles = values.to(torch.int16) & 15
        rows = (nibbles[:, ::2] | nibbles[:, 1::2] << 4).to(torch.uint8)
    packed = torch.empty(-(-n // 64), -(-k // 512) * 2 * bits_of(b_type), 128, 4, device="cuda", dtype=torch.uint32)
    prepacker_of(b_type)(rows, packed)
    return packed


class Product:
    """Activations, weights and what they stand for."""

    def __init__(self, m, n, k, a_type="bf16", b_type="s4", group=128, zeros=False, copies=1):
        self.shape, self.a_type, self.b_type, self.group = (m, n, k), a_type, b_type, group
        self.a = torch.randn(m, k, device="cuda").to(TYPES[a_type])
        self.scales = (torch.rand(k // group, n, device="cuda") * 0.02 + 0.01).to(TYPES[a_type])
        self.zeros = None
        if b_type == "e4m3":
            self.values = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).float()
        else:
            self.values = torch.randint(*RANGES[b_type], (n, k), device="cuda").float()
        if zeros:
            self.zeros = torch.randint(*RANGES[b_type], (k // group, n), device="cuda").to(TYPES[a_type])
        self.packed = [prepack(b_type, self.values)]
        self.packed += [self.packed[0].clone() for _ in range(copies - 1)]
        self.d = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[a_type])

    def read(self):
        return self.a.double()

    def ours(self, **options):
        return self.launches(wgrun.gemm(a_type=self.a_type, b_type=self.b_type, group_size=self.group, problem=self.shape,
                                        zeros=self.zeros is not None, **options), options)

    def given(self):
        return {"b_scales": self.scales} | ({} if self.zeros is None else {"b_zeros": self.zeros})

    def launches(self, gemm, options):
        given = self.given()
        following = [{"next": packed} if options.get("next") else {} for packed in self.packed[1:] + self.packed[:1]]
        return [lambda packed=packed, more=more: gemm(self.a, packed, self.d, **given, **more) for packed, more in zip(self.packed, following)]

    def stands(self):
        zeros = 0 if self.zeros is None else self.zeros.double().repeat_interleave(self.group, 0).T
        return (self.values.double() - zeros) * self.scales.double().repeat_interleave(self.group, 0).T

    def weight_bytes(self):
        m, n, k = self.shape
        return n * k * bits_of(self.b_type) // 8 + self.scales.nbytes * (1 if self.zeros is None else 2)


class Fp4Product(Product):
    """The same, with weights of mxfp4 or nvfp4, which are packed with their scales; of e4m3, A has scales of rows."""

    def __init__(self, m, n, k, b_type, copies=1, a_type="bf16"):
        self.shape, self.a_type, self.b_type, self.group, self.zeros = (m, n, k), a_type, b_type, 32 if b_type == "mxfp4" else 16, None
        self.a = torch.randn(m, k, device="cuda").to(FP8 if a_type == "e4m3" else torch.bfloat16)
        self.rows = torch.rand(m, device="cuda") + 0.5 if a_type == "e4m3" else None
        codes = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
        magnitudes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
        self.values = torch.cat([magnitudes, -magnitudes])[torch.stack([codes & 15, codes >> 4], 2).flatten(1).long()]
        if b_type == "mxfp4":
            stored = torch.randint(117, 123, (n, k // 32), device="cuda", dtype=torch.uint8)
            self.factors, self.whole = torch.exp2(stored.float() - 127), None
        else:
            stored = (torch.rand(n, k // 16, device="cuda") * 400).to(torch.float8_e4m3fn)
            self.factors, self.whole = stored.float(), torch.tensor([1e-4], device="cuda")
        blocks, units, words = -(-n // 64), -(-k // 512) * 8, 544 if b_type == "mxfp4" else 576
        shape = (blocks, units * words + 64) if a_type == "e4m3" else (blocks, units, words)
        self.packed = [torch.empty(shape, device="cuda", dtype=torch.uint32)]
        prepacker_of(b_type, a_type)(codes, self.packed[0], stored)
        self.packed += [self.packed[0].clone() for _ in range(copies - 1)]
        self.d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)

    def read(self):
        return self.a.double() if self.rows is None else self.a.double() * self.rows.double()[:, None]

    def ours(self, **options):
        scales = {} if self.rows is None else {"scales": {"a": "row"}}
        return self.launches(wgrun.gemm(a_type=self.a_type, b_type=self.b_type, problem=self.shape, **scales, **options), options)

    def given(self):
        return ({} if self.whole is None else {"b_scales": self.whole}) | ({} if self.rows is None else {"a_scales": self.rows})

    def stands(self):
        whole = 1.0 if self.whole is None else self.whole.double()
        return self.values.double() * self.factors.double().repeat_interleave(self.group, 1) * whole

    def weight_bytes(self):
        return self.packed[0].nbytes


def error_of(got, a, stands):
    """The root mean square of the error, over that of what is rounded: the result, and the terms of its sum, whose weights are
    rounded too. Each rounding to bf16 makes 0.0017 of its own, both 0.0022 to 0.0024. Weights with a mean make the sums of a few
    rows larger or smaller than their terms, so that the result alone says little: 0.0021 to 0.0030."""
    want, terms = a @ stands.T, a.pow(2) @ stands.pow(2).T
    return ((got.double() - want).pow(2).mean() / ((want.pow(2).mean() + terms.mean()) / 2)).sqrt().item()


def check(p, **options):
    global failed
    p.d.fill_(float("nan"))
    p.ours(**options)[0]()
    error = error_of(p.d, p.read(), p.stands())
    wrong = not error < (0.0004 if p.a_type == "f16" else 0.0026)
    failed += wrong
    name = f"{p.shape} {p.a_type} x {p.b_type}, groups of {p.group}{'' if p.zeros is None else ', zero points'}"
    print(f"{name} {options}: error {error:.5f}{' WRONG' if wrong else ''}", flush=True)


def errors_e4m3():
    for m in (1, 5, 16, 19, 33, 64, 100, 256, 300, 1000):
        check(Fp4Product(m, 712, 1120, "mxfp4", a_type="e4m3"))
        check(Fp4Product(m, 520, 4608, "mxfp4", a_type="e4m3"), splits=2, constant="B", next=True)
    for tile in ((64, 16, 512), (128, 16, 256), (128, 128, 128), (64, 128, 256), (128, 256, 128)):
        for stream_k in (False, True):
            check(Fp4Product(300, 17400, 1152, "mxfp4", a_type="e4m3"), tile=tile, stream_k=stream_k)


def errors():
    for a_type in TYPES:
        for b_type in ("s4", "u4", "s8", "u8", "e4m3"):
            for zeros in (False, True)[: 1 + (b_type != "e4m3")]:
                p = Product(19, 712, 1120, a_type, b_type, 32, zeros)
                check(p)
                check(p, splits=2, constant="B")
    for b_type in ("mxfp4", "nvfp4"):
        for m in (1, 19, 33, 64, 100, 256, 300):
            check(Fp4Product(m, 712, 1120, b_type))
            check(Fp4Product(m, 520, 4608, b_type), splits=2, constant="B", next=True)
        check(Fp4Product(20, 17400, 1152, b_type), stream_k=True)
    for m in (1, 33, 64, 100, 200, 256, 300):
        check(Product(m, 520, 1152, "bf16", "u4", 64 if m % 2 else 128, True))
    for splits in range(1, 9):
        check(Product(16, 520, 4608, "bf16", "s4", 384), splits=splits)
    for m in (1, 20, 64, 200, 300):  # with more tiles than SMs, and fewer
        for n, k in ((17400, 1152), (520, 4608)):
            check(Product(m, n, k, "bf16", "s8" if m == 64 else "s4"), stream_k=True, constant="B")
    for a_type in TYPES:
        for b_type in ("s4", "u4", "s8", "e4m3"):
            for k in (1152, 2048, 8192):  # one row
                check(Product(1, 8192 if k == 8192 else 520, k, a_type, b_type, zeros=b_type == "u4"), constant="B", next=True)


def compare(title, candidates, rounds=15):
    """candidates: by name (functions, bytes of weights). Prints medians, the ratio to the first one's, and to the time of the bytes."""
    graphs = {}
    for name, (functions, size) in candidates.items():
        try:
            launches = max(len(functions), min(40, int(2e-3 * READ / size)))
            graphs[name] = graph_of(functions, launches), launches, size
        except (RuntimeError, wgrun.Error) as problem:
            print(f"{title}  {name}: {str(problem).splitlines()[0]}")
    times = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, (graph, launches, _) in graphs.items():
            times[name].append(microseconds(graph, launches))
    base = next(iter(graphs))
    for name, (_, _, size) in graphs.items():
        us = statistics.median(times[name])
        faster = statistics.median(a / b for a, b in zip(times[base], times[name]))
        print(f"{title}  {name:34} {us:7.2f} us  {faster:.3f} of the first's speed, {us * 1e-6 * READ / size:.3f} of the bytes' time", flush=True)


def of_torch_int4(p):
    m, n, k = p.shape
    raw = (p.values.to(torch.int32) & 15) ^ 8
    packed = torch._convert_weight_to_int4pack((raw[:, ::2] << 4 | raw[:, 1::2]).to(torch.uint8), 8)
    both = torch.stack((p.scales, torch.zeros_like(p.scales)), 2).contiguous()
    copies = [packed.clone() for _ in p.packed]
    return [lambda w=w: torch._weight_int4pack_mm(p.a, w, p.group, both) for w in copies]


def times(rows=(1, 8, 16, 32, 64, 128, 256), n=8192, k=8192):
    weights = [torch.randn(n, k, device="cuda").to(torch.bfloat16) for _ in range(4)]
    for m in rows:
        dense = Product(m, n, k, copies=1)
        candidates = {"cuBLASLt, bf16": ([lambda w=w: torch.matmul(dense.a, w.T) for w in weights], 2 * n * k)}
        ours = wgrun.gemm(dtype="bf16", problem=(m, n, k), **({"constant": "B"} if m <= 128 else {}))
        candidates["wg.gemm, bf16"] = ([lambda w=w: ours(dense.a, w, dense.d) for w in weights], 2 * n * k)
        for b_type in ("s4", "u4", "e4m3", "s8", "u8"):
            p = Product(m, n, k, "bf16", b_type, zeros=b_type in ("u4", "u8"), copies=8)
            name = b_type + (" with zero points" if p.zeros is not None else "")
            candidates[f"wg.gemm, {name}"] = (p.ours(constant="B"), p.weight_bytes())
            candidates[f"wg.gemm, {name}, next"] = (p.ours(constant="B", next=True), p.weight_bytes())
            if b_type == "s4":
                candidates["wg.gemm, s4, weights not constant"] = (p.ours(), p.weight_bytes())
                candidates["torch._weight_int4pack_mm"] = (of_torch_int4(p), p.weight_bytes())
        for b_type in ("mxfp4", "nvfp4"):
            p = Fp4Product(m, n, k, b_type, copies=8)
            candidates[f"wg.gemm, {b_type}"] = (p.ours(constant="B"), p.weight_bytes())
        compare(f"{m}x{n}x{k}", candidates)


def times_e4m3(rows=(16, 64, 256, 4096), shapes=((4096, 4096), (7168, 4096), (8192, 8192))):
    for (n, k), m in itertools.product(shapes, rows):
        copies = 8 if m < 1024 else 2
        p, of_bf16 = Fp4Product(m, n, k, "mxfp4", copies, "e4m3"), Fp4Product(m, n, k, "mxfp4", copies)
        check(p, constant="B")
        weights = [torch.randn(n, k, device="cuda").to(FP8) for _ in range(copies)]
        of_a, of_b = p.rows[:, None], torch.ones(1, n, device="cuda")
        dense = wgrun.gemm(dtype="e4m3", problem=(m, n, k), scales={"a": "row", "b": "row"}, **({"constant": "B"} if m <= 128 else {}))
        candidates = {
            "wg.gemm, e4m3 x mxfp4": (p.ours(constant="B"), p.weight_bytes()),
            "wg.gemm, bf16 x mxfp4": (of_bf16.ours(constant="B"), of_bf16.weight_bytes()),
            "wg.gemm, e4m3 x e4m3": ([lambda w=w: dense(p.a, w, p.d, a_scales=p.rows, b_scales=of_b[0]) for w in weights], n * k),
            "cuBLASLt, e4m3 x e4m3": ([lambda w=w: torch._scaled_mm(p.a, w.T, of_a, of_b, out_dtype=torch.bfloat16) for w in weights], n * k),
        }
        for tile in ((64, m, 512), (64, m, 256)) if m <= 64 else ((128, 128, 128), (128, 192, 128), (128, 256, 128), (64, 128, 256)):
            for stream_k in (False, True):
                name = "wg.gemm, e4m3 x mxfp4, {}x{}x{}".format(*tile) + (", stream-K" if stream_k else "")
                candidates[name] = (p.ours(constant="B", tile=tile, stream_k=stream_k, **({} if stream_k else {"splits": 1})), p.weight_bytes())
        compare(f"{m}x{n}x{k}", candidates)


def read_bandwidth():
    x = torch.empty(1 << 30, device="cuda", dtype=torch.int32).random_()
    y = torch.empty_like(x)
    for name, function, size in (("copy", lambda: y.copy_(x), 2 * x.nbytes), ("read (max)", lambda: x.max(), x.nbytes)):
        graph = graph_of([function], 2)
        us = statistics.median(microseconds(graph, 2) for _ in range(7))
        print(f"{name}: {size / us / 1e6:.2f} TB/s")


if __name__ == "__main__":
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    errors_e4m3()
    if "--e4m3" not in sys.argv:
        errors()
    if "--errors" not in sys.argv:
        read_bandwidth()
        times_e4m3()
        if "--e4m3" not in sys.argv:
            times()
    sys.exit(1 if failed else 0)
