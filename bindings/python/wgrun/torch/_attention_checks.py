"""Arguments of attention as PyTorch and flash-attention have them: what they are here, and which of them do not fit."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._made import dtype_of, missing, untraced, wrong

DIMS = (64, 96, 128, 192, 256, 512)


def needs_gradients(*tensors: Optional[Tensor]) -> bool:
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


@untraced
def check(what: str, q: Tensor, k: Tensor, v: Tensor, rank: int, head_at: int, sink: Optional[Tensor] = None) -> None:
    dtype_of(what, q, k, v)
    if q.dim() != rank or k.dim() != rank or v.shape[:-1] != k.shape[:-1] or q.shape[-1] != k.shape[-1]:
        wrong(what, f"Q {tuple(q.shape)}, K {tuple(k.shape)} and V {tuple(v.shape)} do not fit")
    if rank == 4 and q.shape[0] != k.shape[0]:
        wrong(what, f"Q has {q.shape[0]} sequences and K {k.shape[0]}")
    if q.shape[-1] not in DIMS:
        missing(what, f"a head size of {q.shape[-1]}: 64, 96, 128, 192, 256 or 512")
    if v.shape[-1] not in DIMS or v.shape[-1] > q.shape[-1]:
        missing(what, f"a head size of V of {v.shape[-1]} beside {q.shape[-1]}: 64, 96, 128, 192, 256 or 512, and not more than Q has")
    if q.shape[-1] == 512 and (v.shape[-1] < 256 or needs_gradients(q, k, v, sink)):
        missing(what, "of a head size of 512 heads of V below 256, and gradients")
    if k.shape[head_at] == 0 or q.shape[head_at] % max(k.shape[head_at], 1):
        wrong(what, f"{q.shape[head_at]} heads of Q and {k.shape[head_at]} of K: each of K serves equally many of Q")


@untraced
def scale_of(given: Optional[float], q: Tensor) -> float:
    scale = 1 / math.sqrt(q.shape[-1]) if given is None else float(given)
    if not 0 < scale < math.inf:
        wrong("attention", f"a scale of {scale}: a positive number")
    return scale


def refuse(what: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            missing(what, f"{name}")


@untraced
def check_sink(what: str, heads: int, sink: Optional[Tensor]) -> None:
    if sink is not None and (sink.shape != (heads,) or not sink.dtype.is_floating_point):
        wrong(what, f"learnable_sink of {sink.dtype} {tuple(sink.shape)}: a floating-point number for each of {heads} heads")


def window_of(what: str, causal: bool, window: tuple[int, int]) -> tuple[bool, int]:
    """What wg.attention calls the window of flash-attention, whose sides have so many keys besides the query's own."""
    left, right = window
    if right == 0:
        causal = True
    if causal:
        return True, left + 1 if left >= 0 else 0
    if left < 0 and right < 0:
        return False, 0
    if left != right:
        missing(what, f"window_size {window}: the same on both sides, or causal")
    return False, left + 1


@untraced
def _check_slopes(what: str, batch: int, heads: int, slopes: Tensor) -> None:
    if slopes.dtype != torch.float32 or slopes.shape not in ((heads,), (batch, heads)):
        wrong(what, f"alibi_slopes of {slopes.dtype} {tuple(slopes.shape)}: float32, ({heads},) or {(batch, heads)}")


def slopes_of(what: str, batch: int, heads: int, slopes: Optional[Tensor]) -> Optional[Tensor]:
    """Of each head of each sequence."""
    if slopes is None:
        return None
    _check_slopes(what, batch, heads, slopes)
    return slopes.detach().expand(batch, heads).contiguous()
