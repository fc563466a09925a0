"""Products with weights of four bits that are floats: mxfp4 and nvfp4."""

from __future__ import annotations

import math
from typing import Optional

import torch
from torch import Tensor

from ._made import bucket, launcher, operation, ready, untraced, wrong

_GROUPS = {"mxfp4": 32, "nvfp4": 16}
_WORDS = {"mxfp4": 544, "nvfp4": 576}  # of a unit of packed weights
_E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)
_X2 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)


@untraced
def _format_of(weight: Tensor, scale: Tensor) -> str:
    what = "convert_weight_to_fp4pack"
    if weight.dim() != 2 or weight.dtype not in (torch.uint8, _X2):
        wrong(what, f"weight of {weight.dtype} {tuple(weight.shape)}: uint8 or float4_e2m1fn_x2, N x K / 2")
    if scale.dtype not in (torch.uint8, _E8M0, torch.float8_e4m3fn):
        wrong(what, f"scale of {scale.dtype}: float8_e8m0fnu or uint8 (mxfp4), or float8_e4m3fn (nvfp4)")
    b_type = "nvfp4" if scale.dtype == torch.float8_e4m3fn else "mxfp4"
    (n, half), group = weight.shape, _GROUPS[b_type]
    if 2 * half % group or scale.shape != (n, 2 * half // group):
        wrong(what, f"scale {tuple(scale.shape)} of {n} x {2 * half} weights: one for each {group} elements of K in a row")
    return b_type


@operation("convert_weight_to_fp4pack")
def _convert(weight: Tensor, scale: Tensor) -> Tensor:
    b_type = _format_of(weight, scale)
    packed = _packed_like(weight, b_type)
    if packed.numel():
        scale = scale if b_type == "nvfp4" else scale.view(torch.uint8)
        launcher("prepacker", ("b_type", b_type))(ready(weight.view(torch.uint8)), packed, ready(scale))
    return packed


def _packed_like(weight: Tensor, b_type: str) -> Tensor:
    n, half = weight.shape
    return torch.empty((-(-n // 64), -(-half // 256) * 8, _WORDS[b_type]), dtype=torch.uint32, device=weight.device)


@_convert.register_fake
def _(weight: Tensor, scale: Tensor) -> Tensor:
    return _packed_like(weight, _format_of(weight, scale))


def convert_weight_to_fp4pack(weight: Tensor, scale: Tensor) -> Tensor:
    """Weights in the order of weight_fp4pack_mm, as torch._convert_weight_to_int4pack is of another one; once for all
    products. weight: N x K / 2 of uint8 (or float4_e2m1fn_x2), the first of two e2m1 in the lower bits. scale: N x K / 32 of
    float8_e8m0fnu or uint8 makes them mxfp4, N x K / 16 of float8_e4m3fn nvfp4."""
    _format_of(weight, scale)
    return _convert(weight, scale)


@operation("weight_fp4pack_mm")
def _product(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int]) -> Tensor:
    d = _result_like(input, packed, out_features)
    (m, k), n = input.shape, d.shape[1]
    if m == 0 or n == 0 or k == 0:
        return d.zero_()
    options = (("b_type", "mxfp4" if scale is None else "nvfp4"), ("problem", (bucket(m), n, k)))
    named = {} if scale is None else {"b_scales": scale.reshape(1)}
    launcher("gemm", *options)(ready(input), ready(packed), d, **named)
    return d


def _result_like(input: Tensor, packed: Tensor, out_features: Optional[int]) -> Tensor:
    return input.new_empty((input.shape[0], 64 * packed.shape[0] if out_features is None else out_features))


@_product.register_fake
def _(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int]) -> Tensor:
    return _result_like(input, packed, out_features)


@untraced
def _check(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int]) -> None:
    what, b_type = "weight_fp4pack_mm", "mxfp4" if scale is None else "nvfp4"
    if input.dtype != torch.bfloat16 or input.dim() < 1:
        wrong(what, f"input of {input.dtype} {tuple(input.shape)}: bfloat16, (..., K)")
    if scale is not None and (scale.dtype != torch.float32 or scale.numel() != 1):
        wrong(what, f"scale of {scale.dtype} {tuple(scale.shape)}: one float32, of all weights")
    if packed.dtype != torch.uint32 or packed.dim() != 3 or packed.shape[2] != _WORDS[b_type]:
        wrong(what, f"weights of {packed.dtype} {tuple(packed.shape)}: convert_weight_to_fp4pack's of {b_type}"
                    + (", which a scale of all weights goes with" if scale is not None else ""))
    k = input.shape[-1]
    if k % _GROUPS[b_type] or packed.shape[1] != -(-k // 512) * 8:
        wrong(what, f"input {tuple(input.shape)} and weights {tuple(packed.shape)}: they do not have the same K")
    if out_features is not None and (out_features % 8 or packed.shape[0] != -(-out_features // 64)):
        wrong(what, f"out_features {out_features} and weights {tuple(packed.shape)}: a multiple of 8, of as many blocks of 64")


def weight_fp4pack_mm(input: Tensor, packed: Tensor, scale: Optional[Tensor] = None, out_features: Optional[int] = None) -> Tensor:
    """input @ weight.T, of weights that convert_weight_to_fp4pack has packed, as torch._weight_int4pack_mm is of other ones.
    input: (..., K) of bfloat16. scale: with nvfp4 (and not with mxfp4) one float32, by which all weights are multiplied.
    out_features: N; by default all of the packed blocks of 64. Sums are f32, and no weight is rounded."""
    _check(input, packed, scale, out_features)
    d = _product(input.reshape(math.prod(input.shape[:-1]), input.shape[-1]), packed, scale, out_features)
    return d.reshape(*input.shape[:-1], d.shape[1])
