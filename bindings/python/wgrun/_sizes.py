"""The sizes that scripts declare to be legal for their kernels, and launches with them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping

from . import _abi
from ._abi import LIBRARY
from ._cancellation import work
from ._errors import Findings, c_number, check, refuse, take_findings

if TYPE_CHECKING:
    from ._kernel import Kernel


@dataclass(frozen=True)
class Size:
    """The legal values of a size: the multiples of `multiple_of` from `least` to `most`."""

    name: str
    least: int
    most: int
    multiple_of: int


def sizes_of(kernel: Kernel) -> tuple[Size, ...]:
    """As Kernel.sizes."""
    count, out = ctypes.c_size_t(), _abi.Size()
    sizes = []
    with kernel._engine.turn:
        check(LIBRARY.wgrun_kernel_size_count(kernel._handle.value, ctypes.byref(count)))
        for i in range(count.value):
            check(LIBRARY.wgrun_kernel_size(kernel._handle.value, i, ctypes.byref(out)))
            sizes.append(Size(out.name.decode("utf-8", "replace"), out.least, out.most, out.multiple_of))
    return tuple(sizes)


def edge_sizes_of(kernel: Kernel, most: int) -> list[dict[str, int]]:
    """As Kernel.edge_sizes."""
    names = [size.name for size in sizes_of(kernel)]
    values, launches = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_size_t()
    if most < 1:
        refuse(f"most is {most}: at least 1")
    with kernel._engine.turn:
        check(LIBRARY.wgrun_kernel_edge_sizes(kernel._handle.value, most, ctypes.byref(values), ctypes.byref(launches)))
        return [{name: values[launch * len(names) + i] for i, name in enumerate(names)} for launch in range(launches.value)]


def check_size_of(kernel: Kernel, sizes: Mapping[str, int], seed: int) -> Findings:
    """As Kernel.check_size."""
    names = [size.name for size in sizes_of(kernel)]
    if set(names) != set(sizes):
        refuse(f"kernel {kernel.name} has the sizes {', '.join(names) or 'of no kernel:sizes'}, "
               f"and given are {', '.join(sizes) or 'none'}")
    values = (ctypes.c_int64 * len(names))(*(c_number(name, sizes[name], True) for name in names))
    handle = ctypes.c_void_p()
    with kernel._engine.turn:
        work(lambda: LIBRARY.wgrun_kernel_check_size(kernel._handle.value, values, len(names), c_number("seed", seed, False), ctypes.byref(handle)))
    return take_findings(handle)
