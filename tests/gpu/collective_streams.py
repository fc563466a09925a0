"""Products of several devices on one GPU: each rank is a stream, whose launches use a share of the SMs, and inboxes and flags are
tensors of that GPU. Scopes of fences show on several GPUs alone; the order of what ranks do, sizes and results show here."""

import math
import os
import time
from types import SimpleNamespace
from unittest import mock

from hopper import torch  # first: ends where there is no GPU

import wgrun.torch
from wgrun.torch import _collectives
from wgrun.torch._made import launcher

LAUNCHES = 10
VARIANTS = 3  # of A, in turns: what is left of the previous launch is wrong
PAUSE = 20_000_000  # cycles, until the host has launched all
# M (of all-gather of one rank, of reduce-scatter of D), N, and K of one rank: sizes that fill no tile, and many tiles for each CTA
CASES = [(128, 256, 64), (200, 136, 200), (8, 512, 1024), (1000, 1032, 520), (1024, 2048, 512)]


class Exchange(_collectives._Memory):
    """What a rank knows of the buffers of all ranks."""

    def __init__(self, rank, buffers, words):
        self.rank, self.devices, self.buffers, self.words = rank, len(buffers), buffers, words
        self.size, self.known = buffers[0].numel() - 4 * words, {}
        self.flags = self.views((words,), torch.uint32, 0)

    def views(self, shape, dtype, offset):
        return tuple(b[offset:][:math.prod(shape) * dtype.itemsize].view(dtype).view(shape) for b in self.buffers)


def exchanges(which, devices, m, n, k):
    """Of all ranks, for 16-bit types."""
    words, size = (_collectives._flags(devices, m), 2 * m * k) if which == "all_gather" else _collectives._inbox(devices, m, n)
    words, size = -(-words // 64) * 64, size * (1 if which == "all_gather" else 2)
    buffers = [torch.zeros(4 * words + size, device="cuda", dtype=torch.uint8) for _ in range(devices)]
    return [Exchange(r, buffers, words) for r in range(devices)]


def finish(streams, what, memories):
    """Waits for all; ends the program where they wait for each other for ever."""
    events = [stream.record_event() for stream in streams]
    last = time.monotonic() + 8
    while not all(event.query() for event in events):
        if time.monotonic() > last:
            print(f"HANGS {what}: ranks that ended: {[event.query() for event in events]}", flush=True)
            with torch.cuda.stream(torch.cuda.Stream()):
                print([memory.flags[memory.rank][:32].tolist() for memory in memories], flush=True)
            os._exit(1)
        time.sleep(0.0005)


def reserve(streams, count):
    """Memory for later, in the lists of PyTorch: the driver may wait for all kernels where it is asked for more."""
    for stream in streams:
        with torch.cuda.stream(stream):
            [torch.empty(1 << 19, device="cuda", dtype=torch.uint8) for _ in range(count)]
    torch.cuda.synchronize()


def off(got, want, scale):
    """The worst error of an element, over what rounding allows: at most 1 is right. scale: of the elements."""
    ratio = ((got.double() - want).abs() / (want.abs() / 128 + scale / 64)).max().item()
    return ratio if ratio == ratio and got.shape == want.shape else math.inf


class Product:
    """A case on all ranks: what a rank launches, and what it should get. options: of wg.gemm, more than those of the operators."""

    def __init__(self, which, devices, m, n, k, dtype, **options):
        self.which, self.devices, self.gathers = which, devices, which == "all_gather"
        self.name = f"{which:14s} {devices} ranks {m:5d} {n:5d} {k:5d} {str(dtype)[6:]:9s} {options or ''}"
        rows = m if self.gathers else m * devices  # of A
        generator = torch.Generator("cuda").manual_seed(m + n + k)

        def random(*shape):
            return torch.randn(*shape, device="cuda", generator=generator).to(dtype)
        self.streams = [torch.cuda.Stream() for _ in range(devices)]
        self.memories = exchanges(which, devices, m, n, k)
        self.given = [[random(rows, k) for _ in range(VARIANTS)] for _ in range(devices)]
        self.a = [memory.data((m, k), dtype)[memory.rank] if self.gathers else torch.empty_like(self.given[0][0])
                  for memory in self.memories]
        self.b = [random(n, k) for _ in range(devices)]
        self.d = [torch.empty(m * devices if self.gathers else m, n, device="cuda", dtype=dtype) for _ in range(devices)]
        self.kept = [torch.empty(LAUNCHES, *d.shape, device="cuda", dtype=dtype) for d in self.d]
        spacing = _collectives._spacing(m)
        self.gathered = [torch.empty(devices * spacing, k, device="cuda", dtype=dtype) for _ in self.d] if self.gathers else None
        of = _collectives._options(which, devices, self.a[0], "K", m * devices, n)
        self.run = launcher("gemm", *(of[:-1] if "tile" in options else of), *options.items())
        self.named = {"sms": 112 // devices}  # of 132: clusters of 4 CTAs leave some of them
        if "epilogue" in options:
            self.named["alpha"] = 0.5
            if self.gathers:
                self.named["bias"] = torch.randn(n, device="cuda", generator=generator)
        self.scale = math.sqrt(k * (1 if self.gathers else devices))
        reserve(self.streams, 1)

    def launch(self, rank, number):
        """In the current stream. The other kernels between two launches keep the second one from taking SMs, while the first one
        ends, that another rank needs."""
        memory = self.memories[rank]
        self.a[rank].copy_(self.given[rank][number % VARIANTS])
        self.d[rank].fill_(math.nan)
        exchanged = {"shards": memory.data(self.a[rank].shape, self.a[rank].dtype), "gathered": self.gathered[rank]} \
            if self.gathers else {"inboxes": memory.data((memory.size // 2,), self.a[rank].dtype)}
        self.run(self.a[rank], self.b[rank], self.d[rank], rank=rank, flags=memory.flags, **exchanged, **self.named)
        self.kept[rank][number].copy_(self.d[rank])

    def together(self, order, what):
        """order: of rank and what it does, in the rank's stream."""
        for stream in self.streams:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(PAUSE)
        for rank, body in order:
            with torch.cuda.stream(self.streams[rank]):
                body()
        finish(self.streams, f"{self.name} {what}", self.memories)

    def want(self, rank, number):
        a = [given[number % VARIANTS] for given in self.given]
        if self.gathers:
            d = torch.cat(a).double() @ self.b[rank].double().T
        else:
            m = self.d[rank].shape[0]
            d = sum(one[rank * m:][:m].double() @ b.double().T for one, b in zip(a, self.b))
        d = d * self.named.get("alpha", 1)
        return torch.relu(d + self.named["bias"].double()) if "bias" in self.named else d

    def off(self, numbers):
        """The worst of these launches."""
        worst = 0.0
        for rank in range(self.devices):
            wants = [self.want(rank, number) for number in range(VARIANTS)]
            for number in numbers:
                worst = max(worst, off(self.kept[rank][number], wants[number % VARIANTS], self.scale))
        return worst


def launches(product):
    """Launches in a row: ranks in any order, one of them late, one of them far behind."""
    def order():
        for number in range(LAUNCHES):
            ranks = list(range(product.devices))
            ranks = ranks[number % product.devices:] + ranks[:number % product.devices]
            for rank in reversed(ranks) if number % 2 else ranks:
                if number % 3 == 1 and rank == number % product.devices:
                    yield rank, lambda: torch.cuda._sleep(3_000_000)
                yield rank, lambda rank=rank, number=number: product.launch(rank, number)
    product.together(order(), "in any order")
    worst = product.off(range(LAUNCHES))
    for kept in product.kept:
        kept.fill_(math.nan)
    torch.cuda.synchronize()
    product.together(((rank, lambda rank=rank, number=number: product.launch(rank, number))
                      for rank in reversed(range(product.devices)) for number in range(LAUNCHES)), "one rank after the other")
    return max(worst, product.off(range(LAUNCHES)))


def graphs(product):
    """A graph of each rank, of several launches, replayed in turns with launches."""
    captured = []
    for rank, stream in enumerate(product.streams):
        captured.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(captured[-1], stream=stream):
            for number in range(VARIANTS):
                product.launch(rank, number)
    worst = 0.0
    for turn in range(3):
        for kept in product.kept:
            kept.fill_(math.nan)
        torch.cuda.synchronize()
        number = VARIANTS + turn
        order = [(rank, body) for rank in range(product.devices)
                 for body in (captured[rank].replay, lambda rank=rank: product.launch(rank, number))]
        product.together(order, "graphs")
        worst = max(worst, product.off([*range(VARIANTS), number]))
    return worst


# Calls of operators, one behind the other: rows of a rank, and how many B or the operation. Memory grows in between.
CALLS = {"all_gather": [(64, 1), (64, 1), (128, 1), (64, 1), (64, 2)],
         "reduce_scatter": [(64, "sum"), (64, "sum"), (128, "sum"), (64, "sum"), (64, "avg")]}


def operators(which, devices):
    """wgrun.torch's, of few tiles, with memory of this GPU in place of symmetric memory."""
    buffers, streams = {}, [torch.cuda.Stream() for _ in range(devices)]

    def memory(group_name, words, size):
        if (words, size) not in buffers:
            buffers[words, size] = [torch.zeros(4 * words + size, device="cuda", dtype=torch.uint8) for _ in range(devices)]
            torch.cuda.synchronize()
        return Exchange(int(group_name), buffers[words, size], words)

    def random(*shape):
        return torch.randn(*shape, device="cuda").bfloat16()
    a = [[random(2, rows * (1 if which == "all_gather" else devices), 128) for _ in range(devices)] for rows, _ in CALLS[which]]
    b = [[random(128, 128) for _ in range(2)] for _ in range(devices)]
    reserve(streams, 16)
    out = [[None] * devices for _ in CALLS[which]]
    with mock.patch.multiple(_collectives, _group=lambda *_: SimpleNamespace(size=lambda: devices), _Memory=memory, _memories={}):
        for call, (_, how) in enumerate(CALLS[which]):
            for rank in range(devices):
                with torch.cuda.stream(streams[rank]):
                    if rank == call % devices:
                        torch.cuda._sleep(3_000_000)
                    if which == "all_gather":
                        out[call][rank] = wgrun.torch.all_gather_matmul(a[call][rank], b[rank][:how], 1, str(rank), return_A=how == 1)
                    else:
                        out[call][rank] = wgrun.torch.matmul_reduce_scatter(a[call][rank], b[rank][0], how, 1, str(rank))
        finish(streams, f"operators {which}", [])
    worst = 0.0
    for call, (_, how) in enumerate(CALLS[which]):
        if which == "all_gather":
            whole = torch.cat(a[call], 1)
            for rank, (gathered, d) in enumerate(out[call]):
                right = torch.equal(gathered, whole) if how == 1 else gathered is None
                worst = max(worst, 0.0 if right and len(d) == how else math.inf,
                            *(off(x, whole.double() @ y.double(), math.sqrt(128)) for x, y in zip(d, b[rank])))
        else:
            want = sum(x.double() @ y[0].double() for x, y in zip(a[call], b)) * (1.0 if how == "sum" else 1.0 / devices)
            worst = max(worst, *(off(x, y, math.sqrt(128 * devices)) for x, y in zip(out[call], want.chunk(devices, 1))))
    return worst


def cases(devices):
    for which in CALLS:
        for m, n, k in CASES:
            for dtype in (torch.bfloat16, torch.float16) if m == 200 and devices == 2 else (torch.bfloat16,):
                yield Product(which, devices, m, n, k, dtype)
        yield Product(which, devices, 1000, 1032, 520, torch.bfloat16, tile=(128, 192, 64), schedule="pingpong")
        yield Product(which, devices, 1000, 1032, 520, torch.bfloat16, tile=(128, 256, 64), schedule="cooperative", cluster=2)
        more = (("bias", "column"), ("activation", "relu")) if which == "all_gather" else ()
        yield Product(which, devices, 200, 136, 200, torch.bfloat16, epilogue=(("alpha", True), *more))


def check():
    """Returns whether all results are right."""
    right = True

    def say(name, off):
        nonlocal right
        right = right and off <= 1
        print(f"{name}: {'ok   ' if off <= 1 else 'WRONG'} {off:.3f} of what rounding allows", flush=True)
    for devices in (2, 4):
        for product in cases(devices):
            say(f"{product.name} launches", launches(product))
            say(f"{product.name} graphs  ", graphs(product))
        for which in CALLS:
            say(f"operators, {which}, {devices} ranks", operators(which, devices))
    return right
