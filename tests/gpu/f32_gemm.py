"""wg.gemm with f32 operands, by parts of bf16 and tf32, on a GPU beside PyTorch (cuBLAS): errors of both against binary64, then
times in bursts, with and without the splitting of both operands. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py; --errors: no
times. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where something is wrong."""

import sys

from bursts import compare, end, failed, torch

import wgrun

torch.backends.cuda.matmul.allow_tf32 = False
PARTS = {"bf16x9": 3, "bf16x6": 3, "bf16x3": 2, "3xtf32": 2}
splitters = {}


def split(matrix, precision):
    """The parts of a matrix, and a function that makes them again."""
    if precision not in splitters:
        splitters[precision] = wgrun.loads(f'return require("wgrun").splitter {{ precision = "{precision}" }}').only
    rows, columns = matrix.shape
    dtype, unit = (torch.float32, 4) if precision == "3xtf32" else (torch.bfloat16, 8)
    parts = torch.empty(PARTS[precision] * rows, -(-columns // unit) * unit, device="cuda", dtype=dtype)
    parts = wgrun.view(parts, "tf32") if dtype == torch.float32 else parts
    again = lambda: splitters[precision](matrix, parts)
    again()
    return parts, again


class Product:
    def __init__(self, m, n, k, positive=False):
        self.shape = (m, n, k)
        self.a, self.b = (torch.rand(rows, k, device="cuda") if positive else torch.randn(rows, k, device="cuda") for rows in (m, n))
        self.d = torch.full((m, n), float("nan"), device="cuda")

    def ours(self, precision, whole=False, **options):
        gemm = wgrun.gemm(dtype="f32", precision=precision, problem=self.shape, **options)
        (a, split_a), (b, split_b) = split(self.a, precision), split(self.b, precision)
        if not whole:
            return lambda: gemm(a, b, self.d)
        return lambda: (split_a(), split_b(), gemm(a, b, self.d))

    def error(self, got, rows=256):
        """The root mean square of the error of the first rows over that of the result, and its mean over that of the magnitudes."""
        want = self.a[:rows].double() @ self.b.double().T
        wrong = got[:rows].double() - want
        return (wrong.pow(2).mean() / want.pow(2).mean()).sqrt().item(), (wrong.mean() / want.abs().mean()).item()


def errors(shapes):
    for positive in (False, True):
        for shape in shapes:
            p = Product(*shape, positive=positive)
            name = "x".join(map(str, shape)) + (", positive numbers" if positive else "")
            base = p.error(p.a @ p.b.T)
            print(f"{name}, SGEMM: error {base[0]:.3g}, mean {base[1]:.3g}", flush=True)
            for precision in PARTS:
                p.d.fill_(float("nan"))
                p.ours(precision)()
                error = p.error(p.d)
                if not error[0] < (5e-7 if PARTS[precision] == 3 or precision == "3xtf32" else 2e-5):
                    failed.append(name)
                print(f"{name}, {precision}: error {error[0]:.3g}, mean {error[1]:.3g}", flush=True)


def times(shapes, precisions=("bf16x6", "bf16x9", "3xtf32", "bf16x3"), rounds=5):
    for shape in shapes:
        p = Product(*shape)
        functions = {"cuBLAS SGEMM": lambda: lambda: torch.matmul(p.a, p.b.T)}
        for precision in precisions:
            functions[precision] = lambda precision=precision: p.ours(precision)
            functions[f"{precision}, with splitting"] = lambda precision=precision: p.ours(precision, whole=True)
        m, n, k = shape
        compare("x".join(map(str, shape)), functions, 2 * m * n * k, rounds=rounds)


if __name__ == "__main__":
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    errors([(300, 200, 100), (1000, 1000, 1000), (4096, 4096, 4096), (512, 512, 32768)])
    if "--errors" not in sys.argv:
        times([(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 4096, 32768)])
    end()
