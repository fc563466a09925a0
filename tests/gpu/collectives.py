"""wgrun.torch.all_gather_matmul and matmul_reduce_scatter on all GPUs of the host (2 to 8), one process each: collectives.py [ROUNDS]
[FILE.json]; WGRUN_LIBRARY and PYTHONPATH say where things are. Results are compared with binary64, also of sizes that fill no tile,
of launches in a row and of a CUDA graph. Then times, the slowest process, beside PyTorch's fused operators, NCCL with torch.mm, and
torch.mm alone, in turns. On one GPU ranks are streams (collective_streams.py), without times. Ends with 77 without a Hopper GPU, with 1
where a result is wrong."""

import json
import os
import statistics
import sys
import tempfile

# For ranks in one process: streams that share no queue, and no kernel that is loaded while others run.
os.environ.update(CUDA_DEVICE_MAX_CONNECTIONS="32", CUDA_MODULE_LOADING="EAGER")

from hopper import device, torch  # first: ends where there is no GPU

import torch.distributed as dist

import collective_streams
import wgrun.torch
from wgrun.torch import _collectives
from wgrun.torch._made import launcher

GPUS = min(torch.cuda.device_count(), 8)
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
LAUNCHES = 10
# M, N and K of all devices together
ROWS = {"all-gather": [(8192, 8192, 8192), (8192, 28672, 4096), (4096, 8192, 8192), (2048, 57344, 8192)],
        "reduce-scatter": [(8192, 8192, 8192), (8192, 4096, 14336), (4096, 8192, 8192), (2048, 8192, 28672)]}
# Of all devices together, but M of one: sizes that fill no tile.
ODD = [(128, 256, 64), (200, 136, 200), (8, 512, 1024), (1000, 1032, 520)]
# Tiles that are timed besides the plan's.
OTHERS = {"all-gather": [{"tile": (128, 256, 64), "buffers": 1}, {"tile": (128, 192, 64), "schedule": "pingpong"},
                         {"tile": (128, 160, 64), "schedule": "pingpong"}, {"tile": (256, 128, 64)}],
          "reduce-scatter": [{"tile": (128, 256, 64), "schedule": "cooperative"}, {"tile": (128, 192, 64), "schedule": "pingpong"},
                             {"tile": (128, 160, 64), "schedule": "pingpong"}]}


def operands(which, m, n, k, rank, dtype=torch.bfloat16):
    """A and B.T of a device."""
    generator = torch.Generator("cuda").manual_seed(rank)
    shapes = ((m // GPUS, k), (n // GPUS, k)) if which == "all-gather" else ((m, k // GPUS), (n, k // GPUS))
    return [torch.randn(*shape, device="cuda", generator=generator).to(dtype) for shape in shapes]


def error(which, m, n, k, rank, d, dtype=torch.bfloat16):
    """Of some rows of D, on one device."""
    parts = [operands(which, m, n, k, r, dtype) for r in range(GPUS)]
    rows = torch.arange(0, d.shape[0], max(1, d.shape[0] // 97 | 1), device="cuda")
    if which == "all-gather":
        want = torch.cat([a for a, _ in parts])[rows].double() @ parts[rank][1].double().T
    else:
        want = sum(a[rows + rank * d.shape[0]].double() @ b.double().T for a, b in parts)
    got = d[rows].double()
    return ((got - want).square().mean() / want.square().mean()).sqrt().item()


def options(which, m, n, a, more):
    rows, columns = (m, n // GPUS) if which == "all-gather" else (m, n)
    of = _collectives._options(which.replace("-", "_"), GPUS, a, "K", rows, columns)
    return (*of[:-1], *more.items()) if more else of  # another tile is of all problems


def kernel(which, m, n, k, a, b, d, more):
    """The kernel alone: A is where the other devices read it."""
    if which == "all-gather":
        memory = _collectives._memory("all_gather_matmul", group(), _collectives._flags(GPUS, a.shape[0]), a.numel() * 2)
        shards = memory.data(tuple(a.shape), a.dtype)
        shards[memory.rank].copy_(a)
        gathered = a.new_empty((_collectives._spacing(a.shape[0]) * GPUS, k))
        return lambda run=launcher("gemm", *options(which, m, n, a, more)): run(
            shards[memory.rank], b, d, rank=memory.rank, flags=memory.flags, shards=shards, gathered=gathered)
    memory = _collectives._memories["matmul_reduce_scatter", group(), torch.cuda.current_device()][-1]
    inboxes = memory.data((memory.size // 2,), a.dtype)
    return lambda run=launcher("gemm", *options(which, m, n, a, more)): run(
        a, b, d, rank=memory.rank, flags=memory.flags, inboxes=inboxes)


def group():
    return dist.group.WORLD.group_name


def ours(which, a, b):
    if which == "all-gather":
        return wgrun.torch.all_gather_matmul(a, [b.T], 0, group(), return_A=False)[1][0]
    return wgrun.torch.matmul_reduce_scatter(a, b.T, "sum", 0, group())


def contenders(which, m, n, k, a, b):
    """Functions by name."""
    empty = lambda *shape: torch.empty(*shape, device="cuda", dtype=a.dtype)  # noqa: E731
    if which == "all-gather":
        whole, d = empty(m, k).normal_(), empty(m, n // GPUS)

        def product():
            torch.mm(whole, b.T, out=d)

        def with_nccl():
            dist.all_gather_into_tensor(whole, a)
            product()

        def fused():
            torch.ops.symm_mem.fused_all_gather_matmul(a, [b.T], 0, group(), return_A=False)
        other = empty(m, n // GPUS)
    else:
        whole, part, other = empty(m, n), empty(m // GPUS, n), empty(m // GPUS, n)

        def product():
            torch.mm(a, b.T, out=whole)

        def with_nccl():
            product()
            dist.reduce_scatter_tensor(part, whole)

        def fused():
            torch.ops.symm_mem.fused_matmul_reduce_scatter(a, b.T, "sum", 0, group())
    out = {"wgrun": lambda: ours(which, a, b), "kernel": kernel(which, m, n, k, a, b, other, {}), "torch fused": fused,
           "NCCL and mm": with_nccl, "mm alone": product}
    for more in OTHERS[which]:
        name = " ".join(str(v) if not isinstance(v, tuple) else "x".join(map(str, v[:2])) for v in more.values())
        out[name] = kernel(which, m, n, k, a, b, other, more)
    return out


def microseconds(bodies):
    """Of a launch, by name, the slowest process: medians of ROUNDS bursts, in turns."""
    times = {name: [] for name in bodies}
    for turn in range(ROUNDS + 1):
        for name, body in bodies.items():
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.barrier()
            torch.cuda._sleep(4_000_000)  # until the host has launched all
            first.record()
            for _ in range(LAUNCHES):
                body()
            last.record()
            torch.cuda.synchronize()
            if turn:
                times[name].append(first.elapsed_time(last) / LAUNCHES * 1e3)
    slowest = torch.tensor([statistics.median(one) for one in times.values()], device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return dict(zip(times, slowest.tolist()))


def worst(value):
    out = torch.tensor([value], device="cuda")
    dist.all_reduce(out, op=dist.ReduceOp.MAX)
    return out.item()


def say(rank, text):
    if rank == 0:
        print(text, flush=True)


def check(rank):
    """Returns whether all results are right."""
    right = True
    for which in ROWS:
        for rows, n, k in ODD:
            for dtype in (torch.bfloat16, torch.float16) if rows == 200 else (torch.bfloat16,):
                m, n_all, k_all = rows * GPUS, n * (GPUS if which == "all-gather" else 1), k * (1 if which == "all-gather" else GPUS)
                a, b = operands(which, m, n_all, k_all, rank, dtype)
                offs = []
                for _ in range(5):
                    d = ours(which, a, b)
                    offs.append(error(which, m, n_all, k_all, rank, d, dtype))
                off = worst(max(offs))
                right = right and off <= 0.005
                say(rank, f"{which:14s} {m:5d} {n_all:5d} {k_all:5d} {str(dtype)[6:]:9s} error {off:.5f} of five launches")
        m, n, k = 512 * GPUS, 1024, 512 * GPUS
        a, b = operands(which, m, n, k, rank)
        want = ours(which, a, b)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            d = ours(which, a, b)
        same = True
        for _ in range(4):
            d.zero_()
            graph.replay()
            same = same and torch.equal(d, want)
            same = same and torch.equal(ours(which, a, b), want)
        same = worst(0.0 if same else 1.0) == 0
        right = right and same
        say(rank, f"{which:14s} a graph and launches in turns: {'the same bits' if same else 'WRONG'}")
    a, b = operands("all-gather", 1024 * GPUS, 512 * GPUS, 256, rank)
    whole, (d, _) = wgrun.torch.all_gather_matmul(a, [b.T, b.T], 0, group())
    gathered = torch.empty_like(whole)
    dist.all_gather_into_tensor(gathered, a)
    same = worst(0.0 if torch.equal(whole, gathered) and torch.equal(d, torch.mm(whole, b.T)) else 1.0)
    say(rank, f"all-gather     A is returned: {torch.equal(whole, gathered)}; D as torch.mm's: {same == 0}")
    return right and worst(0.0 if torch.equal(whole, gathered) else 1.0) == 0


def process(rank, file, out):
    import torch.distributed._symmetric_memory  # noqa: F401 (defines torch.ops.symm_mem)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{file}", rank=rank, world_size=GPUS, device_id=torch.device("cuda", rank))
    right = check(rank)
    rows = []
    for which, sizes in ROWS.items():
        for m, n, k in sizes:
            a, b = operands(which, m, n, k, rank)
            off = worst(error(which, m, n, k, rank, ours(which, a, b)))
            right = right and off <= 0.005
            times = microseconds(contenders(which, m, n, k, a, b))
            rows.append({"collective": which, "shape": [m, n, k], "error": off, "us": times})
            say(rank, f"{which:14s} {m:5d} {n:5d} {k:5d}  " + ", ".join(f"{name} {us:.1f}" for name, us in times.items())
                + f"; fused / wgrun {times['torch fused'] / times['wgrun']:.3f}, error {off:.5f}")
    if rank == 0 and out:
        with open(out, "w") as stream:
            json.dump({"gpus": GPUS, "card": device(), "torch": torch.__version__, "rounds": ROUNDS, "rows": rows}, stream, indent=1)
    dist.destroy_process_group()
    if not right:
        sys.exit(1)


if __name__ == "__main__":
    if GPUS < 2 or not all(torch.cuda.can_device_access_peer(0, other) for other in range(1, GPUS)):
        print(f"{device()}, ranks are streams", flush=True)
        sys.exit(0 if collective_streams.check() else 1)
    print(f"{device()}, {GPUS} GPUs, {ROUNDS} rounds of {LAUNCHES} launches, us", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(process, (os.path.join(folder, "group"), sys.argv[2] if len(sys.argv) > 2 else None),
                                              nprocs=GPUS, start_method="spawn")
