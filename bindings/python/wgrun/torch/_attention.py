"""Attention of whole batches by PyTorch's and flash-attention's signatures."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._attention_checks import check, check_sink, needs_gradients, refuse, scale_of, slopes_of, window_of
from ._attention_options import (BACKWARD, FORWARD, Options, as_sink, empty_o, fake_gradient_of_sink, gradient_of_sink,
                                 more_options, of_no_keys, options_of, widened)
from ._dropout import state_of
from ._made import autocast, launcher, missing, operation, ready, script, untraced, wrong
from ._typed import typed


def _heads(q: Tensor, k: Tensor, layout: str) -> tuple[int, int]:
    at = 2 if layout == "bshd" else 1
    return q.shape[at], k.shape[at]


@operation("attention")
def _attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, window: int, softcap: float, layout: str,
               kind: str, bias: Optional[Tensor], lse: bool, sink: Optional[Tensor], dropout_p: float,
               state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    heads, kv_heads = _heads(q, k, layout)
    sequence = 1 if layout == "bshd" else 2
    o, sums = empty_o(q, v), _empty_sums(q, heads, q.shape[sequence], lse)
    if o.numel() == 0:
        return o, sums
    if k.shape[sequence] == 0:
        return o.zero_(), of_no_keys(sums, sink, (1, heads, 1))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    options = (*options_of(q, k, heads, kv_heads, causal, window, softcap), ("value_dim", v.shape[-1]), ("layout", layout),
               ("lse", lse), *more_options(sink, dropout_p, state, named))
    if kind:
        made = script(FORWARD, *options, *_kind(q, k, kind, bias, layout, named)).only.on_tensors
    else:
        made = launcher("attention", *options)
    made(ready(q), ready(k), ready(v), o, scale=scale, **named)
    return o, sums


def _kind(q: Tensor, k: Tensor, kind: str, bias: Optional[Tensor], layout: str, named: dict[str, Any]) -> Options:
    """The options of _SCORES; adds the tensor that is read to the operands."""
    if bias is not None:
        named["bias"] = bias
    sequence = 1 if layout == "bshd" else 2
    sizes = (("queries", q.shape[sequence]), ("keys", k.shape[sequence])) if kind in ("hides", "bias") else ()
    return (("kind", kind), *sizes)


def _empty_sums(q: Tensor, heads: int, queries: int, lse: bool) -> Tensor:
    return q.new_empty((q.shape[0], heads, queries) if lse else (0,), dtype=torch.float32)


@_attention.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, window: int, softcap: float, layout: str,
      kind: str, bias: Optional[Tensor], lse: bool, sink: Optional[Tensor], dropout_p: float,
      state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    heads, _ = _heads(q, k, layout)
    return empty_o(q, v), _empty_sums(q, heads, q.shape[1 if layout == "bshd" else 2], lse)


@operation("attention_backward", lacks="second derivatives")
def _attention_backward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, scale: float, causal: bool,
                        window: int, softcap: float, layout: str, kind: str, bias: Optional[Tensor], sink: Optional[Tensor],
                        dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    heads, kv_heads = _heads(q, k, layout)
    named: dict[str, Any] = {}
    dq, dk, dv, dsink = torch.empty_like(q), torch.empty_like(k), torch.empty_like(k), gradient_of_sink(sink, q, heads, named)
    if q.numel() == 0 or k.numel() == 0:
        return dq.zero_(), dk.zero_(), torch.zeros_like(v), as_sink(dsink, sink)
    options = (*options_of(q, k, heads, kv_heads, causal, window, softcap), ("layout", layout),
               *more_options(sink, dropout_p, state, named))
    if kind:
        options += _kind(q, k, kind, bias, layout, named)
    wide_v, wide_o, wide_d = widened(q, v, o, d)
    for step in script(BACKWARD, *options):
        step.on_tensors(*map(ready, (q, k, wide_v, wide_o, lse, wide_d)), dq, dk, dv, scale=scale, **named)
    return dq, dk, dv[..., :v.shape[-1]].contiguous(), as_sink(dsink, sink)


@_attention_backward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, scale: float, causal: bool, window: int,
      softcap: float, layout: str, kind: str, bias: Optional[Tensor], sink: Optional[Tensor], dropout_p: float,
      state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), fake_gradient_of_sink(sink, q)


def _attention_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, *ctx.how, bias, ctx.lse, sink, ctx.dropout_p, state = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, *output, bias, sink, state)


def _attention_gradients(ctx: Any, d: Tensor, _: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
    if not ctx.lse:
        wrong("attention", "gradients need lse = True of wgrun::attention")
    *saved, bias, sink, state = ctx.saved_tensors
    dq, dk, dv, dsink = _attention_backward(*saved, d.contiguous(), *ctx.how, bias, sink, ctx.dropout_p, state)
    return (dq, dk, dv, *(None,) * (len(ctx.how) + 2), None if sink is None else dsink, None, None)


_attention.register_autograd(_attention_gradients, setup_context=_attention_context)


@untraced
def _starts_at_the_top(is_causal: bool, query: Tensor, key: Tensor, traced: bool) -> bool:
    """Whether the causal mask of PyTorch is another one than flash-attention's, or may be where a trace is replayed."""
    return is_causal and (traced or query.shape[2] != key.shape[2])


@untraced
def _check_heads(query: Tensor, key: Tensor) -> None:
    if query.shape[1] != key.shape[1]:
        wrong("attention", f"{query.shape[1]} heads of Q and {key.shape[1]} of K: enable_gqa=True")


def _mask(what: str, query: Tensor, key: Tensor, mask: Tensor) -> tuple[str, Tensor]:
    """A mask of PyTorch's: bool says what is seen, other types are added to the scores."""
    if mask.requires_grad:
        missing(what, "gradients of attn_mask")
    every = (*query.shape[:3], key.shape[2])
    try:
        whole = mask.expand(every)
    except RuntimeError:
        wrong(what, f"attn_mask {tuple(mask.shape)} does not broadcast to {every}")
    if mask.dtype == torch.bool:
        return "hides", whole.to(torch.uint8).contiguous()
    if not mask.dtype.is_floating_point:
        wrong(what, f"attn_mask of {mask.dtype}: bool, or a floating-point type")
    # The softmax multiplies scores and subtracts the greatest in one step: of larger numbers the rounding alone would
    # overflow. Beside what is so small nothing else counts. -inf hides.
    added = whole.float()
    return "bias", torch.where(added == -math.inf, added, added.clamp(-1e9, 1e9)).contiguous()


@typed
def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None, dropout_p: float = 0.0,
              is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention: tensors are batch x heads x sequence x head size, or such views of
    batch x sequence x heads x head size, which are then not copied. bfloat16 or float16, head sizes 64, 96, 128, 192, 256
    and, without gradients, 512; that of value, which the result has, may be less than that of query and key. attn_mask, of
    bool or what is added to the scores, is read score by score, which takes time, and gets no gradient. With is_causal query
    i sees the keys up to i, as PyTorch has it: where there are more keys than queries flash_attn_func has the last query see
    the last key. dropout_p drops weights as flash_attn_func does."""
    query, key, value, attn_mask = autocast(query, key, value, attn_mask)
    check("attention", query, key, value, 4, 1)
    if not enable_gqa:
        _check_heads(query, key)
    views = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    layout = "bshd" if all(view.is_contiguous() for view in views) else "bhsd"
    q, k, v = views if layout == "bshd" else (tensor.contiguous() for tensor in (query, key, value))
    top_left = _starts_at_the_top(is_causal, query, key, torch.jit.is_tracing())
    kind, bias = ("top_left" if top_left else "", None) if attn_mask is None else _mask("attention", query, key, attn_mask)
    if is_causal and attn_mask is not None:
        wrong("attention", "is_causal and attn_mask: one of them")
    o, _ = _attention(q, k, v, scale_of(scale, query), is_causal and not top_left, 0, 0.0, layout, kind, bias,
                      needs_gradients(query, key, value), None, dropout_p, state_of("attention", dropout_p, query))
    return o.transpose(1, 2) if layout == "bshd" else o


scaled_dot_product_attention = attention


@typed
def flash_attn_func(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, softmax_scale: Optional[float] = None,
                    causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
                    alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
                    return_attn_probs: bool = False, learnable_sink: Optional[Tensor] = None) -> Any:
    """flash-attention's function of this name: tensors are batch x sequence x heads x head size. That of v, which the
    result has, may be less than that of q and k. learnable_sink has a logit for each head, which joins the denominator of
    each row of it. dropout_p drops weights of V by random numbers from the default generator of the device
    (wgrun.torch.dropout_mask). return_attn_probs gives (o, lse, state of the random numbers, or None). Not deterministic."""
    what = "flash_attn_func"
    refuse(what, deterministic=deterministic)
    check(what, q, k, v, 4, 2, learnable_sink)
    check_sink(what, q.shape[2], learnable_sink)
    causal, window = window_of(what, causal, window_size)
    state = state_of(what, dropout_p, q)
    o, lse = _attention(q.contiguous(), k.contiguous(), v.contiguous(), scale_of(softmax_scale, q), causal,
                        window, softcap, "bshd", "" if alibi_slopes is None else "alibi",
                        slopes_of(what, q.shape[0], q.shape[2], alibi_slopes),
                        return_attn_probs or needs_gradients(q, k, v, learnable_sink), learnable_sink, dropout_p, state)
    return (o, lse, state) if return_attn_probs else o
