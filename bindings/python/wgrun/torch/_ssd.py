"""Mamba-2's state space duality, with mamba-ssm's arguments."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._made import DTYPES, bucket, dtype_of, missing, operation, ready, refuse_others, script, starts_of, wrong

_SIZES = (64, 128)


@operation("ssd")
def _ssd(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], dt_bias: Optional[Tensor],
         initial_states: Optional[Tensor], starts: Optional[Tensor], dt_softplus: bool, smallest: float, largest: float,
         final_states: bool) -> tuple[Tensor, Tensor]:
    y, state = _empty(x, b, starts, final_states)
    if y.numel() == 0:
        return y, state.zero_() if initial_states is None else state.copy_(initial_states) if final_states else state
    # Which kernels are best depends on the number of tokens, roughly: few kernels serve all of them.
    problem = None if starts is not None else (bucket(x.shape[1]), x.shape[0])
    limits = None if (smallest, largest) == (0.0, math.inf) else (smallest, min(largest, torch.finfo(torch.float32).max))
    options = (("dtype", DTYPES[x.dtype]), ("heads", x.shape[-2]), ("headdim", x.shape[-1]), ("groups", b.shape[-2]),
               ("dstate", b.shape[-1]), ("dt_dtype", DTYPES[dt.dtype]), ("dt_bias", dt_bias is not None),
               ("dt_softplus", dt_softplus), ("dt_limit", limits), ("D", d is not None), ("packed", starts is not None),
               ("initial_state", initial_states is not None), ("final_state", final_states), ("problem", problem))
    given = {"dt_bias": dt_bias, "D": d, "starts": starts, "initial_state": initial_states,
             "final_state": state if final_states else None}
    named: dict[str, Any] = {name: tensor for name, tensor in given.items() if tensor is not None}
    for step in script('return require("wgrun").ssd(options):steps()', *options):
        step.on_tensors(ready(x), ready(dt), a, ready(b), ready(c), y, **named)
    return y, state


def _empty(x: Tensor, b: Tensor, starts: Optional[Tensor], final_states: bool) -> tuple[Tensor, Tensor]:
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    shape = (sequences, *x.shape[-2:], b.shape[-1]) if final_states else (0,)
    return torch.empty_like(x, memory_format=torch.contiguous_format), x.new_empty(shape, dtype=torch.float32)


@_ssd.register_fake
def _(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], dt_bias: Optional[Tensor],
      initial_states: Optional[Tensor], starts: Optional[Tensor], dt_softplus: bool, smallest: float, largest: float,
      final_states: bool) -> tuple[Tensor, Tensor]:
    return _empty(x, b, starts, final_states)


def ssd(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, chunk_size: Optional[int] = None, D: Optional[Tensor] = None,
        dt_bias: Optional[Tensor] = None, initial_states: Optional[Tensor] = None, cu_seqlens: Optional[Tensor] = None,
        dt_softplus: bool = False, dt_limit: tuple[float, float] = (0.0, math.inf), return_final_states: bool = False,
        **others: Any) -> Any:
    """mamba-ssm's mamba_chunk_scan_combined: x is batch x tokens x heads x headdim, dt batch x tokens x heads, A (and D and
    dt_bias, of each head) float32, B and C batch x tokens x groups x dstate; headdim and dstate are 64 or 128. chunk_size
    changes nothing: chunks have 64 tokens. Sequences one after another have cu_seqlens, in a batch of 1. Returns y, or with
    return_final_states y and the states after the last tokens, sequences x heads x headdim x dstate (float32). No gradients."""
    what = "ssd"
    refuse_others(what, others)
    dtype_of(what, x, B, C)
    if x.dim() != 4 or B.dim() != 4 or B.shape != C.shape or B.shape[:2] != x.shape[:2] or dt.shape != x.shape[:3]:
        wrong(what, f"x {tuple(x.shape)}, dt {tuple(dt.shape)}, B {tuple(B.shape)} and C {tuple(C.shape)} do not fit")
    if x.shape[3] not in _SIZES or B.shape[3] not in _SIZES:
        missing(what, f"a headdim of {x.shape[3]} and a dstate of {B.shape[3]}: 64 or 128")
    heads = x.shape[2]
    if B.shape[2] == 0 or heads % B.shape[2]:
        wrong(what, f"{heads} heads and {B.shape[2]} groups: each group serves equally many heads")
    for name, vector in (("A", A), ("D", D), ("dt_bias", dt_bias)):
        if vector is not None and vector.shape != (heads,):
            missing(what, f"{name} {tuple(vector.shape)}: {(heads,)}")
    starts = None if cu_seqlens is None else starts_of(what, cu_seqlens, x.shape[0])
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    states = (sequences, heads, x.shape[3], B.shape[3])
    if initial_states is not None and initial_states.shape != states:
        wrong(what, f"initial_states {tuple(initial_states.shape)}: {states}")
    if not 0 <= dt_limit[0] <= dt_limit[1]:
        wrong(what, f"a dt_limit of {tuple(dt_limit)}: 0 or more, and the smaller one first")
    if not dt.is_floating_point():
        wrong(what, f"dt of {dt.dtype}: a floating-point type")
    of_tokens = [x, dt if dt.dtype in (torch.float32, torch.bfloat16, torch.float16) else dt.float(), B, C]
    of_tokens = [(tensor if starts is None else tensor.squeeze(0)).contiguous() for tensor in of_tokens]
    vectors = [None if tensor is None else tensor.float().contiguous() for tensor in (D, dt_bias, initial_states)]
    y, state = _ssd(of_tokens[0], of_tokens[1], A.float().contiguous(), of_tokens[2], of_tokens[3], *vectors, starts, dt_softplus,
                    float(dt_limit[0]), float(dt_limit[1]), return_final_states)
    y = y.view_as(x)
    return (y, state) if return_final_states else y
