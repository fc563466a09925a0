"""Linear attention: the gated delta rule and Kimi delta attention, with flash-linear-attention's arguments."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._made import DTYPES, bucket, dtype_of, missing, operation, ready, refuse_others, script, starts_of, wrong
from ._typed import typed

_DIM = 128


@operation("delta_rule")
def _delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float, initial_state: Optional[Tensor],
                final_state: bool, state_v_first: bool, starts: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    o, state = _empty(v, final_state, starts)
    if o.numel() == 0:
        return o, state.zero_() if initial_state is None else state.copy_(initial_state) if final_state else state
    # Which kernels are best depends on the number of tokens, roughly: few kernels serve all of them.
    problem = None if starts is not None else (bucket(v.shape[1]), v.shape[0])
    options = (("dtype", DTYPES[v.dtype]), ("heads", v.shape[-2]), ("qk_heads", q.shape[-2]), ("packed", starts is not None),
               ("decay", _decay(g, v)), ("g_dtype", DTYPES[g.dtype]),
               ("initial_state", initial_state is not None),
               ("final_state", final_state), ("state_layout", "vk" if state_v_first else "kv"), ("problem", problem))
    named: dict[str, Any] = {"g": ready(g), "beta": ready(beta), "scale": scale}
    for name, tensor in (("initial_state", initial_state), ("final_state", state if final_state else None), ("starts", starts)):
        if tensor is not None:
            named[name] = tensor
    for step in script('return require("wgrun").delta_rule(options):steps()', *options):
        step.on_tensors(ready(q), ready(k), ready(v), o, **named)
    return o, state


def _decay(g: Tensor, v: Tensor) -> str:
    """What a decay is for."""
    return "channel" if g.dim() == v.dim() else "head"


def _empty(v: Tensor, final_state: bool, starts: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    sequences = v.shape[0] if starts is None else starts.shape[0] - 1
    shape = (sequences, v.shape[-2], _DIM, _DIM) if final_state else (0,)
    return torch.empty_like(v, memory_format=torch.contiguous_format), v.new_empty(shape, dtype=torch.float32)


@_delta_rule.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: float, initial_state: Optional[Tensor],
      final_state: bool, state_v_first: bool, starts: Optional[Tensor]) -> tuple[Tensor, Tensor]:
    return _empty(v, final_state, starts)


@operation("delta_rule_backward", lacks="second derivatives")
def _delta_rule_backward(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, d: Tensor, d_state: Optional[Tensor],
                         scale: float, initial_state: Optional[Tensor], state_v_first: bool,
                         starts: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    results = _empty_gradients(q, k, v, g, beta, initial_state)
    if v.numel() == 0:
        for result in results:
            result.zero_()
        if initial_state is not None and d_state is not None:
            results[5].copy_(d_state)
        return results
    options = (("heads", v.shape[-2]), ("qk_heads", q.shape[-2]), ("packed", starts is not None),
               ("decay", _decay(g, v)), ("g_dtype", DTYPES[g.dtype]),
               ("initial_state", initial_state is not None), ("final_state", d_state is not None),
               ("state_layout", "vk" if state_v_first else "kv"))
    named = {name: ready(x) for name, x in (("Q", q), ("K", k), ("V", v), ("g", g), ("beta", beta), ("dO", d))}
    named.update(zip(("dQ", "dK", "dV", "dg", "dbeta"), results))
    if initial_state is not None:
        named.update(initial_state=initial_state, d_initial_state=results[5])
    named.update((name, ready(x)) for name, x in (("d_final_state", d_state), ("starts", starts)) if x is not None)
    for step in script('return require("wgrun").delta_rule_backward(options):steps()', *options):
        step.on_tensors(**named, scale=scale)
    return results


def _empty_gradients(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor,
                     initial_state: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
    state = v.new_empty((0,) if initial_state is None else initial_state.shape, dtype=torch.float32)
    return dq, dk, dv, g.new_empty(g.shape, dtype=torch.float32), beta.new_empty(beta.shape), state


@_delta_rule_backward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, d: Tensor, d_state: Optional[Tensor], scale: float,
      initial_state: Optional[Tensor], state_v_first: bool,
      starts: Optional[Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return _empty_gradients(q, k, v, g, beta, initial_state)


def _context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *rows, ctx.scale, initial_state, ctx.final_state, ctx.state_v_first, starts = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*rows, initial_state, starts)


def _gradients(ctx: Any, d: Optional[Tensor], d_state: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
    q, k, v, g, beta, initial_state, starts = ctx.saved_tensors
    if v.dtype != torch.bfloat16:
        missing("wgrun::delta_rule", f"has no gradients of {v.dtype}: bfloat16")
    d = torch.zeros_like(v) if d is None else d
    dq, dk, dv, dg, dbeta, d_initial = _delta_rule_backward(
        q, k, v, g, beta, d.contiguous(), d_state if ctx.final_state else None, ctx.scale, initial_state, ctx.state_v_first, starts)
    return dq, dk, dv, dg.to(g.dtype), dbeta, None, None if initial_state is None else d_initial, None, None, None


_delta_rule.register_autograd(_gradients, setup_context=_context)


def _unit(x: Tensor) -> Tensor:
    """Rows of length 1, as flash-linear-attention makes them."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().sum(-1, keepdim=True) + 1e-6)).to(x.dtype)


def _call(what: str, q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: Optional[float],
          initial_state: Optional[Tensor], output_final_state: bool, use_qk_l2norm_in_kernel: bool, state_v_first: bool,
          cu_seqlens: Optional[Tensor], others: dict[str, Any]) -> tuple[Tensor, Optional[Tensor]]:
    refuse_others(what, others)
    dtype_of(what, q, k, v)
    if q.dim() != 4 or q.shape != k.shape or v.dim() != 4 or v.shape[:2] != q.shape[:2]:
        wrong(what, f"Q {tuple(q.shape)}, K {tuple(k.shape)} and V {tuple(v.shape)} do not fit")
    if q.shape[3] != _DIM or v.shape[3] != _DIM:
        missing(what, f"head sizes of {q.shape[3]} and {v.shape[3]}: {_DIM}")
    if q.shape[2] == 0 or v.shape[2] % q.shape[2]:
        wrong(what, f"{v.shape[2]} heads of V and {q.shape[2]} of Q: each of Q serves equally many of V")
    gates = (*v.shape[:3], _DIM) if what == "kda" else v.shape[:3]
    if g.shape != gates or beta.shape != v.shape[:3]:
        wrong(what, f"g {tuple(g.shape)} and beta {tuple(beta.shape)}: {tuple(gates)} and {tuple(v.shape[:3])}")
    factor = 1 / math.sqrt(_DIM) if scale is None else float(scale)
    if not 0 < factor < math.inf:
        wrong(what, f"a scale of {factor}: a positive number")
    starts = None if cu_seqlens is None else starts_of(what, cu_seqlens, v.shape[0])
    sequences = v.shape[0] if starts is None else starts.shape[0] - 1
    states = (sequences, v.shape[2], _DIM, _DIM)
    if initial_state is not None and initial_state.shape != states:
        wrong(what, f"initial_state {tuple(initial_state.shape)}: {states}")
    if use_qk_l2norm_in_kernel:
        q, k = _unit(q), _unit(k)
    tensors = (q, k, v, g if g.dtype == torch.bfloat16 else g.float(), beta.float())
    o, state = _delta_rule(*((tensor if starts is None else tensor.squeeze(0)).contiguous() for tensor in tensors), factor,
                           None if initial_state is None else initial_state.float().contiguous(), output_final_state,
                           state_v_first, starts)
    return o.view_as(v), state if output_final_state else None


@typed
def delta_rule(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: Optional[float] = None,
               initial_state: Optional[Tensor] = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
               state_v_first: bool = False, cu_seqlens: Optional[Tensor] = None,
               **others: Any) -> tuple[Tensor, Optional[Tensor]]:
    """flash-linear-attention's chunk_gated_delta_rule: q and k are batch x tokens x heads x 128, v batch x tokens x value
    heads x 128, g (the logarithm of the decay) and beta batch x tokens x value heads. Returns o and, with
    output_final_state, the states after the last tokens (float32), else None. Gradients are for bfloat16: of all of q, k, v,
    g, beta and initial_state, also by way of the states after the last tokens."""
    return _call("delta_rule", q, k, v, g, beta, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
                 state_v_first, cu_seqlens, others)


@typed
def kda(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, scale: Optional[float] = None,
        initial_state: Optional[Tensor] = None, output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
        state_v_first: bool = False, cu_seqlens: Optional[Tensor] = None, safe_gate: bool = False,
        **others: Any) -> tuple[Tensor, Optional[Tensor]]:
    """flash-linear-attention's chunk_kda, Kimi delta attention: as delta_rule, but g is batch x tokens x value heads x 128,
    and tensors are bfloat16. safe_gate changes nothing: any g of 0 or less will do."""
    return _call("kda", q, k, v, g, beta, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel, state_v_first,
                 cu_seqlens, others)
