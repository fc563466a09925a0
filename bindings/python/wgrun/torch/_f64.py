"""Products of float64 matrices, by products of 8-bit integers (wg.gemm_f64)."""

from __future__ import annotations

import torch
from torch import Tensor

from ._made import operand, script

#: Integer products of which a product is made: errors are then like those of cuBLAS.
_MODULI = 14
#: The elements along K that one launch takes: sums of products of 8-bit integers have 32 bits.
_MOST_K = 131072


def _workspace(m: int, n: int, k: int, like: Tensor) -> tuple[Tensor, ...]:
    """What the kernels hand to each other (gemm_f64:launches)."""
    columns, padded = -(-n // 16) * 16, -(-k // 16) * 16
    empty = like.new_empty
    return (empty((_MODULI * m, padded), dtype=torch.int8), empty((_MODULI * columns, padded), dtype=torch.int8),
            empty((_MODULI * m, columns), dtype=torch.uint8), empty((m,), dtype=torch.int32), empty((columns,), dtype=torch.int32))


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b.T: a is M x K, b is N x K, none of these is 0."""
    (m, k), n = a.shape, b.shape[0]
    if k > _MOST_K:
        return product(a[:, :_MOST_K], b[:, :_MOST_K]) + product(a[:, _MOST_K:], b[:, _MOST_K:])
    d = a.new_empty((m, n))
    (left, a_major), (right, b_major) = operand(a.detach()), operand(b.detach())
    workspace = _workspace(m, n, k, a)
    options = (("moduli", _MODULI), ("a_major", a_major), ("b_major", b_major))
    for step in script('return require("wgrun").gemm_f64(options):steps()', *options):
        step.on_tensors(left, right, d, workspace=workspace)
    return d
