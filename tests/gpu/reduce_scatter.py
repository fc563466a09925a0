"""scripts/reduce_scatter.lua on two GPUs of one host: reduce_scatter.py [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH say where things are.
Beside it the same kernel whose inbox is its own memory, so that nothing crosses the link, and in processes of their own
torch.mm with NCCL's reduce_scatter behind it and torch's symm_mem.fused_matmul_reduce_scatter. Rows of each result are compared
with binary64. Ends with 77 where there are no two Hopper GPUs, with 1 where a result is wrong."""

import os
import pathlib
import statistics
import sys
import tempfile

from hopper import device, torch  # first: ends where there is no GPU

import wgrun

if torch.cuda.device_count() < 2 or not torch.cuda.can_device_access_peer(0, 1):
    print("skipped: no two GPUs that reach each other")
    sys.exit(77)

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
ROWS = [(8192, 8192, 8192), (8192, 4096, 14336), (4096, 8192, 8192), (2048, 8192, 28672)]  # M, N, K of both devices
LAUNCHES = 10
GPUS = (0, 1)


def operands(m, n, k, rank):
    generator = torch.Generator(f"cuda:{rank}").manual_seed(rank)
    a, b = (torch.randn(rows, k // 2, device=f"cuda:{rank}", generator=generator).bfloat16() for rows in (m, n))
    return a, b


def wrong(m, n, k, rank, d):
    """The error of some rows of the part of D that this device has."""
    rows = torch.arange(0, m // 2, 97)
    want = 0
    for other in GPUS:
        a, b = operands(m, n, k, other)
        want = want + (a[rows.to(a.device) + rank * (m // 2)].double() @ b.double().T).cpu()
    got = d[rows.to(d.device)].double().cpu()
    return ((got - want).square().mean() / want.square().mean()).sqrt().item()


def microseconds(body):
    """Of a launch on both devices, the slower one: median of ROUNDS bursts."""
    times = []
    for turn in range(ROUNDS + 1):
        events = []
        for rank in GPUS:
            torch.cuda.synchronize(rank)
        for rank in GPUS:
            with torch.cuda.device(rank):
                torch.cuda._sleep(8_000_000)  # until the host has launched all
                events.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
                events[rank][0].record()
        for _ in range(LAUNCHES):
            body()
        for rank in GPUS:
            with torch.cuda.device(rank):
                events[rank][1].record()
        for rank in GPUS:
            torch.cuda.synchronize(rank)
        if turn:
            times.append(max(first.elapsed_time(last) for first, last in events) / LAUNCHES * 1e3)
    return statistics.median(times)


def ours(m, n, k):
    kernel = wgrun.load(pathlib.Path(__file__).parents[2] / "scripts" / "reduce_scatter.lua")[0]
    given = [operands(m, n, k, rank) for rank in GPUS]
    d = [torch.empty(m // 2, n, device=f"cuda:{r}", dtype=torch.bfloat16) for r in GPUS]
    sms = torch.cuda.get_device_properties(0).multi_processor_count

    def runner(peer):
        # Two inboxes in turn: a device may begin its next launch while the other one still reads.
        inbox = [[torch.empty_like(d[r]) for _ in range(2)] for r in GPUS]
        flags = [torch.zeros(m // 128, n // 256, device=f"cuda:{r}", dtype=torch.int32) for r in GPUS]
        count = [0]

        def run():
            count[0] += 1
            for r in GPUS:
                to = peer(r)
                kernel(*given[r], d[r], inbox[r][count[0] % 2], inbox[to][count[0] % 2], flags[r].view(torch.uint32),
                       flags[to].view(torch.uint32), m, n, k // 2, r, count[0], grid=sms, device=r)
        return run
    alone, both = runner(lambda r: r), runner(lambda r: 1 - r)
    times = microseconds(alone), microseconds(both)
    both()
    return (*times, max(wrong(m, n, k, r, d[r]) for r in GPUS))


def rival(rank, file):
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{file}", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name
    for m, n, k in ROWS:
        a, b = operands(m, n, k, rank)
        whole, part = torch.empty(m, n, device="cuda", dtype=torch.bfloat16), torch.empty(m // 2, n, device="cuda", dtype=torch.bfloat16)

        def product():
            torch.mm(a, b.T, out=whole)

        def behind():
            product()
            dist.reduce_scatter_tensor(part, whole)

        def fused():
            torch.ops.symm_mem.fused_matmul_reduce_scatter(a, b.T, "sum", 0, group)

        line = []
        for body in (product, behind, fused):
            try:
                if body is fused:
                    symmetric.enable_symm_mem_for_group(group)
                body()
                times = []
                for turn in range(ROUNDS + 1):
                    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    dist.barrier()
                    torch.cuda._sleep(4_000_000)
                    first.record()
                    for _ in range(LAUNCHES):
                        body()
                    last.record()
                    torch.cuda.synchronize()
                    if turn:
                        times.append(first.elapsed_time(last) / LAUNCHES * 1e3)
                slowest = torch.tensor([statistics.median(times)], device="cuda")
                dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
                line.append("%8.1f" % slowest.item())
            except Exception as problem:  # not all have symmetric memory
                line.append(f"({type(problem).__name__}: {str(problem)[:60]})")
        if rank == 0:
            print("%5d %5d %5d  torch.mm %s, with NCCL behind it %s, fused %s" % (m, n, k, *line), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    print(f"{device()}, 2 GPUs, {ROUNDS} rounds of {LAUNCHES} launches, us", flush=True)
    for r in GPUS:  # makes PyTorch let the devices reach each other
        torch.ones(1, device=f"cuda:{r}").to(f"cuda:{1 - r}")
    bad = False
    for row in ROWS:
        alone, both, off = ours(*row)
        bad = bad or not off <= 0.005
        print("%5d %5d %5d  wgrun %8.1f, %8.1f with its own inbox, exposed %.1f %%, error %.5f" % (*row, both, alone, (both / alone - 1) * 100, off),
              flush=True)
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(rival, (os.path.join(folder, "group"),), nprocs=2, start_method="spawn")
    sys.exit(1 if bad else 0)
