"""Multi-head latent attention: few queries against a cache of latent rows."""

from __future__ import annotations

from typing import Any, Optional, Union

import torch
from torch import Tensor

from ._made import DTYPES, dtype_of, launcher, operation, ready, wrong
from ._typed import typed

_ROW, _VALUE, _TILES = 576, 512, 656  # elements of a row and of its value; bytes of an 8-bit row with scales


@operation("mla_decode")
def _decode(q: Tensor, cache: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool,
            descale: Optional[Tensor] = None) -> Tensor:
    o = q.new_empty((*q.shape[:3], _VALUE))
    if o.numel() == 0:
        return o
    cache_type = {torch.uint8: "fp8_ds_mla", torch.float8_e4m3fn: "e4m3"}.get(cache.dtype)
    options = (("dtype", DTYPES[q.dtype]), ("heads", q.shape[2]), ("queries", q.shape[1]), ("causal", causal),
               ("page", None if pages is None else cache.shape[1]), ("cache_type", cache_type))
    named: dict[str, Any] = {"lengths": lengths, "pages": pages, "descale": descale}
    launcher("mla_decode", *options)(ready(q), ready(cache), o, scale=scale,
                                     **{name: value for name, value in named.items() if value is not None})
    return o


@_decode.register_fake
def _(q: Tensor, cache: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool,
      descale: Optional[Tensor] = None) -> Tensor:
    return q.new_empty((*q.shape[:3], _VALUE))


@typed
def mla_decode(q: Tensor, cache: Tensor, cache_seqlens: Union[Tensor, int], softmax_scale: float,
               block_table: Optional[Tensor] = None, causal: bool = True, descale: Optional[Tensor] = None) -> Tensor:
    """Multi-head latent attention in its absorbed form, of a few queries at the end of each sequence to its cache, as
    FlashMLA's flash_mla_with_kvcache: q is batch x queries x heads x 576, the cache batch x keys x 576, of which
    sequence b uses the first cache_seqlens[b] (int32) rows, or with block_table (int32, batch x pages) pages x page x
    576; it may have a dimension of one head before the last one. The result is batch x queries x heads x 512.
    softmax_scale has no default: it does not follow from the 576 elements. An 8-bit cache has rows of 656 bytes (uint8,
    int8 or float8_e4m3fn), as FlashMLA, vLLM (fp8_ds_mla) and SGLang store them, for q of bfloat16; or it is
    float8_e4m3fn, 576 elements of which are multiplied by `descale` (float32, one value, on the device). No gradients."""
    what = "mla_decode"
    if cache.dim() == 4 and cache.shape[2] == 1:
        cache = cache.squeeze(2)
    if cache.dtype.itemsize == 1 and cache.shape[-1] == _TILES:
        cache = cache.view(torch.uint8)
    tiles, e4m3 = cache.dtype == torch.uint8, cache.dtype == torch.float8_e4m3fn
    dtype_of(what, q, *(() if tiles or e4m3 else (cache,)))
    if tiles and q.dtype != torch.bfloat16:
        wrong(what, f"Q of {q.dtype} with rows of {_TILES} bytes: bfloat16")
    row = _TILES if tiles else _ROW
    if q.dim() != 4 or cache.dim() != 3 or q.shape[3] != _ROW or cache.shape[2] != row:
        wrong(what, f"Q {tuple(q.shape)} and a cache {tuple(cache.shape)}: rows of {_ROW} elements, or {_TILES} bytes")
    if descale is not None and not (e4m3 and descale.dtype == torch.float32 and descale.numel() == 1):
        wrong(what, "descale: one float32, of a cache of float8_e4m3fn")
    if not softmax_scale > 0:
        wrong(what, f"a scale of {softmax_scale}: positive")
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    for name, table in (("cache_seqlens", cache_seqlens), ("block_table", block_table)):
        if table is not None and table.dtype != torch.int32:
            wrong(what, f"{name} of {table.dtype}: int32")
    return _decode(q.contiguous(), cache.contiguous(), cache_seqlens.contiguous(),
                   None if block_table is None else block_table.contiguous(), float(softmax_scale), causal,
                   None if descale is None else descale.reshape(1))
