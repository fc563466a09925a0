"""Products of matrices: linear, matmul, scaled_mm, grouped_mm."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from .._launcher import Again
from . import _f64
from ._made import DTYPES, autocast, bucket, dtype_of, launcher, missing, operand, operation, ready, untraced, wrong
from ._typed import typed


_BIAS = ("epilogue", (("bias", "column"),))


def _unit(matrix: Tensor) -> int:
    """The elements of 16 bytes, of which rows have a whole number: TMA copies no others."""
    return 16 // matrix.element_size()


def _padded(matrix: Tensor, rows: int, columns: int) -> Tensor:
    """The matrix with zeros behind its rows and columns, up to multiples of these."""
    more = (0, -matrix.shape[1] % columns, 0, -matrix.shape[0] % rows)
    return torch.nn.functional.pad(matrix, more) if any(more) else matrix


# The option `precision` for what torch.get_float32_matmul_precision says.
_PRECISIONS = {"highest": "bf16x6", "high": "bf16x3", "medium": "bf16x3"}


def _parts(matrix: Tensor, precision: str) -> Tensor:
    """Its parts in bfloat16, one below the other."""
    parts = matrix.new_empty(((2 if precision == "bf16x3" else 3) * matrix.shape[0], -(-matrix.shape[1] // 8) * 8),
                             dtype=torch.bfloat16)
    launcher("splitter", ("precision", precision))(ready(matrix), parts)
    return parts


def _operands(a: Tensor, b: Tensor) -> tuple[tuple[tuple[str, str], ...], Tensor, Tensor]:
    """Options of wg.gemm for the operands, and these as its kernel takes them."""
    if a.dtype == torch.float32:
        precision = _PRECISIONS[torch.get_float32_matmul_precision()]
        return (("dtype", "f32"), ("precision", precision)), _parts(a, precision), _parts(b, precision)
    (left, a_major), (right, b_major) = operand(a, _unit(a)), operand(b, _unit(b))
    return (("dtype", DTYPES[a.dtype]), ("a_major", a_major), ("b_major", b_major)), left, right


#: Products of two matrices that need no copies of them, by what they depend on: found at once, where a small product takes
#: less time than a look at all of its options.
_known: dict[Any, Again] = {}
_MOST_KNOWN = 256


def _product(a: Tensor, b: Tensor, bias: Optional[Tensor]) -> Tensor:
    """a @ b.T + bias: a is M x K, b is N x K."""
    d = a.new_empty((a.shape[0], b.shape[0]))
    more = () if bias is None else (bias.detach().float().contiguous(),)
    key = (a.dtype, a.shape, a.stride(), a.get_device(), b.dtype, b.shape, b.stride(), b.get_device(),
           None if bias is None else bias.shape)
    known = _known.get(key)
    if known is not None and known.again(a, b, d, *more):
        return d
    return _into(d, a, b, bias, key)


def _into(d: Tensor, a: Tensor, b: Tensor, bias: Optional[Tensor], key: Any) -> Tensor:
    """Fills d, or returns another tensor in its place. key: by which the product is found again."""
    (m, k), n = a.shape, b.shape[0]
    if m == 0 or n == 0:
        return d
    if k == 0:
        return d.zero_() if bias is None else d.copy_(bias.expand(m, n))
    if a.dtype == torch.float64:
        d = _f64.product(a, b)
        return d if bias is None else d.add_(bias.detach())
    unit = _unit(a)
    if n % unit or k % unit:
        more = None if bias is None else torch.nn.functional.pad(bias, (0, -n % unit))
        return _product(_padded(a, 1, unit), _padded(b, unit, unit), more)[:, :n].contiguous()
    of_operands, left, right = _operands(a.detach(), b.detach())
    options = (*of_operands, ("problem", (bucket(m), n, k)))
    if bias is None:
        known = launcher("gemm", *options)(left, right, d)
    else:
        known = launcher("gemm", *options, _BIAS)(left, right, d, bias=bias.detach().float().contiguous())
    if known is not None and left.data_ptr() == a.data_ptr() and right.data_ptr() == b.data_ptr():
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = known
    return d


@operation("mm")
def _mm(a: Tensor, b: Tensor, bias: Optional[Tensor]) -> Tensor:
    return _product(a, b, bias)


@_mm.register_fake
def _(a: Tensor, b: Tensor, bias: Optional[Tensor]) -> Tensor:
    return a.new_empty((a.shape[0], b.shape[0]))


def _mm_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    a, b, bias = inputs
    ctx.save_for_backward(a, b)
    ctx.bias = None if bias is None else bias.dtype


def _mm_gradients(ctx: Any, d: Tensor) -> tuple[Optional[Tensor], ...]:
    a, b = ctx.saved_tensors
    needs = ctx.needs_input_grad
    d = d.contiguous()
    return (_mm(d, b.t(), None) if needs[0] else None,
            _mm(d.t(), a.t(), None) if needs[1] else None,
            d.sum(0, dtype=torch.promote_types(d.dtype, torch.float32)).to(ctx.bias) if needs[2] else None)


_mm.register_autograd(_mm_gradients, setup_context=_mm_context)


@_mm.register_vmap
def _(info: Any, dims: tuple[Optional[int], ...], a: Tensor, b: Tensor, bias: Optional[Tensor]) -> tuple[Tensor, int]:
    """Rows of all batches are one matrix's where they share b and the bias; else the products are a batch of bmm."""
    of_a, of_b, of_bias = dims
    if of_a is not None and of_b is None and of_bias is None:
        a = a.movedim(of_a, 0)
        return _mm.dispatch(a.flatten(0, 1), b, bias).unflatten(0, a.shape[:2]), 0
    a, b = (tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in ((a, of_a), (b, of_b)))
    d = _bmm.dispatch(a, b)
    if bias is None:
        return d, 0
    return d + (bias.movedim(of_bias, 0).unsqueeze(1) if of_bias is not None else bias).to(d.dtype), 0


def _flat(tensor: Tensor) -> Tensor:
    """Its rows, one below the other."""
    return tensor if tensor.dim() == 2 else tensor.reshape(math.prod(tensor.shape[:-1]), tensor.shape[-1])


def _check_bias(what: str, bias: Optional[Tensor], columns: int) -> None:
    if bias is not None and (bias.shape != (columns,) or bias.is_complex()):
        wrong(what, f"bias of {bias.dtype} {tuple(bias.shape)}: {columns} values are needed")


@untraced
def _check_linear(input: Tensor, weight: Tensor, bias: Optional[Tensor]) -> None:
    dtype_of("linear", input, weight, wider=True)
    if weight.dim() != 2 or input.dim() < 1 or input.shape[-1] != weight.shape[1]:
        wrong("linear", f"input {tuple(input.shape)} and weight {tuple(weight.shape)} do not fit: (..., K) and (N, K)")
    _check_bias("linear", bias, weight.shape[0])


@typed
def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """torch.nn.functional.linear: input @ weight.T + bias. bfloat16, float16, float32 or float64, as matmul; sums of the
    first three are f32."""
    input, weight, bias = autocast(input, weight, bias)
    _check_linear(input, weight, bias)
    out = _mm(_flat(input), weight, bias)
    return out if input.dim() == 2 else out.reshape(*input.shape[:-1], weight.shape[0])


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """a[i] @ b[i].T: a is G x M x K, b is G x N x K."""
    groups, m, k = a.shape
    n = b.shape[1]
    d = a.new_empty((groups, m, n))
    if d.numel() == 0:
        return d
    if k == 0:
        return d.zero_()
    if groups == 1 or a.dtype in (torch.float32, torch.float64):
        for group in range(groups):
            d[group] = _product(a[group], b[group], None)
        return d
    unit = _unit(a)
    if n % unit or k % unit:
        pad = torch.nn.functional.pad
        return _batched(pad(a, (0, -k % unit)), pad(b, (0, -k % unit, 0, -n % unit)))[..., :n].contiguous()
    options = (("dtype", DTYPES[a.dtype]), ("groups", "batched"), ("problem", (groups * bucket(m), n, k, groups)))
    launcher("gemm", *options)(ready(_flat(a.detach())), ready(_flat(b.detach())),
                              d.view(-1, n), count=groups)
    return d


@operation("bmm")
def _bmm(a: Tensor, b: Tensor) -> Tensor:
    return _batched(a, b)


@_bmm.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty((a.shape[0], a.shape[1], b.shape[1]))


def _bmm_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _bmm_gradients(ctx: Any, d: Tensor) -> tuple[Optional[Tensor], ...]:
    a, b = ctx.saved_tensors
    return (_bmm(d, b.mT) if ctx.needs_input_grad[0] else None,
            _bmm(d.mT, a.mT) if ctx.needs_input_grad[1] else None)


_bmm.register_autograd(_bmm_gradients, setup_context=_bmm_context)


@untraced
def _check_matmul(input: Tensor, other: Tensor) -> None:
    dtype_of("matmul", input, other, wider=True)
    if input.dim() == 0 or other.dim() == 0:
        wrong("matmul", "both tensors need at least one dimension")
    if input.shape[-1] != other.shape[max(-2, -other.dim())]:
        wrong("matmul", f"{tuple(input.shape)} and {tuple(other.shape)} do not fit")


@typed
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """torch.matmul: vectors, matrices, and batches of them that broadcast. bfloat16, float16, float32 or float64; sums
    of the first three are f32. float32 numbers are multiplied as sums of bfloat16 ones: of three with an error like that
    of float32 products, unless torch.set_float32_matmul_precision allows "high" or "medium", which is two. float64
    numbers are multiplied by products of 8-bit integers (wg.gemm_f64): an error is relative to the norms of a row and a
    column."""
    input, other = autocast(input, other)
    _check_matmul(input, other)
    if input.dim() == 2 and other.dim() == 2:
        return _mm(input, other.t(), None)
    row, column = input.dim() == 1, other.dim() == 1
    a, b = input.unsqueeze(0) if row else input, other.unsqueeze(1) if column else other
    if b.dim() == 2:
        out = _mm(_flat(a), b.t(), None).reshape(*a.shape[:-1], b.shape[1])
    else:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        left, right = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
        out = _bmm(left.reshape(math.prod(batch), *a.shape[-2:]), right.reshape(math.prod(batch), *b.shape[-2:]).mT)
        out = out.reshape(*batch, a.shape[-2], b.shape[-1])
    out = out.squeeze(-2) if row else out
    return out.squeeze(-1) if column else out


def _scales(what: str, mat_a: Tensor, mat_b: Tensor, scale_a: Tensor, scale_b: Tensor) -> tuple[Any, Tensor, Tensor]:
    """The option `scales`, and the tensors as launches take them. mat_b is K x N."""
    (m, k), n = mat_a.shape, mat_b.shape[1]
    blocks = (k + 127) // 128
    if scale_a.dtype != torch.float32 or scale_b.dtype != torch.float32:
        wrong(what, f"scales of {scale_a.dtype} and {scale_b.dtype}: float32")
    if scale_a.numel() == 1 and scale_b.numel() == 1:
        return (("a", "tensor"), ("b", "tensor")), scale_a.reshape(1), scale_b.reshape(1)
    if scale_a.shape == (m, 1) and scale_b.shape == (1, n):
        return (("a", "row"), ("b", "row")), scale_a.reshape(m).contiguous(), scale_b.reshape(n).contiguous()
    if scale_a.shape == (m, blocks) and scale_b.shape == (blocks, (n + 127) // 128):
        of_a = torch.nn.functional.pad(scale_a.t(), (0, -m % 4)).contiguous()
        return (("a", "1x128"), ("b", "128x128")), of_a, scale_b.t().contiguous()
    wrong(what, f"scales {tuple(scale_a.shape)} and {tuple(scale_b.shape)} of {m} x {k} and {k} x {n}: one each, ({m}, 1) and "
                f"(1, {n}), or ({m}, {blocks}) and ({blocks}, {(n + 127) // 128})")


@operation("scaled_mm")
def _scaled(mat_a: Tensor, mat_b: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor],
            out_dtype: torch.dtype) -> Tensor:
    (m, k), n = mat_a.shape, mat_b.shape[1]
    d = mat_a.new_empty((m, n), dtype=out_dtype)
    if d.numel() == 0:
        return d
    scales, of_a, of_b = _scales("scaled_mm", mat_a, mat_b, scale_a, scale_b)
    options: tuple[tuple[str, Any], ...] = (("dtype", DTYPES[mat_a.dtype]), ("d", DTYPES[out_dtype]), ("scales", scales),
                                            ("problem", (bucket(m), n, k)))
    named = {"a_scales": of_a, "b_scales": of_b}
    if bias is not None:
        options += (_BIAS,)
        named["bias"] = bias.float().contiguous()
    launcher("gemm", *options)(ready(mat_a), ready(mat_b.t()), d, **named)
    return d


@_scaled.register_fake
def _(mat_a: Tensor, mat_b: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor], out_dtype: torch.dtype) -> Tensor:
    return mat_a.new_empty((mat_a.shape[0], mat_b.shape[1]), dtype=out_dtype)


@untraced
def _check_scaled(mat_a: Tensor, mat_b: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor],
                  out_dtype: torch.dtype) -> None:
    if mat_a.dim() != 2 or mat_b.dim() != 2 or mat_a.shape[1] != mat_b.shape[0]:
        wrong("scaled_mm", f"{tuple(mat_a.shape)} and {tuple(mat_b.shape)} do not fit")
    if mat_a.dtype != mat_b.dtype or mat_a.dtype not in (torch.float8_e4m3fn, torch.float8_e5m2):
        wrong("scaled_mm", f"{mat_a.dtype} and {mat_b.dtype}: float8_e4m3fn or float8_e5m2, the same of both")
    if out_dtype not in (torch.bfloat16, torch.float16, torch.float32):
        wrong("scaled_mm", f"out_dtype {out_dtype}: bfloat16, float16 or float32")
    _check_bias("scaled_mm", bias, mat_b.shape[1])
    _scales("scaled_mm", mat_a, mat_b, scale_a, scale_b)


@typed
def scaled_mm(mat_a: Tensor, mat_b: Tensor, scale_a: Tensor, scale_b: Tensor, bias: Optional[Tensor] = None,
              scale_result: Optional[Tensor] = None, out_dtype: torch.dtype = torch.bfloat16,
              use_fast_accum: bool = False) -> Tensor:
    """torch._scaled_mm: (scale_a * mat_a) @ (scale_b * mat_b) + bias, of float8_e4m3fn or float8_e5m2. mat_a is M x K; mat_b is
    K x N, best as the transposed view of an N x K tensor. Scales are one each, (M, 1) and (1, N), or (M, K / 128) and
    (K / 128, N / 128). use_fast_accum changes nothing: sums are those of the tensor cores, and of block scales f32."""
    _check_scaled(mat_a, mat_b, scale_a, scale_b, bias, out_dtype)
    if scale_result is not None:
        missing("scaled_mm", "scale_result: D is of 16 or 32 bits")
    return _scaled(mat_a, mat_b, scale_a, scale_b, bias, out_dtype)


@operation("grouped_mm")
def _grouped(a: Tensor, b: Tensor, ends: Tensor) -> Tensor:
    groups, k, n = b.shape
    d = a.new_empty((a.shape[0], n))
    if d.numel() == 0 or groups == 0:
        return d
    if k == 0:
        return d.zero_()
    unit = _unit(a)
    if n % unit or k % unit:
        pad = torch.nn.functional.pad
        return _grouped(pad(a, (0, -k % unit)), pad(b, (0, -n % unit, 0, -k % unit)), ends)[:, :n].contiguous()
    options = (("dtype", DTYPES[a.dtype]), ("groups", "contiguous"), ("problem", (bucket(a.shape[0]), n, k, groups)))
    launcher("gemm", *options)(ready(a), ready(b.mT.reshape(groups * n, k)), d, offsets=ends.contiguous())
    return d


@_grouped.register_fake
def _(a: Tensor, b: Tensor, ends: Tensor) -> Tensor:
    return a.new_empty((a.shape[0], b.shape[2]))


@operation("grouped_mm_along_k")
def _along_k(a: Tensor, b: Tensor, ends: Tensor) -> Tensor:
    # The groups' lengths are those of K: each is a product of its own, and the host has to know them.
    d = a.new_zeros((ends.shape[0], a.shape[0], b.shape[1]))
    begin = 0
    for group, end in enumerate(ends.tolist()):
        if end > begin:
            d[group] = _product(a[:, begin:end], b[begin:end].t(), None)
        begin = max(begin, end)
    return d


@_along_k.register_fake
def _(a: Tensor, b: Tensor, ends: Tensor) -> Tensor:
    return a.new_empty((ends.shape[0], a.shape[0], b.shape[1]))


def _grouped_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _grouped_gradients(ctx: Any, d: Tensor) -> tuple[Optional[Tensor], ...]:
    a, b, ends = ctx.saved_tensors
    return (_grouped(d, b.mT, ends) if ctx.needs_input_grad[0] else None,
            _along_k(a.t(), d, ends) if ctx.needs_input_grad[1] else None, None)


_grouped.register_autograd(_grouped_gradients, setup_context=_grouped_context)


@untraced
def _check_grouped(mat_a: Tensor, mat_b: Tensor, offs: Optional[Tensor]) -> None:
    dtype_of("grouped_mm", mat_a, mat_b)
    if mat_a.dim() == 3 and mat_b.dim() == 3:
        if offs is not None or mat_a.shape[0] != mat_b.shape[0] or mat_a.shape[2] != mat_b.shape[1]:
            wrong("grouped_mm", f"{tuple(mat_a.shape)} and {tuple(mat_b.shape)}: (G, M, K) and (G, K, N), without offs")
        return
    if offs is None or offs.dtype != torch.int32 or offs.dim() != 1:
        wrong("grouped_mm", "offs: int32, where each group ends")
    weights = (offs.shape[0],) * (mat_b.dim() - 2)
    if mat_a.dim() != 2 or mat_b.dim() not in (2, 3) or mat_b.shape[:-1] != (*weights, mat_a.shape[1]):
        wrong("grouped_mm", f"{tuple(mat_a.shape)}, {tuple(mat_b.shape)} and offs {tuple(offs.shape)}: (M, K), (G, K, N) and (G,)")


@typed
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               out_dtype: Optional[torch.dtype] = None) -> Tensor:
    """torch.nn.functional.grouped_mm: mat_a (rows of all groups, K) by mat_b (G, K, N), offs (G,) int32, where the rows of each group
    end; or both of three dimensions, without offs; or, as the gradient of the weights needs it, (M, K of all groups)
    by (K of all groups, N), for which the host waits for offs. Rows behind the last group are left as they are."""
    _check_grouped(mat_a, mat_b, offs)
    if bias is not None:
        missing("grouped_mm", "bias")
    if out_dtype not in (None, mat_a.dtype):
        missing("grouped_mm", f"out_dtype {out_dtype}: that of the operands")
    if offs is None:
        return _bmm(mat_a, mat_b.mT)
    return (_along_k if mat_b.dim() == 2 else _grouped)(mat_a, mat_b, offs)
