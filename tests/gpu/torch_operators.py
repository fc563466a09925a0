"""wgrun.torch beside PyTorch: times of forward and backward passes, in turn, medians of CUDA events. torch_operators.py; WGRUN_LIBRARY and
PYTHONPATH say where things are."""

import statistics
import sys

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: no GPU")
    sys.exit(77)

import wgrun.torch as wt

TURNS, LAUNCHES = 9, 10


def microseconds(run):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / LAUNCHES * 1e3


def row(name, ours, theirs):
    runs = (ours, theirs)
    for run in runs:
        for _ in range(3):
            run()
    times = [[], []]
    for _ in range(TURNS):
        for i, run in enumerate(runs):
            times[i].append(microseconds(run))
    mine, other = map(statistics.median, times)
    print(f"{name:44} {mine:9.1f} us  torch {other:9.1f} us  speed {other / mine:.3f}", flush=True)


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def both(call, *tensors):
    """Forward and backward."""
    def run():
        out = call(*tensors)
        torch.autograd.grad(out, tensors, torch.ones_like(out))
    return run


functional = torch.nn.functional
for m, n, k in ((8192, 8192, 4096), (4096, 11008, 4096), (512, 4096, 4096), (16, 4096, 4096)):
    x, w = random(m, k), random(n, k)
    row(f"linear {m}x{n}x{k}", lambda: wt.linear(x, w), lambda: functional.linear(x, w))
    leaves = [x.detach().requires_grad_(), w.detach().requires_grad_()]
    row(f"linear {m}x{n}x{k}, forward and backward", both(wt.linear, *leaves), both(functional.linear, *leaves))
x, w = random(16, 512, 128), random(16, 128, 512)
row("matmul 16 x 512x512x128", lambda: wt.matmul(x, w), lambda: torch.matmul(x, w))
x, w, ends = random(8192, 4096), random(8, 4096, 4096), torch.arange(1024, 8193, 1024, device="cuda", dtype=torch.int32)
row("grouped_mm 8 x 1024x4096x4096", lambda: wt.grouped_mm(x, w.mT, offs=ends), lambda: torch._grouped_mm(x, w.mT, offs=ends))
a, b = random(8192, 4096).to(torch.float8_e4m3fn), random(8192, 4096).to(torch.float8_e4m3fn)
one, rows, columns = torch.ones((), device="cuda"), torch.ones(8192, 1, device="cuda"), torch.ones(1, 8192, device="cuda")
row("scaled_mm 8192x8192x4096, tensor", lambda: wt.scaled_mm(a, b.t(), one, one),
    lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16))
row("scaled_mm 8192x8192x4096, rows", lambda: wt.scaled_mm(a, b.t(), rows, columns),
    lambda: torch._scaled_mm(a, b.t(), rows, columns, out_dtype=torch.bfloat16))
for batch, length, heads, dim in ((2, 8192, 16, 128), (4, 4096, 32, 64), (1, 1024, 16, 128)):
    q, k, v = (random(batch, heads, length, dim).requires_grad_() for _ in range(3))
    for causal in (False, True):
        name = f"attention {batch}x{heads}x{length}x{dim}{', causal' if causal else ''}"
        ours, theirs = (lambda *t: wt.attention(*t, is_causal=causal)), (lambda *t: functional.scaled_dot_product_attention(*t, is_causal=causal))
        with torch.no_grad():
            row(name, lambda: ours(q, k, v), lambda: theirs(q, k, v))
        row(name + ", forward and backward", both(ours, q, k, v), both(theirs, q, k, v))
