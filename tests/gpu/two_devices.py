"""scripts/reduce_scatter.lua and scripts/all_gather.lua on two GPUs of one host: two_devices.py [ROUNDS]; WGRUN_LIBRARY and PYTHONPATH
say where things are. Beside each the same kernel that sends to memory of its own, and has what it waits for from the start: nothing
crosses the link. In processes of their own torch.mm, alone and with NCCL's collective, and torch's fused symm_mem operators. Rows of
each result are compared with binary64. Ends with 77 where there are no two Hopper GPUs, with 1 where a result is wrong."""

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
# M, and N and K: of both devices K for reduce_scatter, N for all_gather
ROWS = {"reduce_scatter": [(8192, 8192, 8192), (8192, 4096, 14336), (4096, 8192, 8192), (2048, 8192, 28672)],
        "all_gather": [(8192, 8192, 8192), (8192, 28672, 4096), (4096, 8192, 8192), (2048, 57344, 8192)]}
LAUNCHES = 10
GPUS = (0, 1)


def operands(which, m, n, k, rank):
    """A and B of a device, as rows of K elements."""
    generator = torch.Generator(f"cuda:{rank}").manual_seed(rank)
    shapes = ((m, k // 2), (n, k // 2)) if which == "reduce_scatter" else ((m // 2, k), (n // 2, k))
    return [torch.randn(*shape, device=f"cuda:{rank}", generator=generator).bfloat16() for shape in shapes]


def error(which, m, n, k, rank, d):
    """Of some rows of D, on one device."""
    parts = [operands(which, m, n, k, r) for r in GPUS]
    if which == "reduce_scatter":
        rows = torch.arange(0, m // 2, 97)
        want = sum((a[rows.to(a.device) + rank * (m // 2)].double() @ b.double().T).cpu() for a, b in parts)
    else:
        rows = torch.arange(0, m, 197)
        a = torch.cat([a.cpu() for a, _ in parts])[rows].to(f"cuda:{rank}")
        want = (a.double() @ parts[rank][1].double().T).cpu()
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


def ours(which, m, n, k):
    kernel = wgrun.load(pathlib.Path(__file__).parents[2] / "scripts" / f"{which}.lua")[0]
    given = [operands(which, m, n, k, rank) for rank in GPUS]
    scatters = which == "reduce_scatter"
    shape = (m // 2, n) if scatters else (m, n // 2)
    received = shape if scatters else (m // 2, k)  # what comes from the other device
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    d = [torch.empty(shape, device=f"cuda:{r}", dtype=torch.bfloat16) for r in GPUS]

    def zeros(*shape):
        return [torch.zeros(shape, device=f"cuda:{r}", dtype=torch.uint32) for r in GPUS]

    def scatter(together):
        # Two inboxes in turn: a device may begin its next launch while the other one still reads.
        inbox = [[torch.empty(received, device=f"cuda:{r}", dtype=torch.bfloat16) for _ in range(2)] for r in GPUS]
        seen, others = zeros(m // 128, n // 256), zeros(m // 128, n // 256)
        for one in (seen if not together else []):
            one.fill_(1)

        def launch(r, number):
            turn = number % 2
            to, tell = (inbox[1 - r][turn], seen[1 - r]) if together else (inbox[r][1 - turn], others[r])
            return (*given[r], d[r], inbox[r][turn], to, seen[r], tell, m, n, k // 2, r, number if together else 1)
        return launch

    def gather(together):
        gathered = [torch.empty(received, device=f"cuda:{r}", dtype=torch.bfloat16) for r in GPUS]
        counts, flags, others = zeros(m // 256), zeros(2), zeros(2)
        for one in (flags if not together else []):
            one.fill_(2**31)

        def launch(r, number):
            a, b = given[r]
            source, tell = (given[1 - r][0], flags[1 - r]) if together else (a, others[r])
            return (a, gathered[r], b, d[r], source, gathered[r], counts[r], flags[r], tell, m, n // 2, k, r, number)
        return launch

    def runner(together):
        arguments, count = (scatter if scatters else gather)(together), [0]

        def run():
            count[0] += 1
            for r in GPUS:
                kernel(*arguments(r, count[0]), grid=sms, device=r, unchecked=True)
        return run
    alone, both = runner(False), runner(True)
    times = microseconds(both), microseconds(alone)
    for one in d:
        one.fill_(float("nan"))
    both()
    return (*times, max(error(which, m, n, k, r, d[r]) for r in GPUS))


def rival(rank, file):
    import torch.distributed as dist
    import torch.distributed._symmetric_memory  # noqa: F401 (defines torch.ops.symm_mem)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{file}", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name

    def empty(*shape):
        return torch.empty(*shape, device="cuda", dtype=torch.bfloat16)

    def bodies(which, m, n, k):
        a, b = operands(which, m, n, k, rank)
        if which == "reduce_scatter":
            whole, part = empty(m, n), empty(m // 2, n)

            def product():
                torch.mm(a, b.T, out=whole)

            def with_nccl():
                product()
                dist.reduce_scatter_tensor(part, whole)

            def fused():
                torch.ops.symm_mem.fused_matmul_reduce_scatter(a, b.T, "sum", 0, group)
        else:
            whole, d = empty(m, k).normal_(), empty(m, n // 2)

            def product():
                torch.mm(whole, b.T, out=d)

            def with_nccl():
                dist.all_gather_into_tensor(whole, a)
                product()

            def fused():
                torch.ops.symm_mem.fused_all_gather_matmul(a, [b.T], 0, group)
        return product, with_nccl, fused

    for which, sizes in ROWS.items():
        for m, n, k in sizes:
            line = []
            for body in bodies(which, m, n, k):
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
                line.append(slowest.item())
            if rank == 0:
                print("%-14s %5d %5d %5d  torch.mm %7.1f, with NCCL %7.1f, fused %7.1f" % (which, m, n, k, *line), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    print(f"{device()}, 2 GPUs, {ROUNDS} rounds of {LAUNCHES} launches, us", flush=True)
    for r in GPUS:  # makes PyTorch let the devices reach each other
        torch.ones(1, device=f"cuda:{r}").to(f"cuda:{1 - r}")
    wrong = False
    for which, sizes in ROWS.items():
        for m, n, k in sizes:
            both, alone, off = ours(which, m, n, k)
            wrong = wrong or not off <= 0.005
            print("%-14s %5d %5d %5d  wgrun %7.1f, with nothing on the link %7.1f, exposed %4.1f %%, error %.5f" %
                  (which, m, n, k, both, alone, (both / alone - 1) * 100, off), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(rival, (os.path.join(folder, "group"),), nprocs=2, start_method="spawn")
    sys.exit(1 if wrong else 0)
