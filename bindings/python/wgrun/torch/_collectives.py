"""Products of several GPUs, one process each: all_gather_matmul, matmul_reduce_scatter."""

from __future__ import annotations

from typing import Any, List, Optional

import torch
from torch import Tensor

from ._made import DTYPES, bucket, dtype_of, launcher, missing, operand, operation, ready, untraced, wrong
from ._products import _flat, _unit
from ._typed import typed

_ALIGNMENT = 1 << 21  # of the memory that grows
_ROWS = 512  # a tile's, or those of a cluster of tiles: a divisor of this
_COLUMNS = 512  # at least those of a cluster of tiles
_LEAST_PART = 64 * 32  # elements


class _Memory:
    """Memory of each process of a group that the GPUs of all of them reach: flags, which are zeros first, and behind them what
    the devices hand to each other."""

    def __init__(self, group_name: str, words: int, size: int) -> None:
        from torch.distributed import _symmetric_memory
        self.words, self.size = words, size
        local = _symmetric_memory.empty(4 * words + size, dtype=torch.uint8, device=torch.device("cuda", torch.cuda.current_device()))
        local[:4 * words].zero_()
        torch.cuda.synchronize()  # what was launched with the memory before, too
        self.handle = _symmetric_memory.rendezvous(local, group_name)
        self.rank, self.devices = self.handle.rank, self.handle.world_size
        self.flags = self.views((words,), torch.uint32, 0)
        self.known: dict[Any, tuple[Tensor, ...]] = {}

    def views(self, shape: tuple[int, ...], dtype: torch.dtype, offset: int) -> tuple[Tensor, ...]:
        """Tensors at an offset in bytes, by rank."""
        return tuple(self.handle.get_buffer(r, shape, dtype, offset // dtype.itemsize) for r in range(self.devices))

    def data(self, shape: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, ...]:
        found = self.known.get((shape, dtype))
        if found is None:
            found = self.known[shape, dtype] = self.views(shape, dtype, 4 * self.words)
        return found


#: By collective, group and device. Memory that became too small stays: graphs may have captured it.
_memories: dict[Any, list[_Memory]] = {}


def _memory(what: str, group_name: str, words: int, size: int) -> _Memory:
    """All processes of the group come here with the same sizes."""
    kept = _memories.setdefault((what, group_name, torch.cuda.current_device()), [])
    last = kept[-1] if kept else None
    if last is None or last.words < words or last.size < size:
        if torch.cuda.is_current_stream_capturing():
            wrong(what, "call it once with operands of these shapes before you capture a graph: the processes agree on memory then")
        words, size = (max(words, last.words), max(size, last.size)) if last is not None else (words, size)
        last = _Memory(group_name, -(-words // 4096) * 4096, -(-size // _ALIGNMENT) * _ALIGNMENT)
        kept.append(last)
    return last


def _group(what: str, group_name: str) -> Any:
    group = torch.distributed.distributed_c10d._resolve_process_group(group_name)
    if not 2 <= group.size() <= 8:
        missing(what, f"a group of {group.size()} processes: 2 to 8")
    return group


def _options(collective: str, devices: int, a: Tensor, b_major: str, m: int, n: int) -> tuple[tuple[str, Any], ...]:
    return (("dtype", DTYPES[a.dtype]), ("b_major", b_major), ("collective", collective), ("devices", devices),
            ("problem", (bucket(m), n, a.shape[1])))


def _spacing(rows: int) -> int:
    """The rows of each shard in gathered memory, whatever a tile is."""
    return -(-rows // _ROWS) * _ROWS


def _flags(devices: int, rows: int) -> int:
    """Words for an all-gather of shards of so many rows."""
    return 1 + 2 * devices + 2 * (devices - 1) * (_spacing(rows) // 64)


def _inbox(devices: int, rows: int, n: int) -> tuple[int, int]:
    """For a reduce-scatter whose D has so many rows and columns, whatever its tile is: words of flags, elements of an inbox."""
    parts = (devices - 1) * (rows + _ROWS) * (n + _COLUMNS)
    return 2 + 2 * (parts // _LEAST_PART), 2 * parts


@operation("all_gather_matmul")
def _all_gather_matmul(a: Tensor, bs: List[Tensor], group_name: str, return_a: bool) -> List[Tensor]:
    """The products of A of all processes, and behind them A where it is asked for: a is rows x K, each of bs N x K."""
    devices = _group("all_gather_matmul", group_name).size()
    rows, k = a.shape
    memory = _memory("all_gather_matmul", group_name, _flags(devices, rows), rows * k * a.element_size())
    shards, spacing = memory.data((rows, k), a.dtype), _spacing(rows)
    gathered = a.new_empty((devices * spacing, k))
    shards[memory.rank].copy_(a)
    out = []
    for b in bs:
        d = a.new_empty((devices * rows, b.shape[0]))
        right, b_major = operand(b, _unit(b))
        launcher("gemm", *_options("all_gather", devices, a, b_major, devices * rows, b.shape[0]))(
            shards[memory.rank], right, d, rank=memory.rank, flags=memory.flags, shards=shards, gathered=gathered)
        out.append(d)
    if return_a:
        gathered[memory.rank * spacing:][:rows].copy_(a)  # which the kernel leaves out
        out.append(gathered.view(devices, spacing, k)[:, :rows].reshape(devices * rows, k))
    return out


@_all_gather_matmul.register_fake
def _(a: Tensor, bs: List[Tensor], group_name: str, return_a: bool) -> List[Tensor]:
    rows = a.shape[0] * _group("all_gather_matmul", group_name).size()
    return [a.new_empty((rows, n)) for n in (*(b.shape[0] for b in bs), *([a.shape[1]] if return_a else []))]


@operation("matmul_reduce_scatter")
def _matmul_reduce_scatter(a: Tensor, b: Tensor, group_name: str, mean: bool) -> Tensor:
    """a is M x K, b is N x K, of each process: M / processes rows of the sum of all products."""
    devices = _group("matmul_reduce_scatter", group_name).size()
    rows, n = a.shape[0] // devices, b.shape[0]
    words, elements = _inbox(devices, rows, n)
    memory = _memory("matmul_reduce_scatter", group_name, words, elements * a.element_size())
    d = a.new_empty((rows, n))
    left, (right, b_major) = ready(a), operand(b, _unit(b))
    options = _options("reduce_scatter", devices, a, b_major, a.shape[0], n)
    named: dict[str, Any] = {"rank": memory.rank, "flags": memory.flags, "inboxes": memory.data((memory.size // a.element_size(),), a.dtype)}
    if mean:
        options, named["alpha"] = (*options, ("epilogue", (("alpha", True),))), 1.0 / devices
    launcher("gemm", *options)(left, right, d, **named)
    return d


@_matmul_reduce_scatter.register_fake
def _(a: Tensor, b: Tensor, group_name: str, mean: bool) -> Tensor:
    return a.new_empty((a.shape[0] // _group("matmul_reduce_scatter", group_name).size(), b.shape[0]))


@untraced
def _check(what: str, a: Tensor, bs: List[Tensor], dim: int) -> None:
    dtype_of(what, a, *bs)
    if not a.is_cuda:
        missing(what, "tensors of the host: the processes reach each other's memory on GPUs alone")
    if a.dim() < 2 or not 0 <= dim < a.dim() - 1:
        wrong(what, f"dimension {dim} of {tuple(a.shape)}: one before the last")
    if not bs:
        wrong(what, "no B to multiply with")
    for b in bs:
        if b.dim() != 2 or b.shape[0] != a.shape[-1]:
            wrong(what, f"{tuple(a.shape)} and {tuple(b.shape)} do not fit: (..., K) and (K, N)")
        if a.shape[-1] % _unit(a) or b.shape[1] % _unit(a) or 0 in (*a.shape, *b.shape):
            missing(what, f"{tuple(a.shape)} and {tuple(b.shape)}: K and N that are no multiples of {_unit(a)}")


@typed
def all_gather_matmul(A_shard: Tensor, Bs: List[Tensor], gather_dim: int, group_name: str, *,
                      return_A: bool = True) -> tuple[Optional[Tensor], List[Tensor]]:
    """torch.ops.symm_mem.fused_all_gather_matmul: A, the shards of all processes of the group, one behind the other along
    `gather_dim`, and its products with each of Bs (K, N), whose rows are multiplied while those of other processes arrive.
    bfloat16 or float16; 2 to 8 GPUs of one host that reach each other. The calls of a process follow each other in one stream, and
    all processes make the same."""
    _check("all_gather_matmul", A_shard, Bs, gather_dim)
    first = A_shard.movedim(gather_dim, 0)
    out = [rows.view(-1, *first.shape[1:-1], rows.shape[-1]).movedim(0, gather_dim)
           for rows in _all_gather_matmul(_flat(first), [b.t() for b in Bs], group_name, return_A)]
    return out.pop() if return_A else None, out


@typed
def matmul_reduce_scatter(A: Tensor, B: Tensor, reduce_op: str, scatter_dim: int, group_name: str) -> Tensor:
    """torch.ops.symm_mem.fused_matmul_reduce_scatter: this process's part, along `scatter_dim`, of the sum ("sum") or mean ("avg")
    of A @ B of all processes of the group. Parts are rounded to the tensors' dtype before they are summed, always in the same
    order. bfloat16 or float16; as all_gather_matmul."""
    what = "matmul_reduce_scatter"
    _check(what, A, [B], scatter_dim)
    if reduce_op not in ("sum", "avg"):
        wrong(what, f"reduce_op {reduce_op!r}: \"sum\" or \"avg\"")
    devices = _group(what, group_name).size()
    if A.shape[scatter_dim] % devices:
        wrong(what, f"dimension {scatter_dim} of {tuple(A.shape)} must be a multiple of the {devices} processes")
    first = A.movedim(scatter_dim, 0)
    d = _matmul_reduce_scatter(_flat(first), B.t(), group_name, reduce_op == "avg")
    return d.view(-1, *first.shape[1:-1], B.shape[1]).movedim(0, scatter_dim)
