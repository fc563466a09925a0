"""Attention of a few queries to a cache."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch
from torch import Tensor

from ._attention_checks import check_sink, scale_of, slopes_of
from ._attention_options import DECODE, alibi, more_options
from ._made import DTYPES, dtype_of, launcher, operation, ready, script, untraced, wrong
from ._typed import typed


@operation("attention_decode")
def _decode(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool,
            softcap: float, slopes: Optional[Tensor], sink: Optional[Tensor]) -> Tensor:
    o = torch.empty_like(q)
    if o.numel() == 0:
        return o
    if k.numel() == 0 or pages is not None and pages.numel() == 0:
        return o.zero_()
    named: dict[str, Any] = {"lengths": lengths} if pages is None else {"lengths": lengths, "pages": pages}
    options = (("dtype", DTYPES[q.dtype]), ("dim", q.shape[3]), ("heads", q.shape[2]), ("kv_heads", k.shape[2]),
               ("queries", q.shape[1]), ("causal", causal), ("page", None if pages is None else k.shape[1]),
               ("softcap", softcap or None), *more_options(sink, 0.0, None, named))
    made = launcher("attention_decode", *options) if slopes is None else script(DECODE, *options, *alibi(slopes, named)).only.on_tensors
    made(ready(q), ready(k), ready(v), o, scale=scale, **named)
    return o


@_decode.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool,
      softcap: float, slopes: Optional[Tensor], sink: Optional[Tensor]) -> Tensor:
    return torch.empty_like(q)


@untraced
def _check_decode(what: str, q: Tensor, k_cache: Tensor, v_cache: Tensor) -> None:
    dtype_of(what, q, k_cache, v_cache)
    if q.dim() != 4 or k_cache.dim() != 4 or k_cache.shape != v_cache.shape or q.shape[3] != k_cache.shape[3]:
        wrong(what, f"Q {tuple(q.shape)} and caches {tuple(k_cache.shape)}, {tuple(v_cache.shape)} do not fit")


@typed
def attention_decode(q: Tensor, k_cache: Tensor, v_cache: Tensor, cache_seqlens: Union[Tensor, int],
                     block_table: Optional[Tensor] = None, softmax_scale: Optional[float] = None, causal: bool = False,
                     softcap: float = 0.0, alibi_slopes: Optional[Tensor] = None,
                     learnable_sink: Optional[Tensor] = None) -> Tensor:
    """Attention of a few queries at the end of each sequence to its cache, as flash-attention's flash_attn_with_kvcache without
    new keys: q is batch x queries x heads x head size, the caches batch x keys x kv heads x head size, of which sequence b
    uses the first cache_seqlens[b] (int32) keys, or with block_table (int32, batch x pages) pages x page x kv heads x head
    size; softcap, alibi_slopes and learnable_sink as of flash_attn_func. No gradients."""
    what = "attention_decode"
    _check_decode(what, q, k_cache, v_cache)
    check_sink(what, q.shape[2], learnable_sink)
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    for name, table in (("cache_seqlens", cache_seqlens), ("block_table", block_table)):
        if table is not None and table.dtype != torch.int32:
            wrong(what, f"{name} of {table.dtype}: int32")
    return _decode(q.contiguous(), k_cache.contiguous(), v_cache.contiguous(), cache_seqlens.contiguous(),
                   None if block_table is None else block_table.contiguous(), scale_of(softmax_scale, q), causal,
                   softcap, slopes_of(what, q.shape[0], q.shape[2], alibi_slopes), learnable_sink)
