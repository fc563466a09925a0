"""wg.gemm for the shapes of language models at all numbers of rows, beside PyTorch (cuBLASLt), on a GPU: serving.py [bf16] [e4m3] [blocks];
blocks: e4m3 with block scales. Graphs of launches that take copies of the weights in turn, which together do not fit in the
L2 cache, in alternating bursts; each result is compared with PyTorch's. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py. Ends with 77
where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import math
import random
import statistics
import sys

from hopper import graph_of, microseconds, torch  # first: ends where there is no GPU

import wgrun

LAYERS = {
    "bf16": ((4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336), (10240, 8192), (8192, 28672), (7168, 2048), (24576, 1536),
             (1280, 8192), (3072, 768), (768, 3072), (151936, 896), (5120, 5120), (2112, 7168), (1000, 2048)),
    "e4m3": ((4096, 4096), (6144, 4096), (4096, 14336), (8192, 8192), (7168, 2048), (1280, 8192), (2112, 7168)),
    "blocks": ((2112, 7168), (24576, 1536), (32768, 512), (7168, 16384), (4096, 7168), (7168, 2048)),
}
ROWS = {"bf16": (1, 8, 16, 32, 64, 100, 128, 160, 192, 256, 320, 384, 512, 1024, 2048, 4096), "e4m3": (1, 16, 64, 128, 256, 512, 1024, 4096),
        "blocks": (16, 64, 128, 256, 512, 1024, 4096)}
MOST = {"bf16": 0.003, "e4m3": 0.01, "blocks": 0.01}  # of the error over the result: both round, and add up in another order


def ceil_div(a, b):
    return (a + b - 1) // b


def copies(weights):
    return [weights] + [weights.clone() for _ in range(min(4, ceil_div(200_000_000, weights.nbytes)) - 1)]


def products(kind, m, n, k):
    """Launches of ours and of PyTorch's, one for each copy of the weights, and what gives both results."""
    a, b = torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda")
    d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    if kind == "bf16":
        a, b, other = a.bfloat16(), b.bfloat16(), torch.empty_like(d)
        gemm = wgrun.gemm(problem=(m, n, k))
        ours = [lambda b=b: gemm(a, b, d) for b in copies(b)]
        theirs = [lambda b=b: torch.mm(a, b.t(), out=other) for b in copies(b)]
        return ours, theirs, d
    a, b = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
    if kind == "e4m3":
        rows, columns = torch.rand(m, device="cuda") + 0.5, torch.rand(n, device="cuda") + 0.5
        gemm = wgrun.gemm(dtype="e4m3", problem=(m, n, k), scales={"a": "row", "b": "row"})
        ours = [lambda b=b: gemm(a, b, d, a_scales=rows, b_scales=columns) for b in copies(b)]
        theirs = [lambda b=b: torch._scaled_mm(a, b.t(), scale_a=rows[:, None], scale_b=columns[None], out_dtype=torch.bfloat16) for b in copies(b)]
        return ours, theirs, d
    from torch.nn.functional import ScalingType, scaled_mm

    of_a = torch.rand(ceil_div(k, 128), ceil_div(m, 4) * 4, device="cuda") + 0.5
    of_b = torch.rand(ceil_div(n, 128), ceil_div(k, 128), device="cuda") + 0.5
    padded = torch.nn.functional.pad(of_b, (0, -ceil_div(k, 128) % 4))[:, : ceil_div(k, 128)]
    gemm = wgrun.gemm(dtype="e4m3", problem=(m, n, k), scales={"a": "1x128", "b": "128x128"})
    ours = [lambda b=b: gemm(a, b, d, a_scales=of_a, b_scales=of_b) for b in copies(b)]
    theirs = [lambda b=b: scaled_mm(
        a, b.t(), scale_a=of_a.t()[:m], scale_recipe_a=ScalingType.BlockWise1x128, scale_b=padded.t(),
        scale_recipe_b=ScalingType.BlockWise128x128, output_dtype=torch.bfloat16) for b in copies(b)]
    return ours, theirs, d


def measure(kind, m, n, k):
    """Prints a row; returns the ratio of the speeds, and whether the result is wrong."""
    ours, theirs, d = products(kind, m, n, k)
    ours[0]()
    want, got = theirs[0]().float(), d.float()
    error = ((got - want).pow(2).mean() / want.pow(2).mean()).sqrt().item()
    first = graph_of(ours, 4)
    microseconds(first, 4)
    launches = max(len(ours), min(200, round(1500 / microseconds(first, 4))))
    graphs, times = [graph_of(functions, launches) for functions in (ours, theirs)], [[], []]
    for turn in range(8):
        for i in random.sample((0, 1), 2):
            us = microseconds(graphs[i], launches)
            if turn:
                times[i].append(us)
    ratio = statistics.median(b / a for a, b in zip(*times))
    wrong = not error <= MOST[kind]
    print(f"{kind} {m:5} x {n:6} x {k:5}: {statistics.median(times[0]):7.1f} us, torch {statistics.median(times[1]):7.1f}, {ratio:.3f}, "
          f"error {error:.5f}{' WRONG' if wrong else ''}", flush=True)
    return ratio, wrong


def main():
    torch.manual_seed(3)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    wrong = False
    for kind in sys.argv[1:] or LAYERS:
        rows = [measure(kind, m, n, k) for m in ROWS[kind] for n, k in LAYERS[kind] if m * n < 3e8]
        ratios = [ratio for ratio, _ in rows]
        wrong = wrong or any(bad for _, bad in rows)
        print(f"{kind}: geometric mean of {len(rows)} rows {math.exp(sum(map(math.log, ratios)) / len(rows)):.3f}, the least {min(ratios):.3f}")
    sys.exit(1 if wrong else 0)


main()
