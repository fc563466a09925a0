"""wg.gemm with scales and with groups on a GPU, beside PyTorch (cuBLASLt, torch._grouped_mm): errors against binary64, then
times in alternating bursts. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py; --errors: no times. Ends with 77 where there
is no PyTorch or no Hopper GPU, with 1 where something is wrong."""

import statistics
import sys
import time

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("skipped: no Hopper GPU")
    sys.exit(77)

import wgrun

BLOCKS = {"a": "1x128", "b": "128x128"}
failed = 0


def ceil_div(a, b):
    return (a + b - 1) // b


def check(name, got, want):
    """The root mean square of the error over that of the result: rounding to bf16 makes it 0.0017."""
    global failed
    error = ((got.double() - want).pow(2).mean().sqrt() / want.pow(2).mean().sqrt()).item()
    wrong = not error < 0.0025
    failed += wrong
    print(f"{name}: error {error:.5f}{' WRONG' if wrong else ''}", flush=True)


def burst(function, launches):
    """Microseconds of a launch; the first ones wait for the host behind a kernel that sleeps."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(600000)
    first.record()
    for _ in range(launches):
        function()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / launches * 1e3


def compare(title, functions, flops, rounds=7):
    """Prints the medians; the first function is what the others are compared with. Once in bursts of about 4 ms, which
    follow each other, once in single bursts of at most 1 ms after a pause."""
    for function in functions.values():
        function(), function()
    launches = max(2, int(4e-3 * 1e15 / flops))
    hot, cool = {}, {}
    for _ in range(rounds):
        for name, function in functions.items():
            hot.setdefault(name, []).append(burst(function, launches))
    for _ in range(rounds):
        for name, function in functions.items():
            time.sleep(0.03)
            cool.setdefault(name, []).append(burst(function, max(1, launches // 8)))
    base = next(iter(functions))
    for name in functions:
        line = f"{title}  {name:28}"
        for times in (hot, cool):
            ratio = statistics.median(a / b for a, b in zip(times[base], times[name]))
            us = statistics.median(times[name])
            line += f" | {us:8.1f} us {flops / us / 1e6:7.1f} TFLOP/s  {ratio:.3f}"
        print(line, flush=True)


class Product:
    """Operands of e4m3 with scales, and D."""

    def __init__(self, m, n, k):
        self.shape = (m, n, k)
        self.a, self.b = (torch.randn(rows, k, device="cuda").to(torch.float8_e4m3fn) for rows in (m, n))
        self.a_scales = torch.rand(ceil_div(k, 128), ceil_div(m, 4) * 4, device="cuda") + 0.5
        self.b_scales = torch.rand(ceil_div(n, 128), ceil_div(k, 128), device="cuda") + 0.5
        self.rows, self.columns = (torch.rand(extent, device="cuda") + 0.5 for extent in (m, n))
        self.d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)

    def ours(self, scales, a_scales, b_scales, **options):
        gemm = wgrun.gemm(dtype="e4m3", problem=self.shape, scales=scales, **options)
        return lambda: gemm(self.a, self.b, self.d, a_scales=a_scales, b_scales=b_scales)

    def by_blocks(self, **options):
        return self.ours(BLOCKS, self.a_scales, self.b_scales, **options)

    def want(self):
        m, n, k = self.shape
        a = self.a.double() * self.a_scales.t()[:m].double().repeat_interleave(128, 1)[:, :k]
        b = self.b.double() * self.b_scales.double().repeat_interleave(128, 0)[:n].repeat_interleave(128, 1)[:, :k]
        return a @ b.T

    def torch_by_blocks(self):
        from torch.nn.functional import ScalingType, scaled_mm

        m, _, k = self.shape
        padded = torch.nn.functional.pad(self.b_scales, (0, -ceil_div(k, 128) % 4))[:, : ceil_div(k, 128)]
        return lambda: scaled_mm(
            self.a, self.b.t(), scale_a=self.a_scales.t()[:m], scale_recipe_a=ScalingType.BlockWise1x128,
            scale_b=padded.t(), scale_recipe_b=ScalingType.BlockWise128x128, output_dtype=torch.bfloat16)

    def torch_by_rows(self):
        return lambda: torch._scaled_mm(self.a, self.b.t(), scale_a=self.rows[:, None], scale_b=self.columns[None],
                                        out_dtype=torch.bfloat16)


class Groups:
    """Contiguous groups of rows in bf16, and the same in e4m3 with scales."""

    def __init__(self, sizes, n, k):
        self.sizes, self.n, self.k, self.m = sizes, n, k, sum(sizes)
        count = len(sizes)
        self.a = torch.randn(self.m, k, device="cuda", dtype=torch.bfloat16)
        self.b = torch.randn(count, n, k, device="cuda", dtype=torch.bfloat16)
        self.b_rows = self.b.view(count * n, k)
        self.a8, self.b8 = self.a.to(torch.float8_e4m3fn), self.b_rows.to(torch.float8_e4m3fn)
        self.a_scales = torch.rand(ceil_div(k, 128), ceil_div(self.m, 4) * 4, device="cuda") + 0.5
        self.b_scales = torch.rand(count * ceil_div(n, 128), ceil_div(k, 128), device="cuda") + 0.5
        self.offsets = torch.tensor(sizes, device="cuda").cumsum(0).to(torch.int32)
        self.d = torch.full((self.m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        self.problem = (self.m, n, k, count)

    def torch_bf16(self):
        return lambda: torch._grouped_mm(self.a, self.b.transpose(1, 2), offs=self.offsets)

    def bf16(self, **options):
        gemm = wgrun.gemm(groups="contiguous", problem=self.problem, **options)
        return lambda: gemm(self.a, self.b_rows, self.d, offsets=self.offsets)

    def e4m3(self, **options):
        gemm = wgrun.gemm(groups="contiguous", dtype="e4m3", scales=BLOCKS, problem=self.problem, **options)
        return lambda: gemm(self.a8, self.b8, self.d, offsets=self.offsets, a_scales=self.a_scales, b_scales=self.b_scales)

    def want(self, scaled):
        parts, start = [], 0
        for group, size in enumerate(self.sizes):
            rows, start = slice(start, start + size), start + size
            if scaled:
                of_b = torch.arange(self.n, device="cuda") // 128 + group * ceil_div(self.n, 128)
                a = self.a8[rows].double() * self.a_scales.t()[rows].double().repeat_interleave(128, 1)[:, : self.k]
                b = self.b8[group * self.n : (group + 1) * self.n].double()
                parts.append(a @ (b * self.b_scales[of_b].double().repeat_interleave(128, 1)[:, : self.k]).T)
            else:
                parts.append(self.a[rows].double() @ self.b[group].double().T)
        return torch.cat(parts)


def errors():
    tiles = ((128, 256), (192, 128), (128, 192), (256, 128), (128, 224), (64, 128))
    for shape in ((500, 1032, 1040), (301, 392, 400), (3, 520, 144)):
        p = Product(*shape)
        want = p.want()
        for options in ({}, {"cluster": 2, "tile": (128, 256)}, *({"tile": tile} for tile in tiles)):
            p.d.fill_(float("nan"))
            p.by_blocks(**options)()
            check(f"{shape} blocks {options}", p.d, want)
        p.d.fill_(float("nan"))
        p.ours({"a": "row", "b": "row"}, p.rows, p.columns)()
        check(f"{shape} rows", p.d, p.a.double() @ p.b.double().T * p.rows.double()[:, None] * p.columns.double())
        p.d.fill_(float("nan"))
        p.ours({"a": "tensor", "b": "tensor"}, p.rows[:1], p.columns[:1])()
        check(f"{shape} tensors", p.d, p.a.double() @ p.b.double().T * p.rows[0].double() * p.columns[0].double())
    for sizes, n, k in (([130, 0, 7, 65, 0, 301], 392, 400), ([0, 0, 3], 136, 144), ([1] * 40, 264, 1040)):
        g = Groups(sizes, n, k)
        for options in ({}, {"tile": (128, 256)}, {"tile": (192, 128)}, {"tile": (128, 128), "cluster": 2}):
            for name, scaled in (("bf16", False), ("e4m3", True)):
                g.d.fill_(float("nan"))
                getattr(g, name)(**options)()
                check(f"groups {sizes[:6]} {n} {k} {name} {options}", g.d, g.want(scaled))


def times():
    for shape in ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 7168, 16384), (4096, 7168, 2048)):
        p = Product(*shape)
        compare(f"{shape}", {
            "torch, blocks": p.torch_by_blocks(), "wg.gemm, blocks": p.by_blocks(),
            "wg.gemm, blocks, 128x256": p.by_blocks(tile=(128, 256)), "wg.gemm, blocks, 4 panels": p.by_blocks(tile=(128, 256), buffers=4),
            "wg.gemm, blocks, 192x128": p.by_blocks(tile=(192, 128)),
        }, 2 * shape[0] * shape[1] * shape[2])
        compare(f"{shape}", {
            "torch, rows": p.torch_by_rows(), "wg.gemm, rows": p.ours({"a": "row", "b": "row"}, p.rows, p.columns),
            "wg.gemm, tensors": p.ours({"a": "tensor", "b": "tensor"}, p.rows[:1], p.columns[:1]),
        }, 2 * shape[0] * shape[1] * shape[2])
    for sizes, n, k in (([1024] * 8, 4096, 7168), ([8192] * 4, 4096, 7168), ([8192] * 4, 7168, 2048),
                        ([256] * 32, 4096, 7168), ([64] * 64, 4096, 7168), ([1500, 3, 700, 0, 2900, 1, 1200, 1888], 4096, 7168)):
        g = Groups(sizes, n, k)
        compare(f"{len(sizes)} x {sizes[0]} {n} {k}", {
            "torch, bf16": g.torch_bf16(), "wg.gemm, bf16": g.bf16(), "wg.gemm, bf16, 128x256": g.bf16(tile=(128, 256)),
            "wg.gemm, bf16, 256x128": g.bf16(tile=(256, 128)), "wg.gemm, e4m3": g.e4m3(),
            "wg.gemm, e4m3, 128x256": g.e4m3(tile=(128, 256)),
        }, 2 * g.m * n * k)
        del g
        torch.cuda.empty_cache()


torch.manual_seed(1)
print(torch.cuda.get_device_name(), "torch", torch.__version__)
errors()
if "--errors" not in sys.argv:
    times()
sys.exit(1 if failed else 0)
