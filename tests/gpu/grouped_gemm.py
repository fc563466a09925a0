"""wg.gemm{ groups = } on a GPU, beside PyTorch (torch._grouped_mm, torch.bmm): errors against binary64, then times in
alternating bursts. grouped_gemm.py [--errors [bf16] [e4m3]] [--times] [--tiles] [ROW...]; --tiles: also those that wg.gemm does not choose; ROW: of
ROWS, from 1. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where something is wrong."""

import sys

from bursts import check, compare, end, failed, torch

import wgrun

BLOCKS = {"a": "1x128", "b": "128x128"}
LEGAL = {"contiguous": "offsets", "masked": "sizes", "batched": "count"}


def ceil_div(a, b):
    return (a + b - 1) // b


class Groups:
    """Operands of groups in bf16, the same in e4m3 with scales, and D. `room`: of masked and batched groups, the rows that each has
    room for; `more`: rows of A that belong to no group."""

    def __init__(self, kind, sizes, n, k, room=None, more=0):
        self.kind, self.sizes, self.n, self.k = kind, sizes, n, k
        count = len(sizes)
        self.room = room
        self.m = (room * count if room else sum(sizes)) + more
        self.starts = [room * i if room else sum(sizes[:i]) for i in range(count)]
        self.a = torch.randn(self.m, k, device="cuda", dtype=torch.bfloat16)
        self.b = torch.randn(count, n, k, device="cuda", dtype=torch.bfloat16)
        self.b_rows = self.b.view(count * n, k)
        self.a8, self.b8 = self.a.to(torch.float8_e4m3fn), self.b_rows.to(torch.float8_e4m3fn)
        self.a_scales = torch.rand(ceil_div(k, 128), ceil_div(self.m, 4) * 4, device="cuda") + 0.5
        self.b_scales = torch.rand(count * ceil_div(n, 128), ceil_div(k, 128), device="cuda") + 0.5
        self.d = torch.empty(self.m, n, device="cuda", dtype=torch.bfloat16)
        self.rows = torch.tensor(sizes, device="cuda", dtype=torch.int32)
        self.problem = (self.m, n, k, count)
        self.flops = 2 * sum(sizes) * n * k
        self.inputs = (sum(sizes) + sum(size > 0 for size in sizes) * n) * k

    def gigabytes(self, name):
        return 1e-9 * (self.inputs * (1 if "e4m3" in name else 2) + 2 * sum(self.sizes) * self.n)

    def of_launch(self):
        """What says how many rows the groups have; computed on the device."""
        if self.kind == "batched":
            return {"count": len(self.sizes)}
        return {LEGAL[self.kind]: self.rows.cumsum(0).to(torch.int32) if self.kind == "contiguous" else self.rows}

    def bf16(self, **options):
        gemm, given = wgrun.gemm(groups=self.kind, **{"problem": self.problem, **options}), self.of_launch()
        return lambda: gemm(self.a, self.b_rows, self.d, **given)

    def e4m3(self, **options):
        gemm = wgrun.gemm(groups=self.kind, dtype="e4m3", scales=BLOCKS, problem=self.problem, **options)
        given = self.of_launch()
        return lambda: gemm(self.a8, self.b8, self.d, a_scales=self.a_scales, b_scales=self.b_scales, **given)

    def owned(self):
        """The numbers of the rows that belong to groups."""
        parts = [torch.arange(start, start + size) for start, size in zip(self.starts, self.sizes)]
        return torch.cat(parts).cuda()

    def of_torch(self):
        """torch._grouped_mm wants the rows one after the other: those of masked groups are gathered before."""
        if self.kind == "batched":
            a = self.a.view(len(self.sizes), self.room, self.k)
            return lambda: torch.bmm(a, self.b.transpose(1, 2))
        a, offsets = self.a[self.owned()], self.rows.cumsum(0).to(torch.int32)
        return lambda: torch._grouped_mm(a, self.b.transpose(1, 2), offs=offsets)

    def of_torch_e4m3(self):
        """The scales of torch's product are of rows."""
        count = len(self.sizes)
        a, offsets = self.a8.view(torch.uint8)[self.owned()].view(torch.float8_e4m3fn), self.rows.cumsum(0).to(torch.int32)
        b = self.b8.view(count, self.n, self.k).transpose(1, 2)
        of_a, of_b = torch.ones(len(a), device="cuda"), torch.ones(count, self.n, device="cuda")
        return lambda: torch._scaled_grouped_mm(a, b, of_a, of_b, offs=offsets, out_dtype=torch.bfloat16, use_fast_accum=True)

    def want(self, scaled):
        parts = []
        for group, (start, size) in enumerate(zip(self.starts, self.sizes)):
            rows = slice(start, start + size)
            if scaled:
                of_b = torch.arange(self.n, device="cuda") // 128 + group * ceil_div(self.n, 128)
                a = self.a8[rows].double() * self.a_scales.t()[rows].double().repeat_interleave(128, 1)[:, : self.k]
                b = self.b8[group * self.n : (group + 1) * self.n].double()
                parts.append(a @ (b * self.b_scales[of_b].double().repeat_interleave(128, 1)[:, : self.k]).T)
            else:
                parts.append(self.a[rows].double() @ self.b[group].double().T)
        return torch.cat(parts)

    def check(self, name, product, scaled):
        """Rows of no group keep what they held."""
        self.d.fill_(float("nan"))
        product()
        owned = self.owned()
        others = torch.ones(self.m, dtype=torch.bool, device="cuda")
        others[owned] = False
        written = not self.d[others].isnan().all().item()
        if written:
            failed.append(name)
        check(f"{name}{' (rows of no group WRITTEN)' if written else ''}", self.d[owned], self.want(scaled))


def errors(types):
    forms = ({}, {"tile": (128, 256)}, {"tile": (128, 256), "halves": True}, {"tile": (192, 128)}, {"tile": (64, 256)}, {"tile": (128, 128), "cluster": 2},
             {"tile": (256, 128), "cluster": (1, 2)}, {"tile": (64, 64), "cluster": (2, 2)})
    own = ({"tile": (128, 192), "schedule": "pingpong"}, {"tile": (64, 256), "schedule": "pingpong"})
    cases = (
        ("contiguous", [130, 0, 7, 65, 0, 301], 392, 400, {"more": 9}), ("contiguous", [0, 0, 3], 136, 144, {}),
        ("contiguous", [1] * 40, 264, 1040, {}), ("masked", [130, 0, 7, 200], 520, 272, {"room": 203}),
        ("masked", [3, 64, 65, 128, 0, 1], 264, 1040, {"room": 128}), ("batched", [300] * 3, 392, 528, {"room": 300}),
        ("contiguous", [700, 0, 1303, 2, 129, 1000, 64, 900], 2048, 2048, {}),
    )
    for kind, sizes, n, k, more in cases:
        g = Groups(kind, sizes, n, k, **more)
        for options in (*forms, *own):
            for name in types:
                if name == "bf16" or options not in own:
                    g.check(f"{kind} {sizes[:6]} {n} {k} {name} {options}", getattr(g, name)(**options), name == "e4m3")
    # The next launch has other sizes, which only the device knows.
    g = Groups("contiguous", [500, 0, 12, 1536], 1024, 512)
    ends = g.of_launch()["offsets"]
    gemm = wgrun.gemm(groups="contiguous", problem=g.problem)
    for sizes in ([500, 0, 12, 1536], [0, 0, 2048, 0], [1, 1, 1, 1], [129, 383, 1000, 500]):
        g.sizes, g.starts = sizes, [sum(sizes[:i]) for i in range(4)]
        ends.copy_(torch.tensor(sizes, device="cuda").cumsum(0))
        g.check(f"sizes of the device {sizes}", lambda: gemm(g.a, g.b_rows, g.d, offsets=ends), False)


ROWS = (
    ("contiguous", [1024] * 8, 4096, 7168, None), ("contiguous", [8192] * 4, 4096, 7168, None),
    ("contiguous", [8192] * 4, 7168, 2048, None), ("contiguous", [256] * 32, 4096, 7168, None),
    ("contiguous", [64] * 64, 4096, 7168, None),
    ("contiguous", [1500, 3, 700, 0, 2900, 1, 1200, 1888], 4096, 7168, None),
    ("contiguous", [7 * i % 97 + 80 for i in range(64)], 2048, 4096, None),
    ("masked", [250, 700, 31, 0, 512, 128, 90, 1024], 4096, 7168, 1024), ("masked", [5 * i % 61 + 20 for i in range(32)], 4096, 7168, 256),
    ("batched", [1024] * 8, 4096, 7168, 1024), ("batched", [2048] * 16, 2048, 2048, 2048), ("batched", [512] * 64, 512, 1024, 512),
)
BF16 = (
    {"tile": (128, 256)}, {"tile": (128, 256), "halves": True}, {"tile": (256, 192)}, {"tile": (128, 192)}, {"tile": (192, 128)},
    {"tile": (128, 256), "cluster": 2},
    {"tile": (64, 256)}, {"tile": (64, 128, 128)}, {"tile": (64, 128, 256)}, {"tile": (64, 64, 256)},
    {"tile": (128, 192), "schedule": "pingpong"}, {"tile": (128, 128), "schedule": "pingpong"},
)
E4M3 = ({"tile": (128, 256)}, {"tile": (128, 256), "halves": True}, {"tile": (192, 128)}, {"tile": (128, 192)}, {"tile": (64, 256)}, {"tile": (64, 128)})


def named(options):
    return " ".join("x".join(map(str, v)) if k == "tile" else f"{v}" if k == "schedule" else f"{k} {v}" for k, v in options.items())


def times(tiles, rows):
    for kind, sizes, n, k, room in rows:
        g = Groups(kind, sizes, n, k, room)
        title = f"{kind} {len(sizes)} x {sizes[0]}{'' if len(set(sizes)) == 1 else '..'} {n} {k}"
        products = {"torch": g.of_torch, "wg.gemm, bf16": g.bf16, "wg.gemm, e4m3, blocks": g.e4m3}
        if kind != "batched":
            products["torch, e4m3, rows"] = g.of_torch_e4m3
        for options in BF16 if tiles else ():
            products[f"bf16 {named(options)}"] = lambda options=options: g.bf16(**options)
        for options in E4M3 if tiles else ():
            products[f"e4m3 {named(options)}"] = lambda options=options: g.e4m3(**options)
        compare(title, products, g.flops, g.gigabytes, rounds=5 if tiles else 9)
        del g, products
        torch.cuda.empty_cache()


torch.manual_seed(1)
print(torch.cuda.get_device_name(), "torch", torch.__version__)
if "--times" not in sys.argv:
    errors([name for name in ("bf16", "e4m3") if name in sys.argv] or ["bf16", "e4m3"])
if "--errors" not in sys.argv:
    times("--tiles" in sys.argv, [ROWS[int(word) - 1] for word in sys.argv if word.isdigit()] or ROWS)
end()
