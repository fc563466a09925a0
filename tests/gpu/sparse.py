"""wg.gemm{ sparse = "A" } beside cuSPARSELt through PyTorch, on a GPU: sparse.py [--search] [DTYPE...]; WGRUN_LIBRARY and
PYTHONPATH say where things are. Each result is compared with binary64; both are replayed in turn from CUDA graphs, hot (bursts
of some 15 ms after each other) and cool (4 launches after a pause). cuSPARSELt is the fastest of the algorithms of ALGORITHMS,
or with --search of all. Ends with 77 where there is no PyTorch or no Hopper GPU, with 1 where a result is wrong."""

import functools
import statistics
import sys
import time

from hopper import torch  # first: ends where there is no GPU

import wgrun

torch.manual_seed(1)
torch.zeros(1, device="cuda")
TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn, "s8": torch.int8, "s32": torch.int32}
RESULT = {"bf16": "bf16", "f16": "f16", "e4m3": "bf16", "s8": "s8"}
SHAPES = ((8192, 8192, 8192), (4096, 4096, 4096), (2048, 8192, 8192))
VARIANTS = (
    {},
    {"tile": (128, 256)},
    {"tile": (256, 192), "halves": False},
    {"tile": (256, 192), "halves": True},
    {"tile": (256, 176), "halves": False},
    {"tile": (256, 176), "halves": True},
)
# Whether B has rows of N, whether the result is transposed, and the number of the algorithm: those that a search found.
ALGORITHMS = {
    "bf16": ((True, False, 3), (True, False, 6)), "f16": ((False, True, 6), (True, True, 9)),
    "e4m3": ((False, True, 8), (False, False, 6)), "s8": ((False, False, 4), (False, True, 2)),
}
LAUNCHES = 4  # of a graph


def random(rows, columns, dtype):
    if dtype == "s8":
        return torch.randint(-64, 64, (rows, columns), device="cuda", dtype=torch.int8)
    return torch.randn(rows, columns, device="cuda").to(TORCH[dtype])


@functools.cache
def script(text):
    return wgrun.loads(text).only


@functools.cache
def product(dtype, result, problem, options):
    return wgrun.gemm(sparse="A", dtype=dtype, d=result, problem=problem, **{k: list(v) if k == "tile" else v for k, v in options})


class Problem:
    """Random operands; A is pruned and compressed on the device."""

    def __init__(self, M, N, K, dtype):
        self.shape, self.dtype = (M, N, K), dtype
        dense, self.B = random(M, K, dtype), random(N, K, dtype)
        compressor = script(f'return require("wgrun").compressor {{ dtype = "{dtype}", prune = true }}')
        words = -(-K * dense.element_size() // 256) * (4 if dense.element_size() == 1 else 2)
        self.values = torch.empty(M, K // 2, device="cuda", dtype=TORCH[dtype])
        self.metadata = torch.empty(-(-M // 64), words, 128, device="cuda", dtype=torch.uint32)
        compressor(dense, self.values, self.metadata)
        # The two of largest magnitude of each four, of equal ones the first.
        magnitude = dense.float().abs().view(M, -1, 4)
        kept = magnitude.sort(dim=2, descending=True, stable=True).indices[..., :2]
        mask = torch.zeros_like(magnitude, dtype=torch.bool).scatter_(2, kept, True).view(M, K)
        self.A = torch.where(mask, dense.float(), 0.0).to(TORCH[dtype])

    def ours(self, options, result):
        gemm = product(self.dtype, result, SHAPES[0] if "tile" in options else self.shape, tuple(options.items()))
        D = torch.zeros(self.shape[0], self.shape[1], device="cuda", dtype=TORCH[result])
        return lambda: gemm(self.values, self.B, D, metadata=self.metadata), D

    def theirs(self, result, search):
        compressed = torch._cslt_compress(self.A)
        named = {} if result == self.dtype else {"out_dtype": TORCH[result]}
        tried = ALGORITHMS[self.dtype]
        if search:
            tried = [(n, t, i) for n in (False, True) for t in (False, True) for i in range(12)]
        by_layout = {False: self.B.t(), True: self.B.t().contiguous() if self.B.element_size() == 2 else None}
        out = {}
        for rows_of_n, transposed, number in tried:
            B = by_layout[rows_of_n]
            if B is None:
                continue

            def call(B=B, transposed=transposed, number=number):
                return torch._cslt_sparse_mm(compressed, B, alg_id=number, transpose_result=transposed, **named)

            try:
                out[f"cuSPARSELt {'NK'[not rows_of_n]}{' transposed' if transposed else ''} {number}"] = graph_of(call)
            except RuntimeError:
                pass  # no such algorithm for these types
        return out


def graph_of(body):
    body()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            body()

    def replay(_operands=body):  # what the graph reads and writes lives as long as it
        graph.replay()

    return replay


def microseconds(replay, replays=1):
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(100000)
    before.record()
    for _ in range(replays):
        replay()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) / (LAUNCHES * replays) * 1e3


def right(dtype):
    """Edges, several tiles a CTA, and halves, against binary64."""
    good = True
    for M, N, K in ((1000, 1040, 1120), (6000, 3184, 544), (72, 16, 96)):
        problem = Problem(M, N, K, dtype)
        want = problem.A.double() @ problem.B.double().T
        for options in VARIANTS:
            result = "s32" if dtype == "s8" else RESULT[dtype]
            body, D = problem.ours(options, result)
            body()
            error = ((D.double() - want).abs() / (want.abs() + K**0.5)).max().item()
            fine = error <= {"bf16": 2**-8, "f16": 2**-10, "e4m3": 2**-7, "s8": 0}[dtype]
            good = good and fine
            if not fine:
                print(f"WRONG: {dtype} {M}x{N}x{K} {options}: worst error {error:.3g}")
    return good


def shuffled(graphs):
    """The chip is as hot as what ran before has left it."""
    return [list(graphs)[i] for i in torch.randperm(len(graphs)).tolist()]


def compare(dtype, shape, search):
    problem, result = Problem(*shape, dtype), RESULT[dtype]
    graphs = problem.theirs(result, search)
    first = sorted(graphs, key=lambda name: min(microseconds(graphs[name]) for _ in range(2)))[:2]
    graphs = {name: graphs[name] for name in first}
    for options in VARIANTS:
        graphs["wg.gemm " + " ".join(f"{k}={v}" for k, v in options.items())] = graph_of(problem.ours(options, result)[0])
    replays = max(1, round(15000 / LAUNCHES / microseconds(graphs[first[0]])))
    hot, cool = {name: [] for name in graphs}, {name: [] for name in graphs}
    for _ in range(7):
        for name in shuffled(graphs):
            hot[name].append(microseconds(graphs[name], replays))
    for _ in range(5):
        for name in shuffled(graphs):
            time.sleep(0.015)
            cool[name].append(microseconds(graphs[name]))
    operations = 2e-6 * shape[0] * shape[1] * shape[2]
    line = f"{'x'.join(map(str, shape))} {dtype}->{result}"
    for times, kind in ((hot, "hot"), (cool, "cool")):
        best = min(first, key=lambda name: statistics.median(times[name]))
        for name in graphs:
            middle = statistics.median(times[name])
            ratio = statistics.median(a / b for a, b in zip(times[best], times[name]))
            print(f"{line} {kind:4s} {name:44s} {middle:8.1f} us {operations / middle:7.0f} TFLOP/s  {ratio:.3f}", flush=True)


def main():
    search = "--search" in sys.argv
    dtypes = [name for name in sys.argv[1:] if name in RESULT] or list(RESULT)
    if not all([right(dtype) for dtype in dtypes]):
        sys.exit(1)
    print("right")
    for shape in SHAPES:
        for dtype in dtypes:
            compare(dtype, shape, search)


main()
