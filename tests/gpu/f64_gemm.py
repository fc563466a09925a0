"""wg.gemm_f64 on a GPU beside PyTorch (cuBLAS's DGEMM): errors of both against sums of twice the bits, of some rows and columns, then times
of CUDA graphs, of all kernels together and of each, alone and in their turn. WGRUN_LIBRARY and PYTHONPATH as for pytorch.py; --errors: no
times; --tiles: also of the integer products by tile; the name of a file gets the rows as JSON. Ends with 77 where there is no PyTorch or no
Hopper GPU, with 1 where something is wrong."""

import functools
import json
import statistics
import sys
import time

from bursts import burst, end, failed, shuffled, torch
from hopper import graph_of, microseconds

import wgrun

KERNELS = ("residues_a", "residues_b", "kernel", "reconstruction")
rows = []


@functools.cache
def steps(**options):
    text = ", ".join(f"{name} = {value}" for name, value in options.items())
    return list(wgrun.loads(f'return require("wgrun").gemm_f64 {{ {text} }}:steps()'))


def product(made, a, b, d, moduli=14):
    """The launches of steps(), with one workspace."""
    (m, n), k = d.shape, a.numel() // d.shape[0]
    columns, padded = -(-n // 16) * 16, -(-k // 16) * 16
    shapes = ((moduli * m, padded), torch.int8), ((moduli * columns, padded), torch.int8), ((moduli * m, columns), torch.uint8), \
        ((m,), torch.int32), ((columns,), torch.int32)
    workspace = tuple(torch.empty(shape, dtype=dtype, device="cuda") for shape, dtype in shapes)
    return [functools.partial(step, a, b, d, workspace=workspace) for step in made]


def all_of(launches):
    for launch in launches:
        launch()


def matrix(rows, columns, phi):
    """Normally distributed numbers, or with phi numbers of different sizes: 99 of 100 exponents are within 2.6 phi."""
    x = torch.randn(rows, columns, device="cuda", dtype=torch.float64)
    return x if phi == 0 else (torch.rand_like(x) - 0.5) * torch.exp(phi * x)


def halves(x):
    """x as a sum of two numbers of 26 bits (Dekker)."""
    large = x * (2.0**27 + 1)
    high = large - (large - x)
    return high, x - high


def sum_of(x, y):
    """x + y, and what rounding it has lost (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def exact(a, b):
    """a @ b.T as a sum of two matrices, which has twice the bits; and the product of the magnitudes."""
    a, b = a[:, None, :], b[None, :, :]
    total = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    rest = ((a1 * b1 - total) + a1 * b2 + a2 * b1) + a2 * b2
    size = total.abs().sum(-1)
    while total.shape[-1] > 1:
        if total.shape[-1] % 2:
            total, rest = (torch.nn.functional.pad(x, (0, 1)) for x in (total, rest))
        total, lost = sum_of(total[..., ::2], total[..., 1::2])
        rest = rest[..., ::2] + rest[..., 1::2] + lost
    return total[..., 0], rest[..., 0], size


def errors(shape, phi, samples=48):
    m, n, k = shape
    a, b = matrix(m, k, phi), matrix(n, k, phi)
    some_rows, some_columns = (torch.randperm(count, device="cuda")[:samples] for count in (m, n))
    want, rest, size = exact(a[some_rows], b[some_columns])

    def error(d):
        difference = ((d[some_rows][:, some_columns] - want) - rest).abs()
        return (difference / size).max().item(), (difference / want.abs()).max().item(), (difference / size).mean().item()

    results = {"cuBLAS": error(a @ b.t())}
    for moduli in (13, 14, 15, 16):
        d, again = (torch.full((m, n), float("nan"), device="cuda", dtype=torch.float64) for _ in range(2))
        for step in steps(moduli=moduli):
            step(a, b, d)
        results[f"{moduli} moduli"] = error(d)
    for step in steps(moduli=14, a_major='"MN"', b_major='"MN"'):
        step(a.t().contiguous(), b.t().contiguous(), again)
    for step in steps(moduli=14):
        step(a, b, d)
    if not torch.equal(d, again):
        failed.append(f"{shape}: MN-major")
    name = "x".join(map(str, shape))
    for key, values in results.items():
        print(f"{name} phi {phi} {key}: of the magnitudes at most {values[0]:.3g}, in the mean {values[2]:.3g}; of the element at most {values[1]:.3g}",
              flush=True)
    rows.append({"errors": name, "phi": phi, **results})
    if not results["14 moduli"][0] < 2 * results["cuBLAS"][0] + 2.0**-52 and phi == 0:
        failed.append(name)


def odd():
    """Edges, numbers that are out of range, infinities and NaN."""
    for m, n, k in ((1, 1, 1), (3, 5, 7), (130, 17, 1000), (129, 257, 33), (64, 4096, 100)):
        a, b = matrix(m, k, 1), matrix(n, k, 1)
        for scale in (1.0, 1e-290, 1e290):
            d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float64)
            for step in steps(moduli=14):
                step(a * scale, b / scale, d)
            want, rest, size = (x.cpu() for x in exact(a * scale, b / scale))
            if not (((d.cpu() - want) - rest).abs() / size).max() < 2.0**-45:
                failed.append(f"{m}x{n}x{k}, {scale}")
    a, b, d = matrix(40, 64, 0), matrix(24, 64, 0), torch.empty(40, 24, device="cuda", dtype=torch.float64)
    a[3, 5], a[4], b[7, 9], b[8] = float("inf"), 0, float("nan"), 0
    for step in steps(moduli=14):
        step(a, b, d)
    wrong = torch.zeros(40, 24, dtype=torch.bool, device="cuda")
    wrong[3], wrong[:, 7] = True, True
    if not torch.equal(d.isnan(), wrong) or not (d[4, 0] == 0 and d[0, 8] == 0):
        failed.append("infinities, NaN and zeros")


def medians(functions, rounds):
    """Microseconds by function: graphs of about 20 ms, in any order, and graphs of at most 2 ms or of one launch, after a pause."""
    graphs = {}
    for name, function in functions.items():
        function()
        launches = max(2, round(20000 / max(20, burst(function, 2))))
        graphs[name] = [(graph_of([function], count), count) for count in (launches, max(1, launches // 10))]
    found = {name: ([], []) for name in functions}
    for kind, pause in enumerate((0, 0.03)):
        for _ in range(rounds):
            for name in shuffled(functions):
                time.sleep(pause)
                found[name][kind].append(microseconds(*graphs[name][kind]))
    return {name: tuple(map(statistics.median, both)) for name, both in found.items()}


def in_turn(launches, rounds):
    """Microseconds of each launch where they follow each other, and of all."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(len(launches) + 1)]
    spent = []
    for _ in range(rounds):
        torch.cuda._sleep(2000000)
        events[0].record()
        for launch, event in zip(launches, events[1:]):
            launch()
            event.record()
        events[-1].synchronize()
        spent.append([first.elapsed_time(last) * 1e3 for first, last in zip(events, events[1:])])
    return [statistics.median(of) for of in zip(*spent)]


def times(shape, rounds=5, major="K"):
    m, n, k = shape
    a, b = matrix(m, k, 0), matrix(n, k, 0)
    d = torch.empty(m, n, device="cuda", dtype=torch.float64)
    functions = {"cuBLAS": lambda: torch.mm(a, b.t(), out=d)}
    if major == "MN":
        a, b = a.t().contiguous(), b.t().contiguous()
        functions = {"cuBLAS": lambda: torch.mm(a.t(), b, out=d)}
    for moduli in (14, 15, 16):
        made = product(steps(moduli=moduli, a_major=f'"{major}"', b_major=f'"{major}"'), a, b, d, moduli)
        functions[f"{moduli} moduli"] = functools.partial(all_of, made)
        functions.update(zip(KERNELS, made) if moduli == 14 else ())
    title = "x".join(map(str, shape)) + (" MN-major" if major == "MN" else "")
    report(title, medians(functions, rounds), 2 * m * n * k)
    turns = dict(zip(KERNELS, in_turn([functions[name] for name in KERNELS], 2 * rounds)))
    print(f"{title:24} in turn: " + ", ".join(f"{name} {us:.1f} us" for name, us in turns.items()), flush=True)
    rows.append({"in turn": title, **turns})


def tiles(shape, rounds=3):
    """Of the integer products, of remainders of normally distributed numbers; and of zeros."""
    m, n, k = shape
    a, b, d = matrix(m, k, 0), matrix(n, k, 0), torch.empty(m, n, device="cuda", dtype=torch.float64)
    functions = {}
    for tile, schedule, cluster in (((128, 160), "pingpong", 1), ((128, 192), "pingpong", 1), ((128, 192), "pingpong", 2),
                                    ((128, 256), "cooperative", 1), ((128, 256), "cooperative", 2), ((256, 128), "cooperative", 1)):
        made = steps(moduli=14, tile=f"{{ {tile[0]}, {tile[1]} }}", schedule=f'"{schedule}"', cluster=cluster)
        launches = product(made, a, b, d)
        all_of(launches)
        functions[f"{tile} {schedule} {cluster}"] = launches[2]
    launches = product(steps(moduli=14, tile="{ 128, 192 }"), torch.zeros_like(a), b, d)
    all_of(launches)
    functions["(128, 192) pingpong 1, zeros"] = launches[2]
    report("x".join(map(str, shape)) + ", 14 integer products", medians(functions, rounds), 14 * 2 * m * n * k)


def report(title, found, flops):
    for name, (hot, cool) in found.items():
        print(f"{title:24} {name:32} | {hot:9.1f} us {flops / hot / 1e6:7.1f} TFLOP/s | {cool:9.1f} us {flops / cool / 1e6:7.1f} TFLOP/s", flush=True)
    rows.append({"times": title, **found})


if __name__ == "__main__":
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    odd()
    for shape in ((1024, 1024, 1024), (4096, 4096, 4096), (512, 512, 16384)):
        for phi in (0, 1, 2, 4) if shape[0] == 1024 else (0, 1):
            errors(shape, phi)
    if "--errors" not in sys.argv:
        for shape in ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 4096, 16384), (8192, 8192, 1024)):
            times(shape)
        times((2048, 2048, 2048), major="MN")
        times((8192, 8192, 8192), 3, major="MN")
    if "--tiles" in sys.argv:
        tiles((4096, 4096, 4096))
        tiles((8192, 8192, 8192))
    for path in sys.argv[1:]:
        if not path.startswith("--"):
            with open(path, "w") as file:
                json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, file, indent=1)
    end()
