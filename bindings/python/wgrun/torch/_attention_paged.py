"""Attention of packed sequences to K and V in pages, of one operator."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ._made import DTYPES, launcher, operation, ready, untraced, wrong


def _empty(q: Tensor, v: Tensor, lse: bool) -> tuple[Tensor, Tensor]:
    o = q.new_empty((*q.shape[:-1], v.shape[-1]))
    return o, q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)


@operation("attention_paged")
def _paged(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, lengths: Tensor, pages: Tensor, max_queries: int,
           scale: float, causal: bool, window: int, softcap: float, lse: bool) -> tuple[Tensor, Tensor]:
    o, sums = _empty(q, v, lse)
    if o.numel() == 0:
        return o, sums
    if k.numel() == 0 or pages.numel() == 0:
        return o.zero_(), sums.fill_(-math.inf)
    options = (("dtype", DTYPES[q.dtype]), ("dim", q.shape[-1]), ("value_dim", v.shape[-1]), ("heads", q.shape[1]),
               ("kv_heads", k.shape[2]), ("causal", causal), ("window", window or None), ("softcap", softcap or None),
               ("packed", True), ("page", k.shape[1]), ("lse", lse))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    launcher("attention", *options)(ready(q), ready(k), ready(v), o, scale=scale, query_starts=query_starts, lengths=lengths,
                                   pages=pages, max_queries=max_queries, **named)
    return o, sums


@_paged.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, lengths: Tensor, pages: Tensor, max_queries: int,
      scale: float, causal: bool, window: int, softcap: float, lse: bool) -> tuple[Tensor, Tensor]:
    return _empty(q, v, lse)


@untraced
def _check_table(what: str, table: Tensor, starts: Tensor) -> None:
    if table.dtype != torch.int32 or table.dim() != 2 or table.shape[0] != starts.shape[0] - 1:
        wrong(what, f"block_table of {table.dtype} {tuple(table.shape)}: int32, {starts.shape[0] - 1} x the most pages of a sequence")


def attend(what: str, q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, table: Tensor,
           *how: Any) -> tuple[Tensor, Tensor]:
    """O and the logarithms; how: max_queries, scale, causal, window, softcap and lse. Sequence b has as many keys as key_starts
    says, in the pages that row b of the table lists."""
    _check_table(what, table, query_starts)
    lengths = (key_starts[1:] - key_starts[:-1]).contiguous()
    return _paged(q.contiguous(), k.contiguous(), v.contiguous(), query_starts.contiguous(), lengths, table.contiguous(), *how)
