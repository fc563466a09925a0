"""wg.gemm with scales on a GPU, beside PyTorch (cuBLASLt): errors against binary64, then times in alternating bursts.
scaled_gemm.py [--errors] [--times]; WGRUN_LIBRARY and PYTHONPATH as for pytorch.py. Ends with 77 where there is no PyTorch or
no Hopper GPU, with 1 where something is wrong."""

import sys

from bursts import check, compare, end, torch

import wgrun

BLOCKS = {"a": "1x128", "b": "128x128"}


def ceil_div(a, b):
    return (a + b - 1) // b


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


def errors():
    tiles = ((128, 256), (192, 128), (128, 192), (256, 128), (128, 224), (64, 128), (128, 128), (64, 64), (128, 64))
    own = ({}, {"cluster": 2, "tile": (128, 256)}, {"cluster": (1, 2), "tile": (256, 128)})
    for shape in ((500, 1032, 1040), (301, 392, 400), (3, 520, 144), (130, 264, 8464)):
        p = Product(*shape)
        want = p.want()
        for options in (*own, *({"tile": tile} for tile in tiles)):
            p.d.fill_(float("nan"))
            p.by_blocks(**options)()
            check(f"{shape} blocks {options}", p.d, want)
        p.d.fill_(float("nan"))
        p.ours({"a": "row", "b": "row"}, p.rows, p.columns)()
        check(f"{shape} rows", p.d, p.a.double() @ p.b.double().T * p.rows.double()[:, None] * p.columns.double())
        p.d.fill_(float("nan"))
        p.ours({"a": "tensor", "b": "tensor"}, p.rows[:1], p.columns[:1])()
        check(f"{shape} tensors", p.d, p.a.double() @ p.b.double().T * p.rows[0].double() * p.columns[0].double())


def times():
    tiles = ((128, 256), (256, 128), (192, 128), (128, 192), (128, 128))
    for shape in ((64, 7168, 2048), (128, 4096, 7168), (256, 7168, 16384), (512, 4096, 7168), (4096, 4096, 4096),
                  (8192, 8192, 8192), (4096, 7168, 16384), (4096, 7168, 2048)):
        p = Product(*shape)
        flops = 2 * shape[0] * shape[1] * shape[2]
        by_tile = {f"wg.gemm, blocks, {m}x{n}": lambda tile=(m, n): p.by_blocks(tile=tile) for m, n in tiles}
        compare(f"{shape}", {"torch, blocks": p.torch_by_blocks, "wg.gemm, blocks": p.by_blocks, **by_tile}, flops)
        compare(f"{shape}", {
            "torch, rows": p.torch_by_rows,
            "wg.gemm, rows": lambda: p.ours({"a": "row", "b": "row"}, p.rows, p.columns),
            "wg.gemm, tensors": lambda: p.ours({"a": "tensor", "b": "tensor"}, p.rows[:1], p.columns[:1]),
        }, flops)


torch.manual_seed(1)
print(torch.cuda.get_device_name(), "torch", torch.__version__)
if "--times" not in sys.argv:
    errors()
if "--errors" not in sys.argv:
    times()
end()
