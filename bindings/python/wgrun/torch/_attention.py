"""Attention: PyTorch's and flash-attention's signatures over one operator for whole batches and one for packed sequences."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

import torch
from torch import Tensor

from . import _paged
from ._dropout import state_of
from ._made import DTYPES, autocast, dtype_of, launcher, missing, operation, ready, script, untraced, wrong

_DIMS = (64, 96, 128, 192, 256, 512)

# What becomes of scores besides the options of wg.attention, by `options.kind`. Tensors that are read have a value for each
# score ("bias", "hides") or for each head of each sequence ("alibi").
_SCORES = """
local kind, queries, keys, heads = options.kind, options.queries, options.keys, options.heads
options.kind, options.queries, options.keys = nil, nil, nil
local function at_head(at) return at.batch * heads + at.head end
local function element(k, at)
  local row = k:cvt_u64_u32(at_head(at)) * queries + k:cvt_u64_u32(k:mov(at.query, { type = "u32" }))
  return k:element(at.tensors.bias, row * keys + k:cvt_u64_u32(k:mov(at.key, { type = "u32" })))
end
if kind == "top_left" then -- query i sees the keys up to i, however many there are
  options.mask = function(_, at) return at.key:le(at.query) end
  options.block_mask = function(_, block) return block.first_key:le(block.last_query), block.last_key:le(block.first_query) end
elseif kind == "hides" then
  options.tensors = { bias = "u8" }
  options.mask = function(k, at) return k:ld_global_u8(element(k, at)):ne(0) end
elseif kind == "bias" then
  options.tensors = { bias = "f32" }
  options.score = function(k, score, at) return score + k:ld_global_f32(element(k, at)) end
elseif kind == "alibi" then
  options.tensors = { bias = "f32" }
  options.score = function(k, score, at)
    local slope = k:ld_global_f32(k:element(at.tensors.bias, at_head(at)))
    return k:fma(slope, -k:abs(at.distance), score)
  end
end
local function with_tensors(given)
  if given.bias then given.tensors = { bias = given.bias } end
  given.bias = nil
  return given
end
"""

_FORWARD = _SCORES + """
local attention = require("wgrun").attention(options)
return { kernel = attention.kernel, launch = function(_, Q, K, V, O, given)
  return attention:launch(Q, K, V, O, with_tensors(given))
end }
"""

_DECODE = _SCORES + """
options.queries = queries
local decode = require("wgrun").attention_decode(options)
return { kernel = decode.kernel, launch = function(_, Q, K, V, O, given)
  return decode:launch(Q, K, V, O, with_tensors(given))
end }
"""

_BACKWARD = _SCORES + """
local backward = require("wgrun").attention_backward(options)
local names <const> = { "Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV" }
local function step(number, kernel)
  return { kernel = kernel, launch = function(_, ...)
    local operands, all = { ... }, {}
    for name, value in pairs(with_tensors(operands[#names + 1])) do all[name] = value end
    for i, name in ipairs(names) do all[name] = operands[i] end
    return backward:launches(all)[number][2]
  end }
end
return { first = step(1, backward.before), second = step(2, backward.kernel), third = step(3, backward.after) }
"""


_Options = tuple[tuple[str, Any], ...]


def _options(q: Tensor, k: Tensor, heads: int, kv_heads: int, causal: bool, window: int, softcap: float) -> _Options:
    return (("dtype", DTYPES[q.dtype]), ("dim", q.shape[-1]), ("heads", heads), ("kv_heads", kv_heads), ("causal", causal),
            ("window", window or None), ("softcap", softcap or None))


def _empty_o(q: Tensor, v: Tensor) -> Tensor:
    return q.new_empty((*q.shape[:-1], v.shape[-1]))


def _widened(q: Tensor, *tensors: Tensor) -> list[Tensor]:
    """V, O and dO with zeros up to the head size of Q, since the kernels of the gradients have one head size. Zeros change
    neither dQ nor dK, and dV gets columns that are cut off."""
    return [torch.nn.functional.pad(tensor, (0, q.shape[-1] - tensor.shape[-1])) if tensor.shape[-1] < q.shape[-1] else tensor
            for tensor in tensors]


def _more(sink: Optional[Tensor], dropout_p: float, state: Optional[Tensor], named: dict[str, Any]) -> _Options:
    """The options of sinks and dropout; adds what they read to the operands."""
    options: _Options = ()
    if sink is not None:
        options, named["sink"] = (("sink", True),), sink.float().contiguous()
    if state is not None:
        options += (("dropout", True),)
        named.update(dropout_p=dropout_p, dropout_state=state)
    return options


def _gradient_of_sink(sink: Optional[Tensor], q: Tensor, heads: int, named: dict[str, Any]) -> Tensor:
    """Memory for it, in float32, which kernels write whole; adds it to the operands."""
    gradient = q.new_zeros(0 if sink is None else heads, dtype=torch.float32)
    if sink is not None:
        named["dsink"] = gradient
    return gradient


def _as_sink(gradient: Tensor, sink: Optional[Tensor]) -> Tensor:
    return gradient if sink is None else gradient.to(sink.dtype)


def _fake_gradient_of_sink(sink: Optional[Tensor], q: Tensor) -> Tensor:
    return q.new_empty(0, dtype=torch.float32) if sink is None else torch.empty_like(sink)


def _of_no_keys(sums: Tensor, sink: Optional[Tensor], shape: tuple[int, ...]) -> Tensor:
    """lse where there are no keys: `shape` is that in which sinks are beside it."""
    sums.fill_(-math.inf)
    return sums if sink is None or sums.numel() == 0 else sums.copy_(sink.float().reshape(shape).expand_as(sums))


def _heads(q: Tensor, k: Tensor, layout: str) -> tuple[int, int]:
    at = 2 if layout == "bshd" else 1
    return q.shape[at], k.shape[at]


@operation("attention")
def _attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, window: int, softcap: float, layout: str,
               kind: str, bias: Optional[Tensor], lse: bool, sink: Optional[Tensor], dropout_p: float,
               state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    heads, kv_heads = _heads(q, k, layout)
    sequence = 1 if layout == "bshd" else 2
    o, sums = _empty_o(q, v), _empty_sums(q, heads, q.shape[sequence], lse)
    if o.numel() == 0:
        return o, sums
    if k.shape[sequence] == 0:
        return o.zero_(), _of_no_keys(sums, sink, (1, heads, 1))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    options = (*_options(q, k, heads, kv_heads, causal, window, softcap), ("value_dim", v.shape[-1]), ("layout", layout),
               ("lse", lse), *_more(sink, dropout_p, state, named))
    if kind:
        made = script(_FORWARD, *options, *_kind(q, k, kind, bias, layout, named)).only.on_tensors
    else:
        made = launcher("attention", *options)
    made(ready(q), ready(k), ready(v), o, scale=scale, **named)
    return o, sums


def _kind(q: Tensor, k: Tensor, kind: str, bias: Optional[Tensor], layout: str, named: dict[str, Any]) -> _Options:
    """The options of _SCORES; adds the tensor that is read to the operands."""
    if bias is not None:
        named["bias"] = bias
    sequence = 1 if layout == "bshd" else 2
    sizes = (("queries", q.shape[sequence]), ("keys", k.shape[sequence])) if kind in ("hides", "bias") else ()
    return (("kind", kind), *sizes)


def _alibi(slopes: Optional[Tensor], named: dict[str, Any]) -> _Options:
    """Likewise of ALiBi alone: slopes of each head of each sequence."""
    if slopes is None:
        return ()
    named["bias"] = slopes
    return (("kind", "alibi"),)


def _empty_sums(q: Tensor, heads: int, queries: int, lse: bool) -> Tensor:
    return q.new_empty((q.shape[0], heads, queries) if lse else (0,), dtype=torch.float32)


@_attention.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, window: int, softcap: float, layout: str,
      kind: str, bias: Optional[Tensor], lse: bool, sink: Optional[Tensor], dropout_p: float,
      state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    heads, _ = _heads(q, k, layout)
    return _empty_o(q, v), _empty_sums(q, heads, q.shape[1 if layout == "bshd" else 2], lse)


@operation("attention_backward", lacks="second derivatives")
def _attention_backward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, scale: float, causal: bool,
                        window: int, softcap: float, layout: str, kind: str, bias: Optional[Tensor], sink: Optional[Tensor],
                        dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    heads, kv_heads = _heads(q, k, layout)
    named: dict[str, Any] = {}
    dq, dk, dv, dsink = torch.empty_like(q), torch.empty_like(k), torch.empty_like(k), _gradient_of_sink(sink, q, heads, named)
    if q.numel() == 0 or k.numel() == 0:
        return dq.zero_(), dk.zero_(), torch.zeros_like(v), _as_sink(dsink, sink)
    options = (*_options(q, k, heads, kv_heads, causal, window, softcap), ("layout", layout),
               *_more(sink, dropout_p, state, named))
    if kind:
        options += _kind(q, k, kind, bias, layout, named)
    wide_v, wide_o, wide_d = _widened(q, v, o, d)
    for step in script(_BACKWARD, *options):
        step.on_tensors(*map(ready, (q, k, wide_v, wide_o, lse, wide_d)), dq, dk, dv, scale=scale, **named)
    return dq, dk, dv[..., :v.shape[-1]].contiguous(), _as_sink(dsink, sink)


@_attention_backward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, scale: float, causal: bool, window: int,
      softcap: float, layout: str, kind: str, bias: Optional[Tensor], sink: Optional[Tensor], dropout_p: float,
      state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), _fake_gradient_of_sink(sink, q)


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


def _needs_gradients(*tensors: Optional[Tensor]) -> bool:
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


@untraced
def _check(what: str, q: Tensor, k: Tensor, v: Tensor, rank: int, head_at: int) -> None:
    dtype_of(what, q, k, v)
    if q.dim() != rank or k.dim() != rank or v.shape[:-1] != k.shape[:-1] or q.shape[-1] != k.shape[-1]:
        wrong(what, f"Q {tuple(q.shape)}, K {tuple(k.shape)} and V {tuple(v.shape)} do not fit")
    if rank == 4 and q.shape[0] != k.shape[0]:
        wrong(what, f"Q has {q.shape[0]} sequences and K {k.shape[0]}")
    if q.shape[-1] not in _DIMS:
        missing(what, f"a head size of {q.shape[-1]}: 64, 96, 128, 192, 256 or 512")
    if v.shape[-1] not in _DIMS or v.shape[-1] > q.shape[-1]:
        missing(what, f"a head size of V of {v.shape[-1]} beside {q.shape[-1]}: 64, 96, 128, 192, 256 or 512, and not more than Q has")
    if q.shape[-1] == 512 and (v.shape[-1] < 256 or _needs_gradients(q, k, v)):
        missing(what, "of a head size of 512 heads of V below 256, and gradients")
    if k.shape[head_at] == 0 or q.shape[head_at] % max(k.shape[head_at], 1):
        wrong(what, f"{q.shape[head_at]} heads of Q and {k.shape[head_at]} of K: each of K serves equally many of Q")


@untraced
def _scale(given: Optional[float], q: Tensor) -> float:
    scale = 1 / math.sqrt(q.shape[-1]) if given is None else float(given)
    if not 0 < scale < math.inf:
        wrong("attention", f"a scale of {scale}: a positive number")
    return scale


@untraced
def _starts_at_the_top(is_causal: bool, query: Tensor, key: Tensor, traced: bool) -> bool:
    """Whether the causal mask of PyTorch is another one than flash-attention's, or may be where a trace is replayed."""
    return is_causal and (traced or query.shape[2] != key.shape[2])


def _no(what: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            missing(what, f"{name}")


@untraced
def _check_sink(what: str, heads: int, sink: Optional[Tensor]) -> None:
    if sink is not None and (sink.shape != (heads,) or not sink.dtype.is_floating_point):
        wrong(what, f"learnable_sink of {sink.dtype} {tuple(sink.shape)}: a floating-point number for each of {heads} heads")


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


def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None, dropout_p: float = 0.0,
              is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention: tensors are batch x heads x sequence x head size, or such views of
    batch x sequence x heads x head size, which are then not copied. bfloat16 or float16, head sizes 64, 96, 128, 192, 256
    and, without gradients, 512; that of value, which the result has, may be less than that of query and key. attn_mask, of
    bool or what is added to the scores, is read score by score, which takes time, and gets no gradient. With is_causal query
    i sees the keys up to i, as PyTorch has it: where there are more keys than queries flash_attn_func has the last query see
    the last key. dropout_p drops weights as flash_attn_func does."""
    query, key, value, attn_mask = autocast(query, key, value, attn_mask)
    _check("attention", query, key, value, 4, 1)
    if not enable_gqa:
        _check_heads(query, key)
    views = [tensor.transpose(1, 2) for tensor in (query, key, value)]
    layout = "bshd" if all(view.is_contiguous() for view in views) else "bhsd"
    q, k, v = views if layout == "bshd" else (tensor.contiguous() for tensor in (query, key, value))
    top_left = _starts_at_the_top(is_causal, query, key, torch.jit.is_tracing())
    kind, bias = ("top_left" if top_left else "", None) if attn_mask is None else _mask("attention", query, key, attn_mask)
    if is_causal and attn_mask is not None:
        wrong("attention", "is_causal and attn_mask: one of them")
    o, _ = _attention(q, k, v, _scale(scale, query), is_causal and not top_left, 0, 0.0, layout, kind, bias,
                      _needs_gradients(query, key, value), None, dropout_p, state_of("attention", dropout_p, query))
    return o.transpose(1, 2) if layout == "bshd" else o


scaled_dot_product_attention = attention


def _window(what: str, causal: bool, window: tuple[int, int]) -> tuple[bool, int]:
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


def _slopes(what: str, batch: int, heads: int, slopes: Optional[Tensor]) -> Optional[Tensor]:
    """Of each head of each sequence."""
    if slopes is None:
        return None
    _check_slopes(what, batch, heads, slopes)
    return slopes.detach().expand(batch, heads).contiguous()


def flash_attn_func(q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, softmax_scale: Optional[float] = None,
                    causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
                    alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
                    return_attn_probs: bool = False, learnable_sink: Optional[Tensor] = None) -> Any:
    """flash-attention's function of this name: tensors are batch x sequence x heads x head size. That of v, which the
    result has, may be less than that of q and k. learnable_sink has a logit for each head, which joins the denominator of
    each row of it. dropout_p drops weights of V by random numbers from the default generator of the device
    (wgrun.torch.dropout_mask). return_attn_probs gives (o, lse, state of the random numbers, or None). Not deterministic."""
    what = "flash_attn_func"
    _no(what, deterministic=deterministic)
    _check(what, q, k, v, 4, 2)
    _check_sink(what, q.shape[2], learnable_sink)
    causal, window = _window(what, causal, window_size)
    state = state_of(what, dropout_p, q)
    o, lse = _attention(q.contiguous(), k.contiguous(), v.contiguous(), _scale(softmax_scale, q), causal,
                        window, softcap, "bshd", "" if alibi_slopes is None else "alibi",
                        _slopes(what, q.shape[0], q.shape[2], alibi_slopes),
                        return_attn_probs or _needs_gradients(q, k, v, learnable_sink), learnable_sink, dropout_p, state)
    return (o, lse, state) if return_attn_probs else o


@operation("attention_packed")
def _packed(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, max_queries: int, max_keys: int,
            scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor], lse: bool, sink: Optional[Tensor],
            dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    o = _empty_o(q, v)
    sums = q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)
    if o.numel() == 0:
        return o, sums
    if k.numel() == 0:
        return o.zero_(), _of_no_keys(sums, sink, (-1, 1))
    named: dict[str, Any] = {"lse": sums} if lse else {}
    options = (*_options(q, k, q.shape[1], k.shape[1], causal, window, softcap), ("value_dim", v.shape[-1]), ("packed", True),
               ("lse", lse), *_more(sink, dropout_p, state, named))
    made = launcher("attention", *options) if slopes is None else script(_FORWARD, *options, *_alibi(slopes, named)).only.on_tensors
    made(ready(q), ready(k), ready(v), o, scale=scale, query_starts=query_starts, key_starts=key_starts, max_queries=max_queries,
         **named)
    return o, sums


@_packed.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, query_starts: Tensor, key_starts: Tensor, max_queries: int, max_keys: int,
      scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor], lse: bool, sink: Optional[Tensor],
      dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    return _empty_o(q, v), q.new_empty((q.shape[1], q.shape[0]) if lse else (0,), dtype=torch.float32)


@operation("attention_packed_backward", lacks="second derivatives")
def _packed_backward(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, query_starts: Tensor,
                     key_starts: Tensor, max_queries: int, max_keys: int, scale: float, causal: bool, window: int,
                     softcap: float, slopes: Optional[Tensor], sink: Optional[Tensor], dropout_p: float,
                     state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    named: dict[str, Any] = {}
    # Rows of no sequence have no gradient.
    dq, dk, dv, dsink = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(k), _gradient_of_sink(sink, q, q.shape[1], named)
    if q.numel() == 0 or k.numel() == 0:
        return dq, dk, torch.zeros_like(v), _as_sink(dsink, sink)
    options = (*_options(q, k, q.shape[1], k.shape[1], causal, window, softcap), ("packed", True),
               *_more(sink, dropout_p, state, named), *_alibi(slopes, named))
    wide_v, wide_o, wide_d = _widened(q, v, o, d)
    for step in script(_BACKWARD, *options):
        step.on_tensors(*map(ready, (q, k, wide_v, wide_o, lse, wide_d)), dq, dk, dv, scale=scale, query_starts=query_starts,
                        key_starts=key_starts, max_queries=max_queries, max_keys=max_keys, **named)
    return dq, dk, dv[..., :v.shape[-1]].contiguous(), _as_sink(dsink, sink)


@_packed_backward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, d: Tensor, query_starts: Tensor, key_starts: Tensor,
      max_queries: int, max_keys: int, scale: float, causal: bool, window: int, softcap: float, slopes: Optional[Tensor],
      sink: Optional[Tensor], dropout_p: float, state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), _fake_gradient_of_sink(sink, q)


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
    says only how many keys it has; neither gradients, dropout, alibi_slopes nor learnable_sink then. Not deterministic."""
    what = "flash_attn_varlen_func"
    _no(what, deterministic=deterministic)
    _check_starts(what, cu_seqlens_q, cu_seqlens_k)
    causal, window = _window(what, causal, window_size)
    if block_table is not None:
        _no(what, gradients_with_block_table=_needs_gradients(q, k, v), dropout_p_with_block_table=dropout_p,
            alibi_slopes_with_block_table=alibi_slopes is not None, learnable_sink_with_block_table=learnable_sink is not None)
        _check(what, q, *(t.flatten(0, 1) if t.dim() == 4 else t for t in (k, v)), 3, 1)
        o, lse = _paged.attend(what, q, k, v, cu_seqlens_q, cu_seqlens_k, block_table, max_seqlen_q, _scale(softmax_scale, q),
                               causal, window, softcap, return_attn_probs)
        return (o, lse, None) if return_attn_probs else o
    _check(what, q, k, v, 3, 1)
    _check_sink(what, q.shape[1], learnable_sink)
    state = state_of(what, dropout_p, q)
    o, lse = _packed(q.contiguous(), k.contiguous(), v.contiguous(), cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous(),
                     max_seqlen_q, max_seqlen_k, _scale(softmax_scale, q), causal, window, softcap,
                     _slopes(what, cu_seqlens_q.shape[0] - 1, q.shape[1], alibi_slopes),
                     return_attn_probs or _needs_gradients(q, k, v, learnable_sink), learnable_sink, dropout_p, state)
    return (o, lse, state) if return_attn_probs else o


@operation("attention_decode")
def _decode(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, pages: Optional[Tensor], scale: float, causal: bool,
            softcap: float, slopes: Optional[Tensor], sink: Optional[Tensor]) -> Tensor:
    o = torch.empty_like(q)
    if o.numel() == 0:
        return o
    named: dict[str, Any] = {"lengths": lengths} if pages is None else {"lengths": lengths, "pages": pages}
    options = (("dtype", DTYPES[q.dtype]), ("dim", q.shape[3]), ("heads", q.shape[2]), ("kv_heads", k.shape[2]),
               ("queries", q.shape[1]), ("causal", causal), ("page", None if pages is None else k.shape[1]),
               ("softcap", softcap or None), *_more(sink, 0.0, None, named))
    made = launcher("attention_decode", *options) if slopes is None else script(_DECODE, *options, *_alibi(slopes, named)).only.on_tensors
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
    _check_sink(what, q.shape[2], learnable_sink)
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    for name, table in (("cache_seqlens", cache_seqlens), ("block_table", block_table)):
        if table is not None and table.dtype != torch.int32:
            wrong(what, f"{name} of {table.dtype}: int32")
    return _decode(q.contiguous(), k_cache.contiguous(), v_cache.contiguous(), cache_seqlens.contiguous(),
                   None if block_table is None else block_table.contiguous(), _scale(softmax_scale, q), causal,
                   softcap, _slopes(what, q.shape[0], q.shape[2], alibi_slopes), learnable_sink)
