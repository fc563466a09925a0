"""Attention of packed sequences to K and V in pages, of one operator."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor

from ._attention_checks import check
from ._attention_options import FORWARD, alibi, empty_o, more_options, of_no_keys, options_of
from ._made import launcher, missing, operation, ready, script, untraced, wrong


def _empty(q: Tensor, v: Tensor, lse: bool) -> tuple[Tensor, Tensor]:
    return empty_o(q, v), q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)


@operation("attention_paged")
def _paged(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, lengths: Tensor, pages: Tensor, max_queries: int,
           scale: float, causal: bool, window: int, softcap: float, lse: bool, slopes: Optional[Tensor],
           sink: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    o, sums = _empty(q, v, lse)
    if o.numel() == 0:
        return o, sums
    if k.numel() == 0 or pages.numel() == 0:
        return o.zero_(), of_no_keys(sums, sink, (-1, 1))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    options = (*options_of(q, k, q.shape[1], k.shape[2], causal, window, softcap), ("value_dim", v.shape[-1]), ("packed", True),
               ("page", k.shape[1]), ("lse", lse), *more_options(sink, 0.0, None, named))
    made = launcher("attention", *options) if slopes is None else script(FORWARD, *options, *alibi(slopes, named)).only.on_tensors
    made(ready(q), ready(k), ready(v), o, scale=scale, query_starts=query_starts, lengths=lengths, pages=pages,
         max_queries=max_queries, **named)
    return o, sums


@_paged.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, lengths: Tensor, pages: Tensor, max_queries: int,
      scale: float, causal: bool, window: int, softcap: float, lse: bool, slopes: Optional[Tensor],
      sink: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    return _empty(q, v, lse)


@untraced
def check_pages(what: str, q: Tensor, k: Tensor, v: Tensor, table: Tensor, starts: Tensor) -> None:
    if k.dim() != 4 or v.dim() != 4:
        wrong(what, f"K {tuple(k.shape)} and V {tuple(v.shape)}: with block_table pages x page x heads x head size")
    check(what, q, k.flatten(0, 1), v.flatten(0, 1), 3, 1)
    if q.shape[-1] == 512:
        missing(what, "block_table with a head size of 512")
    if table.dtype != torch.int32 or table.dim() != 2 or table.shape[0] != starts.shape[0] - 1:
        wrong(what, f"block_table of {table.dtype} {tuple(table.shape)}: int32, {starts.shape[0] - 1} x the most pages of a sequence")


def attend(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, table: Tensor,
           *how: Any) -> tuple[Tensor, Tensor]:
    """O and the logarithms; how: what the operator takes from max_queries on. Sequence b has as many keys as key_starts says,
    in the pages that row b of the table lists."""
    lengths = (key_starts[1:] - key_starts[:-1]).contiguous()
    return _paged(q.contiguous(), k.contiguous(), v.contiguous(), query_starts.contiguous(), lengths, table.contiguous(), *how)
