"""Problems to begin with, for a model that writes kernels: each with launches at the edges of the sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from .._memory import view
from .judge import Launch, Problem

ANSWER = ("Answer with one block of Lua, a script of wgrun that ends with `return kernel`. It launches nothing; its parameters have the "
          "order that is given.")


def _floats(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


def _add() -> Sequence[Launch]:
    out = []
    for n in (1, 128, 129, 1000):
        x, y = _floats(n), numpy.arange(n, dtype=numpy.float32)
        out.append(Launch(((n + 127) // 128, 1, 1), (x, y, n), {1: x + y, 0: x.copy()}))
    return out


def _row_sums() -> Sequence[Launch]:
    out = []
    for rows, columns in ((1, 1), (3, 200), (5, 128), (2, 1000)):
        x, sums = _floats(rows, columns), numpy.zeros(rows, numpy.float32)
        out.append(Launch((rows, 1, 1), (x, sums, columns), {1: x.sum(axis=1)}, tolerance=1e-3))
    return out


def _bf16(values: numpy.ndarray) -> numpy.ndarray:
    """The upper halves of floats, as bits: bf16 without rounding."""
    return (numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def _of_bf16(bits: numpy.ndarray) -> numpy.ndarray:
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def _product() -> Sequence[Launch]:
    a, b, d = _bf16(_floats(64, 64)), _bf16(_floats(64, 64)[::-1]), numpy.zeros((64, 64), numpy.float32)
    expected = _of_bf16(a).astype(numpy.float64) @ _of_bf16(b).astype(numpy.float64).T
    return [Launch((1, 1, 1), (view(a, "bf16"), view(b, "bf16"), d), {2: expected}, tolerance=1e-3)]


PROBLEMS = (
    Problem("add", "A kernel with the parameters X (const f32*), Y (f32*), n (u32), of 128 threads a CTA and ceil(n / 128) CTAs along x: "
                   "Y[i] = X[i] + Y[i] for all i < n.", _add),
    Problem("row_sums", "A kernel with the parameters X (const f32*), S (f32*), n (u32), of 128 threads a CTA and a CTA for each row along x: "
                        "S[r] is the sum of X[r * n] to X[r * n + n - 1]. n may be any number.", _row_sums),
    Problem("product", "A kernel with the parameters A, B (const bf16*), D (f32*), of 128 threads and one CTA, that multiplies on the tensor "
                       "cores by wgmma: D = A * transposed B, all 64 x 64 with contiguous rows.", _product),
)
