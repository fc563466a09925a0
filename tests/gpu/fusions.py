"""The fused epilogues of wg.gemm on a GPU, beside PyTorch (cuBLASLt's own epilogues, or a product and a Triton kernel behind it):
errors against binary64, then times. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py; --errors, --times: only these."""

import sys

from bursts import check, compare, end  # first: ends where there is no PyTorch

import torch
import triton
import triton.language as tl

import wgrun


def ceil_div(a, b):
    return (a + b - 1) // b


@triton.jit
def silu_mul_kernel(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * 2 * N + at, mask=at < N).to(tl.float32)
    gate = tl.load(x + row * 2 * N + N + at, mask=at < N).to(tl.float32)
    tl.store(out + row * N + at, (gate * tl.sigmoid(gate) * value).to(tl.bfloat16), mask=at < N)


@triton.jit
def quantize_kernel(x, out, scales, rows, N: tl.constexpr, ROWS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1) * 128 + tl.arange(0, 128)
    inside = (row[:, None] < rows) & (column[None] < N)
    value = tl.load(x + row[:, None] * N + column[None], mask=inside, other=0).to(tl.float32)
    scale = tl.max(tl.abs(value), 1) / 448
    tl.store(out + row[:, None] * N + column[None], (value / scale[:, None]).to(tl.float8e4nv), mask=inside)
    tl.store(scales + tl.program_id(1) * rows + row, scale, mask=row < rows)


@triton.jit
def rms_kernel(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * N + at, mask=at < N, other=0).to(tl.float32)
    tl.store(out + tl.program_id(0), 1 / tl.sqrt(tl.sum(value * value) / N + 1e-6))


def gelu(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


ACTIVATIONS = {None: lambda x: x, "gelu": gelu, "relu": torch.relu, "silu": torch.nn.functional.silu}


class Product:
    """A, B, what epilogues read and what they write."""

    def __init__(self, m, n, k):
        def random(*shape, dtype=torch.bfloat16):
            return torch.randn(*shape, device="cuda", dtype=dtype)

        self.shape = (m, n, k)
        self.a, self.weights, self.residual = random(m, k), random(2 * n, k), random(m, n)
        self.b, self.gate, self.bias = self.weights[:n], self.weights[n:], random(n)
        self.d, self.wide = random(m, n), random(m, 2 * n)
        self.f32_bias, self.gate_bias = self.bias.float(), random(n, dtype=torch.float32)
        self.row_sums = random(m, dtype=torch.float32)
        self.d8 = torch.empty(m, n, device="cuda", dtype=torch.float8_e4m3fn)
        self.d_scales = random(ceil_div(n, 128), ceil_div(m, 4) * 4, dtype=torch.float32)

    def ours(self, epilogue, **options):
        gemm = wgrun.gemm(problem=self.shape, epilogue=epilogue, **options)
        given = {name: value for name, value in (
            ("bias", self.f32_bias), ("gate", self.gate), ("residual", self.residual), ("row_sums", self.row_sums)) if epilogue.get(name)}
        if epilogue.get("quantize"):
            given["d_scales"] = self.d_scales
        if epilogue.get("gate") and epilogue.get("bias"):
            given["gate_bias"] = self.gate_bias
        return lambda: gemm(self.a, self.b, self.d8 if epilogue.get("quantize") else self.d, **given)

    def want(self, epilogue):
        x = self.a.double() @ self.b.double().T
        if epilogue.get("bias"):
            x += self.f32_bias.double()
        x = ACTIVATIONS[epilogue.get("activation")](x)
        if epilogue.get("gate"):
            gate = self.a.double() @ self.gate.double().T
            x *= ACTIVATIONS[epilogue["gate"]](gate + self.gate_bias.double() if epilogue.get("bias") else gate)
        return x + self.residual.double() if epilogue.get("residual") else x

    # What PyTorch does.
    def plain(self):
        return lambda: torch.mm(self.a, self.b.T, out=self.d)

    def biased(self):
        return lambda: torch.addmm(self.bias, self.a, self.b.T, out=self.d)

    def activated(self, use_gelu):
        return lambda: torch._addmm_activation(self.bias, self.a, self.b.T, use_gelu=use_gelu)

    def added(self):
        return lambda: self.d.addmm_(self.a, self.b.T)

    def both(self):
        return lambda: torch.mm(self.a, self.weights.T, out=self.wide)

    def swiglu(self):
        m, n, _ = self.shape
        grid = (m, ceil_div(n, 1024))

        def function():
            torch.mm(self.a, self.weights.T, out=self.wide)
            silu_mul_kernel[grid](self.wide, self.d, n, 1024)

        return function

    def quantized(self):
        m, n, _ = self.shape

        def function():
            torch.mm(self.a, self.b.T, out=self.d)
            quantize_kernel[(ceil_div(m, 32), ceil_div(n, 128))](self.d, self.d8, self.d_scales, m, n, 32)

        return function

    def rms(self):
        m, n, _ = self.shape

        def function():
            self.d.addmm_(self.a, self.b.T)
            rms_kernel[(m,)](self.d, self.row_sums, n, triton.next_power_of_2(n))

        return function


def errors():
    tiles = ({}, {"tile": (128, 128)}, {"tile": (64, 128)}, {"tile": (64, 128), "schedule": "pingpong"}, {"tile": (128, 128), "cluster": 2})
    for shape in ((1000, 1040, 1120), (300, 272, 4096), (33, 4112, 520)):
        p = Product(*shape)
        for epilogue in (
            {"bias": "column", "activation": "gelu"}, {"bias": "column", "activation": "silu"}, {"residual": True},
            {"bias": "column", "activation": "gelu", "residual": True}, {"gate": "silu"}, {"gate": "gelu", "residual": True}, {"gate": "silu", "bias": "column"},
            {"residual": True, "row_sums": "rms"}, {"quantize": "1x128"}, {"gate": "silu", "quantize": "1x128", "row_sums": "rms"},
        ):
            want = p.want(epilogue)
            for options in tiles if shape[0] == 1000 else ({},):
                name = f"{shape} {epilogue} {options}"
                for tensor in (p.d, p.d8.view(torch.uint8), p.d_scales, p.row_sums):
                    tensor.fill_(255 if tensor.dtype == torch.uint8 else float("nan"))
                p.ours(epilogue, **options)()
                if epilogue.get("quantize"):
                    scales = p.d_scales.T[: shape[0]].repeat_interleave(128, 1)[:, : shape[1]]
                    check(name, p.d8.double() * scales.double(), want, 0.03)
                else:
                    check(name, p.d, want)
                if epilogue.get("row_sums"):
                    check(f"{name}, rms", p.row_sums, 1 / (want.pow(2).mean(1) + 1e-6).sqrt(), 1e-5)
                    first = p.row_sums.clone()
                    p.ours(epilogue, **options)()
                    check(f"{name}, rms once more", p.row_sums, first.double(), 1e-30)


def tails():
    """The worst errors of gelu, relative ones in units of 2^-8: ours and cuBLASLt's."""
    p = Product(512, 1024, 64)
    want = p.want({"bias": "column", "activation": "gelu"})
    p.ours({"bias": "column", "activation": "gelu"})()
    theirs = p.activated(True)()
    for low, high in ((-1e9, -3), (-3, -1), (-1, 0), (0, 1e9)):
        x = p.a.double() @ p.b.double().T + p.f32_bias.double()
        at = (x > low) & (x <= high) & (want.abs() > 1e-30)
        for name, got in (("wg.gemm", p.d), ("cuBLASLt", theirs)):
            worst = ((got.double() - want).abs()[at] / (want.abs()[at] * 2**-8)).max().item()
            absolute = (got.double() - want).abs()[at].max().item()
            print(f"gelu, {low:g} < x <= {high:g}, {name}: worst error {worst:.3g} * 2^-8, absolute {absolute:.3g}", flush=True)


def times():
    for shape in ((4096, 4096, 4096), (8192, 8192, 512), (8192, 8192, 2048), (4096, 14336, 4096), (4096, 4096, 14336), (64, 14336, 4096)):
        p, flops = Product(*shape), 2 * shape[0] * shape[1] * shape[2]
        bias = {"bias": "column"}
        compare(f"{shape}", {
            "torch, bias gelu": lambda: p.activated(True), "wg.gemm, bias gelu": lambda: p.ours({**bias, "activation": "gelu"}),
            "torch, bias relu": lambda: p.activated(False), "wg.gemm, bias relu": lambda: p.ours({**bias, "activation": "relu"}),
            "torch, bias": p.biased, "wg.gemm, bias": lambda: p.ours(bias),
            "torch, plain": p.plain, "wg.gemm, plain": lambda: p.ours({}),
        }, flops)
        compare(f"{shape}", {"torch, in place": p.added, "wg.gemm, residual": lambda: p.ours({"residual": True})}, flops)
        compare(f"{shape}", {
            "torch, in place, Triton rms": p.rms, "wg.gemm, residual, rms": lambda: p.ours({"residual": True, "row_sums": "rms"}),
        }, flops)
        compare(f"{shape}", {
            "torch, Triton quantise": p.quantized, "wg.gemm, quantise": lambda: p.ours({"quantize": "1x128"}),
        }, flops)
        compare(f"{shape}, twice", {
            "torch, Triton swiglu": p.swiglu, "wg.gemm, swiglu": lambda: p.ours({"gate": "silu"}),
            "wg.gemm, swiglu, biases": lambda: p.ours({"gate": "silu", "bias": "column"}),
            "wg.gemm, swiglu, quantise": lambda: p.ours({"gate": "silu", "quantize": "1x128"}), "torch, both products": p.both,
        }, 2 * flops)
        del p
        torch.cuda.empty_cache()


def main():
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    if "--times" not in sys.argv:
        errors()
        tails()
    if "--errors" not in sys.argv:
        times()
    end()


if __name__ == "__main__":
    main()
