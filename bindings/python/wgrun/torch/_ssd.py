"""Mamba-2's state space duality, with mamba-ssm's arguments."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._made import DTYPES, bucket, dtype_of, missing, operation, ready, refuse_others, script, starts_of, wrong
from ._typed import typed

_SIZES = (64, 128)

_BACKWARD = """
local steps = require("wgrun").ssd_backward(options):steps()
for _, step in ipairs(steps) do
  local launch = step.launch
  function step.launch(_, x, given)
    given.x = x
    return launch(step, given)
  end
end
return steps
"""


def _options(x: Tensor, dt: Tensor, b: Tensor, d: Optional[Tensor], z: Optional[Tensor], dt_bias: Optional[Tensor],
             initial_states: Optional[Tensor], starts: Optional[Tensor], dt_softplus: bool, smallest: float, largest: float,
             final_states: bool) -> tuple[tuple[str, Any], ...]:
    """Of wg.ssd and of wg.ssd_backward."""
    # Which kernels are best depends on the number of tokens, roughly: few kernels serve all of them.
    problem = None if starts is not None else (bucket(x.shape[1]), x.shape[0])
    limits = None if (smallest, largest) == (0.0, math.inf) else (smallest, min(largest, torch.finfo(torch.float32).max))
    skip = False if d is None else True if d.dim() == 1 else "headdim"
    return (("dtype", DTYPES[x.dtype]), ("heads", x.shape[-2]), ("headdim", x.shape[-1]), ("groups", b.shape[-2]),
            ("dstate", b.shape[-1]), ("dt_dtype", DTYPES[dt.dtype]), ("dt_bias", dt_bias is not None),
            ("dt_softplus", dt_softplus), ("dt_limit", limits), ("D", skip), ("z", z is not None),
            ("packed", starts is not None), ("initial_state", initial_states is not None), ("final_state", final_states),
            ("problem", problem))


def _given(**tensors: Optional[Tensor]) -> dict[str, Any]:
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


@operation("ssd")
def _ssd(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], z: Optional[Tensor],
         dt_bias: Optional[Tensor], initial_states: Optional[Tensor], starts: Optional[Tensor], dt_softplus: bool,
         smallest: float, largest: float, final_states: bool) -> tuple[Tensor, Tensor]:
    y, state = _empty(x, b, starts, final_states)
    if y.numel() == 0:
        return y, state.zero_() if initial_states is None else state.copy_(initial_states) if final_states else state
    options = _options(x, dt, b, d, z, dt_bias, initial_states, starts, dt_softplus, smallest, largest, final_states)
    named = _given(D=d, z=None if z is None else ready(z), dt_bias=dt_bias, initial_state=initial_states, starts=starts,
                   final_state=state if final_states else None)
    for step in script('return require("wgrun").ssd(options):steps()', *options):
        step.on_tensors(ready(x), ready(dt), a, ready(b), ready(c), y, **named)
    return y, state


def _empty(x: Tensor, b: Tensor, starts: Optional[Tensor], final_states: bool) -> tuple[Tensor, Tensor]:
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    shape = (sequences, *x.shape[-2:], b.shape[-1]) if final_states else (0,)
    return torch.empty_like(x, memory_format=torch.contiguous_format), x.new_empty(shape, dtype=torch.float32)


@_ssd.register_fake
def _(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], z: Optional[Tensor],
      dt_bias: Optional[Tensor], initial_states: Optional[Tensor], starts: Optional[Tensor], dt_softplus: bool,
      smallest: float, largest: float, final_states: bool) -> tuple[Tensor, Tensor]:
    return _empty(x, b, starts, final_states)


@operation("ssd_backward", lacks="second derivatives")
def _ssd_backward(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], z: Optional[Tensor],
                  dt_bias: Optional[Tensor], initial_states: Optional[Tensor], starts: Optional[Tensor],
                  dy: Tensor, d_states: Optional[Tensor], dt_softplus: bool, smallest: float,
                  largest: float) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of the first nine, empty for those that there are not."""
    results = _empty_gradients(x, dt, a, b, c, d, z, dt_bias, initial_states)
    dx, ddt, da, db, dc, dd, dz, dbias, d_initial = results
    if x.numel() == 0:
        for result in results:
            result.zero_()
        if d_states is not None and initial_states is not None:
            d_initial.copy_(d_states)
        return results
    options = _options(x, dt, b, d, z, dt_bias, initial_states, starts, dt_softplus, smallest, largest, d_states is not None)
    named = _given(dt=ready(dt), A=a, B=ready(b), C=ready(c), dy=ready(dy), dx=dx, ddt=ddt, dA=da, dB=db, dC=dc, starts=starts,
                   dfinal_state=d_states)
    if d is not None:
        named.update(D=d, dD=dd)
    if z is not None:
        named.update(z=ready(z), dz=dz)
    if dt_bias is not None:
        named.update(dt_bias=dt_bias, ddt_bias=dbias)
    if initial_states is not None:
        named.update(initial_state=initial_states, dinitial_state=d_initial)
    for step in script(_BACKWARD, *options):
        step.on_tensors(ready(x), **named)
    return results


def _empty_gradients(*tensors: Optional[Tensor]) -> Any:
    nothing = tensors[0].new_empty((0,))  # type: ignore[union-attr]
    return tuple(nothing.clone() if tensor is None else torch.empty_like(tensor, memory_format=torch.contiguous_format)
                 for tensor in tensors)


@_ssd_backward.register_fake
def _(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Optional[Tensor], z: Optional[Tensor],
      dt_bias: Optional[Tensor], initial_states: Optional[Tensor], starts: Optional[Tensor], dy: Tensor,
      d_states: Optional[Tensor], dt_softplus: bool, smallest: float,
      largest: float) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return _empty_gradients(x, dt, a, b, c, d, z, dt_bias, initial_states)


def _context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, ctx.softplus, ctx.smallest, ctx.largest, ctx.final_states = inputs
    ctx.save_for_backward(*tensors)


def _gradients(ctx: Any, dy: Tensor, d_states: Tensor) -> tuple[Optional[Tensor], ...]:
    tensors = ctx.saved_tensors
    gradients = _ssd_backward(*tensors, dy.contiguous(), d_states.contiguous() if ctx.final_states else None, ctx.softplus,
                              ctx.smallest, ctx.largest)
    return (*(gradient if tensor is not None else None for gradient, tensor in zip(gradients, tensors)), *(None,) * 5)


_ssd.register_autograd(_gradients, setup_context=_context)


@typed
def ssd(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, chunk_size: Optional[int] = None, D: Optional[Tensor] = None,
        z: Optional[Tensor] = None, dt_bias: Optional[Tensor] = None, initial_states: Optional[Tensor] = None,
        cu_seqlens: Optional[Tensor] = None, dt_softplus: bool = False, dt_limit: tuple[float, float] = (0.0, math.inf),
        return_final_states: bool = False, **others: Any) -> Any:
    """mamba-ssm's mamba_chunk_scan_combined: x and z are batch x tokens x heads x headdim, dt batch x tokens x heads, A and dt_bias
    heads, D heads or heads x headdim (all float32), B and C batch x tokens x groups x dstate; headdim and dstate are 64 or 128.
    chunk_size changes nothing: chunks have 64 tokens. Sequences one after another have cu_seqlens, in a batch of 1. Returns y, or
    with return_final_states y and the states after the last tokens, sequences x heads x headdim x dstate (float32)."""
    what = "ssd"
    refuse_others(what, others)
    dtype_of(what, x, B, C, *([] if z is None else [z]))
    if x.dim() != 4 or B.dim() != 4 or B.shape != C.shape or B.shape[:2] != x.shape[:2] or dt.shape != x.shape[:3]:
        wrong(what, f"x {tuple(x.shape)}, dt {tuple(dt.shape)}, B {tuple(B.shape)} and C {tuple(C.shape)} do not fit")
    if x.shape[3] not in _SIZES or B.shape[3] not in _SIZES:
        missing(what, f"a headdim of {x.shape[3]} and a dstate of {B.shape[3]}: 64 or 128")
    heads = x.shape[2]
    if B.shape[2] == 0 or heads % B.shape[2]:
        wrong(what, f"{heads} heads and {B.shape[2]} groups: each group serves equally many heads")
    for name, vector in (("A", A), ("dt_bias", dt_bias)):
        if vector is not None and vector.shape != (heads,):
            missing(what, f"{name} {tuple(vector.shape)}: {(heads,)}")
    if D is not None and D.shape not in ((heads,), (heads, x.shape[3])):
        wrong(what, f"D {tuple(D.shape)}: {(heads,)} or {(heads, x.shape[3])}")
    if z is not None and z.shape != x.shape:
        wrong(what, f"z {tuple(z.shape)}: {tuple(x.shape)}")
    starts = None if cu_seqlens is None else starts_of(what, cu_seqlens, x.shape[0])
    sequences = x.shape[0] if starts is None else starts.shape[0] - 1
    states = (sequences, heads, x.shape[3], B.shape[3])
    if initial_states is not None and initial_states.shape != states:
        wrong(what, f"initial_states {tuple(initial_states.shape)}: {states}")
    if not 0 <= dt_limit[0] <= dt_limit[1]:
        wrong(what, f"a dt_limit of {tuple(dt_limit)}: 0 or more, and the smaller one first")
    if not dt.is_floating_point():
        wrong(what, f"dt of {dt.dtype}: a floating-point type")

    def of_tokens(tensor: Optional[Tensor]) -> Optional[Tensor]:
        return None if tensor is None else (tensor if starts is None else tensor.squeeze(0)).contiguous()

    dt = dt if dt.dtype in (torch.float32, torch.bfloat16, torch.float16) else dt.float()
    skip, bias, initial = (None if tensor is None else tensor.float().contiguous() for tensor in (D, dt_bias, initial_states))
    y, state = _ssd(*map(of_tokens, (x, dt)), A.float().contiguous(), *map(of_tokens, (B, C)), skip, of_tokens(z), bias, initial,
                    starts, dt_softplus, float(dt_limit[0]), float(dt_limit[1]), return_final_states)
    y = y.view_as(x)
    return (y, state) if return_final_states else y
