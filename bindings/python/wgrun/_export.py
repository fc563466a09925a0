"""Kernels as files for programs without wgrun."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Iterable

from . import _abi
from ._abi import LIBRARY
from ._engine import opened_by_work
from ._errors import c_text, check, refuse
from ._kernel import Kernel


@dataclass(frozen=True)
class ExportedFile:
    """A file of an export (docs/export.md)."""

    kernel: str
    name: str  #: "scale.ptx"
    content: bytes
    registers: int | None  #: of a thread of the kernel; None: there is no cubin
    no_cubin: str  #: why there is none


def export(kernels: Kernel | Iterable[Kernel], folder: str | os.PathLike[str] | None = None) -> list[ExportedFile]:
    """The kernels of one script as PTX, cubin (where ptxas is found), CUDA C++, C with host code, and a manifest: in memory
    and, with a folder, there, too: all files or none, and no file that wgrun has not written is replaced.

    Raises CheckError, CompileError, FileError; ArgumentError for kernels of several scripts."""
    listed = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    if not listed:
        refuse("there is no kernel to export")
    if any(kernel._engine is not listed[0]._engine for kernel in listed):
        refuse("the kernels are of several scripts: export those of each on their own")
    handles = (ctypes.c_void_p * len(listed))(*(kernel._handle.value for kernel in listed))
    with listed[0]._engine.turn:
        files = opened_by_work(LIBRARY.wgrun_export, LIBRARY.wgrun_files_close, handles, len(listed),
                               None if folder is None else c_text("export: folder", folder))
    count, out = ctypes.c_size_t(), _abi.File()
    check(LIBRARY.wgrun_files_count(files.value, ctypes.byref(count)))
    made = []
    for i in range(count.value):
        check(LIBRARY.wgrun_files_get(files.value, i, ctypes.byref(out)))
        made.append(ExportedFile(out.kernel.decode(), out.name.decode(), ctypes.string_at(out.content, out.length),
                                 out.registers or None, out.no_cubin.decode("utf-8", "replace")))
    return made
