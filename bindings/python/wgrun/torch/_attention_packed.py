"""Attention of packed sequences by flash-attention's signature."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor

from . import _attention_paged
from ._attention_checks import check, check_sink, needs_gradients, refuse, scale_of, slopes_of, window_of
from ._attention_options import (BACKWARD, FORWARD, alibi, as_sink, empty_o, fake_gradient_of_sink, gradient_of_sink,
                                 more_options, of_no_keys, options_of, widened)
from ._dropout import state_of
from ._made import launcher, operation, ready, script, untraced, wrong
from ._typed import typed


@operation("attention_packed")
def _packed(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, max_queries: int, max_keys: int,
            scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor], lse: bool, sink: Optional[Tensor],
            dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    o = empty_o(q, v)
    sums = q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)
    if o.numel() == 0:
        return o, sums
    if k.numel() == 0:
        return o.zero_(), of_no_keys(sums, sink, (-1, 1))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    options = (*options_of(q, k, q.shape[1], k.shape[1], causal, window, softcap), ("value_dim", v.shape[-1]), ("packed", True),
               ("lse", lse), *more_options(sink, dropout_p, state, named))
    made = launcher("attention", *options) if slopes is None else script(FORWARD, *options, *alibi(slopes, named)).only.on_tensors
    made(ready(q), ready(k), ready(v), o, scale=scale, query_starts=query_starts, key_starts=key_starts, max_queries=max_queries,
         **named)
    return o, sums


@_packed.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, max_queries: int, max_keys: int,
      scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor], lse: bool, sink: Optional[Tensor],
      dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    return empty_o(q, v), q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)


@operation("attention_packed_backward", lacks="second derivatives")
def _packed_backward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, query_starts: Tensor,
                     key_starts: Tensor, max_queries: int, max_keys: int, scale: float, causal: bool, window: int,
                     softcap: float, slopes: Optional[Tensor], sink: Optional[Tensor], dropout_p: float,
                     state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    named: dict[str, Any] = {}
    # Rows of no sequence have no gradient.
    dq, dk, dv, dsink = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(k), gradient_of_sink(sink, q, q.shape[1], named)
    if q.numel() == 0 or k.numel() == 0:
        return dq, dk, torch.zeros_like(v), as_sink(dsink, sink)
    options = (*options_of(q, k, q.shape[1], k.shape[1], causal, window, softcap), ("packed", True),
               *more_options(sink, dropout_p, state, named), *alibi(slopes, named))
    wide_v, wide_o, wide_d = widened(q, v, o, d)
    for step in script(BACKWARD, *options):
        step.on_tensors(*map(ready, (q, k, wide_v, wide_o, lse, wide_d)), dq, dk, dv, scale=scale, query_starts=query_starts,
                        key_starts=key_starts, max_queries=max_queries, max_keys=max_keys, **named)
    return dq, dk, dv[..., :v.shape[-1]].contiguous(), as_sink(dsink, sink)


@_packed_backward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, query_starts: Tensor, key_starts: Tensor,
      max_queries: int, max_keys: int, scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor],
      sink: Optional[Tensor], dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), fake_gradient_of_sink(sink, q)


def _packed_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, query_starts, key_starts, *ctx.how, slopes, ctx.lse, sink, ctx.dropout_p, state = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, *output, query_starts, key_starts, slopes, sink, state)


def _packed_gradients(ctx: Any, d: Tensor, _: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
    if not ctx.lse:
        wrong("attention", "gradients need lse = True of wgrun::attention_packed")
    q, k, v, o, lse, query_starts, key_starts, slopes, sink, state = ctx.saved_tensors
    dq, dk, dv, dsink = _packed_backward(q, k, v, o, lse, d.contiguous(), query_starts, key_starts, *ctx.how, slopes, sink,
                                         ctx.dropout_p, state)
    return (dq, dk, dv, *(None,) * (len(ctx.how) + 4), None if sink is None else dsink, None, None)


_packed.register_autograd(_packed_gradients, setup_context=_packed_context)


@untraced
def _check_starts(what: str, queries: Tensor, keys: Tensor) -> None:
    for starts in (queries, keys):
        if starts.dtype != torch.int32 or starts.dim() != 1 or starts.shape != queries.shape:
            wrong(what, f"cu_seqlens of {starts.dtype} {tuple(starts.shape)}: int32, one more than there are sequences, the "
                        "same number of both")


@typed
def flash_attn_varlen_func(q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor, max_seqlen_q: int,
                           max_seqlen_k: int, dropout_p: float = 0.0, softmax_scale: Optional[float] = None,
                           causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
                           alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
                           return_attn_probs: bool = False, block_table: Optional[Tensor] = None,
                           learnable_sink: Optional[Tensor] = None) -> Any:
    """flash-attention's function of this name: sequences of any lengths one after another, tensors are total x heads x head
    size (that of v, which the result has, may be less), cu_seqlens_q and cu_seqlens_k (int32) say where each begins and the
    last one ends. dropout_p, return_attn_probs and learnable_sink (vLLM's s_aux) are as of flash_attn_func. With block_table
    (int32, batch x pages) k and v are pages x page x heads x head size, row b lists the pages of sequence b, and cu_seqlens_k
    says only how many keys it has; neither gradients nor dropout then. Not deterministic."""
    what = "flash_attn_varlen_func"
    refuse(what, deterministic=deterministic)
    _check_starts(what, cu_seqlens_q, cu_seqlens_k)
    causal, window = window_of(what, causal, window_size)
    if block_table is None:
        check(what, q, k, v, 3, 1, learnable_sink)
    else:
        refuse(what, gradients_with_block_table=needs_gradients(q, k, v, learnable_sink), dropout_p_with_block_table=dropout_p)
        _attention_paged.check_pages(what, q, k, v, block_table, cu_seqlens_q)
    check_sink(what, q.shape[1], learnable_sink)
    slopes, scale = slopes_of(what, cu_seqlens_q.shape[0] - 1, q.shape[1], alibi_slopes), scale_of(softmax_scale, q)
    if block_table is not None:
        o, lse = _attention_paged.attend(q, k, v, cu_seqlens_q, cu_seqlens_k, block_table, max_seqlen_q, scale, causal, window,
                                         softcap, return_attn_probs, slopes, learnable_sink)
        return (o, lse, None) if return_attn_probs else o
    state = state_of(what, dropout_p, q)
    o, lse = _packed(q.contiguous(), k.contiguous(), v.contiguous(), cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous(),
                     max_seqlen_q, max_seqlen_k, scale, causal, window, softcap, slopes,
                     return_attn_probs or needs_gradients(q, k, v, learnable_sink), learnable_sink, dropout_p, state)
    return (o, lse, state) if return_attn_probs else o
