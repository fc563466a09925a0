"""Products with weights of four bits that are floats: mxfp4 and nvfp4."""

from __future__ import annotations

import math
from typing import Optional

import torch
from torch import Tensor

from ._made import DTYPES, bucket, launcher, operation, ready, untraced, wrong
from ._typed import typed

_GROUPS = {"mxfp4": 32, "nvfp4": 16}
_WORDS = {"mxfp4": 544, "nvfp4": 576}  # of a unit of packed weights
_FACTORS = 64  # of the rows of a block, behind its units of mxfp4 for inputs of float8_e4m3fn
_PACKED_OF = "_wgrun_packed_of"  # an attribute of packed weights: their N and K, which their shape has rounded up
_FP8 = torch.float8_e4m3fn
_E8M0 = getattr(torch, "float8_e8m0fnu", torch.uint8)
_X2 = getattr(torch, "float4_e2m1fn_x2", torch.uint8)


@untraced
def _format_of(weight: Tensor, scale: Tensor, input_dtype: torch.dtype) -> str:
    what = "convert_weight_to_fp4pack"
    if weight.dim() != 2 or weight.dtype not in (torch.uint8, _X2):
        wrong(what, f"weight of {weight.dtype} {tuple(weight.shape)}: uint8 or float4_e2m1fn_x2, N x K / 2")
    if scale.dtype not in (torch.uint8, _E8M0, torch.float8_e4m3fn):
        wrong(what, f"scale of {scale.dtype}: float8_e8m0fnu or uint8 (mxfp4), or float8_e4m3fn (nvfp4)")
    b_type = "nvfp4" if scale.dtype == torch.float8_e4m3fn else "mxfp4"
    (n, half), group = weight.shape, _GROUPS[b_type]
    if 2 * half % group or scale.shape != (n, 2 * half // group):
        wrong(what, f"scale {tuple(scale.shape)} of {n} x {2 * half} weights: one for each {group} elements of K in a row")
    if input_dtype != torch.bfloat16 and (input_dtype, b_type) != (_FP8, "mxfp4"):
        wrong(what, f"input_dtype {input_dtype} with {b_type}: bfloat16, or float8_e4m3fn with mxfp4")
    return b_type


@operation("convert_weight_to_fp4pack")
def _convert(weight: Tensor, scale: Tensor, input_dtype: torch.dtype = torch.bfloat16) -> Tensor:
    b_type = _format_of(weight, scale, input_dtype)
    packed = _packed_like(weight, b_type, input_dtype)
    if packed.numel():
        scale = scale if b_type == "nvfp4" else scale.view(torch.uint8)
        launcher("prepacker", ("b_type", b_type), ("a_type", DTYPES[input_dtype]))(ready(weight.view(torch.uint8)), packed, ready(scale))
    return packed


def _packed_like(weight: Tensor, b_type: str, input_dtype: torch.dtype) -> Tensor:
    n, half = weight.shape
    blocks, units, words = -(-n // 64), -(-half // 256) * 8, _WORDS[b_type]
    shape = (blocks, units * words + _FACTORS) if input_dtype == _FP8 else (blocks, units, words)
    return torch.empty(shape, dtype=torch.uint32, device=weight.device)


@_convert.register_fake
def _(weight: Tensor, scale: Tensor, input_dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return _packed_like(weight, _format_of(weight, scale, input_dtype), input_dtype)


@typed
def convert_weight_to_fp4pack(weight: Tensor, scale: Tensor, input_dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Weights in the order of weight_fp4pack_mm, as torch._convert_weight_to_int4pack is of another one; once for all
    products. weight: N x K / 2 of uint8 (or float4_e2m1fn_x2), the first of two e2m1 in the lower bits. scale: N x K / 32 of
    float8_e8m0fnu or uint8 makes them mxfp4, N x K / 16 of float8_e4m3fn nvfp4.
    input_dtype: bfloat16, or float8_e4m3fn with mxfp4; the order differs."""
    _format_of(weight, scale, input_dtype)
    packed = _convert(weight, scale, input_dtype)
    if not torch.compiler.is_compiling():
        setattr(packed, _PACKED_OF, (weight.shape[0], 2 * weight.shape[1]))
    return packed


@operation("weight_fp4pack_mm")
def _product(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int],
             input_scale: Optional[Tensor] = None, out_dtype: Optional[torch.dtype] = None) -> Tensor:
    d = _result_like(input, packed, out_features, out_dtype)
    (m, k), n = input.shape, d.shape[1]
    if m == 0 or n == 0 or k == 0:
        return d.zero_()
    options = (("a_type", DTYPES[input.dtype]), ("b_type", "mxfp4" if scale is None else "nvfp4"), ("d", DTYPES[d.dtype]),
               ("problem", (bucket(m), n, k)))
    named = {} if scale is None else {"b_scales": scale.reshape(1)}
    if input_scale is not None:
        options += (("scales", (("a", "tensor" if input_scale.numel() == 1 else "row"),)),)
        named["a_scales"] = ready(input_scale.reshape(-1))
    launcher("gemm", *options)(ready(input), ready(packed), d, **named)
    return d


def _result_like(input: Tensor, packed: Tensor, out_features: Optional[int], out_dtype: Optional[torch.dtype]) -> Tensor:
    columns = 64 * packed.shape[0] if out_features is None else out_features
    return input.new_empty((input.shape[0], columns), dtype=out_dtype or torch.bfloat16)


@_product.register_fake
def _(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int],
      input_scale: Optional[Tensor] = None, out_dtype: Optional[torch.dtype] = None) -> Tensor:
    return _result_like(input, packed, out_features, out_dtype)


def _check_packed(what: str, input: Tensor, packed: Tensor, b_type: str, whole: bool) -> None:
    fp8, units, words = input.dtype == _FP8, -(-input.shape[-1] // 512) * 8, _WORDS[b_type]
    if packed.dtype != torch.uint32 or packed.dim() != (2 if fp8 else 3) or (not fp8 and packed.shape[2] != words):
        wrong(what, f"weights of {packed.dtype} {tuple(packed.shape)}: convert_weight_to_fp4pack's of {b_type}"
                    + (" for inputs of float8_e4m3fn" if fp8 else ", which a scale of all weights goes with" if whole else ""))
    if input.shape[-1] % _GROUPS[b_type] or packed.shape[1] != (units * words + _FACTORS if fp8 else units):
        wrong(what, f"input {tuple(input.shape)} and weights {tuple(packed.shape)}: they do not have the same K")


@untraced
def _check(input: Tensor, packed: Tensor, scale: Optional[Tensor], out_features: Optional[int],
           input_scale: Optional[Tensor], out_dtype: Optional[torch.dtype]) -> None:
    what, b_type = "weight_fp4pack_mm", "mxfp4" if scale is None else "nvfp4"
    dtypes = (torch.bfloat16, _FP8) if scale is None else (torch.bfloat16,)
    if input.dtype not in dtypes or input.dim() < 1:
        wrong(what, f"input of {input.dtype} {tuple(input.shape)} with {b_type}: bfloat16"
                    + (" or float8_e4m3fn" if scale is None else "") + ", (..., K)")
    if scale is not None and (scale.dtype != torch.float32 or scale.numel() != 1):
        wrong(what, f"scale of {scale.dtype} {tuple(scale.shape)}: one float32, of all weights")
    rows = math.prod(input.shape[:-1])
    if input_scale is not None and (input.dtype != _FP8 or input_scale.dtype != torch.float32 or input_scale.numel() not in (1, rows)):
        wrong(what, f"input_scale of {input_scale.dtype} {tuple(input_scale.shape)}, input of {input.dtype}: "
                    f"with float8_e4m3fn, float32, one or {rows}")
    if out_dtype not in (None, torch.bfloat16, torch.float16):
        wrong(what, f"out_dtype {out_dtype}: bfloat16 or float16")
    _check_packed(what, input, packed, b_type, scale is not None)
    if out_features is not None and (out_features % 8 or packed.shape[0] != -(-out_features // 64)):
        wrong(what, f"out_features {out_features} and weights {tuple(packed.shape)}: a multiple of 8, of as many blocks of 64")
    n, k = getattr(packed, _PACKED_OF, (out_features, input.shape[-1]))
    if k != input.shape[-1] or out_features not in (None, n):
        wrong(what, f"weights that are packed of a {n} x {k} matrix, but input and out_features are for one of "
                    f"{n if out_features is None else out_features} x {input.shape[-1]}")


@typed
def weight_fp4pack_mm(input: Tensor, packed: Tensor, scale: Optional[Tensor] = None, out_features: Optional[int] = None,
                      input_scale: Optional[Tensor] = None, out_dtype: Optional[torch.dtype] = None) -> Tensor:
    """input @ weight.T, of weights that convert_weight_to_fp4pack has packed, as torch._weight_int4pack_mm is of other ones.
    input: (..., K) of bfloat16, or of float8_e4m3fn with mxfp4 that is packed for it. scale: with nvfp4 (and not with mxfp4) one
    float32, by which all weights are multiplied. out_features: N; by default all of the packed blocks of 64. input_scale: with
    float8_e4m3fn, float32, a factor of each row of input or one of all. out_dtype: bfloat16, the default, or float16. Sums are
    f32, and weights are not rounded (with float8_e4m3fn: those whose scales are 2^-14 of the greatest in their row, or more)."""
    _check(input, packed, scale, out_features, input_scale, out_dtype)
    d = _product(
        input.reshape(math.prod(input.shape[:-1]), input.shape[-1]), packed, scale, out_features, input_scale, out_dtype)
    return d.reshape(*input.shape[:-1], d.shape[1])
