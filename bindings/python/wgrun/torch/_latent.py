"""Multi-head latent attention: few queries against a cache of latent rows."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch
from torch import Tensor

from ._made import DTYPES, dtype_of, launcher, operation, ready, wrong

_ROW, _VALUE = 576, 512


@operation("mla_decode")
def _decode(q: Tensor, cache: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool) -> Tensor:
    o = q.new_empty((*q.shape[:3], _VALUE))
    if o.numel() == 0:
        return o
    options = (("dtype", DTYPES[q.dtype]), ("heads", q.shape[2]), ("queries", q.shape[1]), ("causal", causal),
               ("page", None if pages is None else cache.shape[1]))
    named: dict[str, Any] = {"lengths": lengths} if pages is None else {"lengths": lengths, "pages": pages}
    launcher("mla_decode", *options)(ready(q), ready(cache), o, scale=scale, **named)
    return o


@_decode.register_fake
def _(q: Tensor, cache: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool) -> Tensor:
    return q.new_empty((*q.shape[:3], _VALUE))


def mla_decode(q: Tensor, cache: Tensor, cache_seqlens: Union[Tensor, int], softmax_scale: float,
               block_table: Optional[Tensor] = None, causal: bool = True) -> Tensor:
    """Multi-head latent attention in its absorbed form, of a few queries at the end of each sequence to its cache, as
    FlashMLA's flash_mla_with_kvcache: q is batch x queries x heads x 576, the cache batch x keys x 576, of which
    sequence b uses the first cache_seqlens[b] (int32) rows, or with block_table (int32, batch x pages) pages x page x
    576; it may have a dimension of one head before the last one. The result is batch x queries x heads x 512.
    softmax_scale has no default: it does not follow from the 576 elements. No gradients."""
    what = "mla_decode"
    dtype_of(what, q, cache)
    if cache.dim() == 4 and cache.shape[2] == 1:
        cache = cache.squeeze(2)
    if q.dim() != 4 or cache.dim() != 3 or q.shape[3] != _ROW or cache.shape[2] != _ROW:
        wrong(what, f"Q {tuple(q.shape)} and a cache {tuple(cache.shape)}: rows of {_ROW} elements")
    if not softmax_scale > 0:
        wrong(what, f"a scale of {softmax_scale}: positive")
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    for name, table in (("cache_seqlens", cache_seqlens), ("block_table", block_table)):
        if table is not None and table.dtype != torch.int32:
            wrong(what, f"{name} of {table.dtype}: int32")
    return _decode(q.contiguous(), cache.contiguous(), cache_seqlens.contiguous(),
                   None if block_table is None else block_table.contiguous(), float(softmax_scale), causal)
