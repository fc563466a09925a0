"""wgrun: kernels for Hopper tensor cores, written in Lua, as Python callables.

    import torch, wgrun
    product = wgrun.load("product.lua").product      # a script that ends with: return product
    product[grid](A, B, D)                           # torch tensors on the GPU, on the current stream
    product[grid](a, b, d)                           # numpy arrays: the simulator

    gemm = wgrun.gemm(dtype="bf16", problem=(M, N, K))
    gemm(A, B, D)                                    # its own grid

Findings of the checker are raised as CheckError, which prints as the command-line tool does. docs/python.md has the
rest.
"""

import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._compilations import check_compilations
from ._errors import (ArgumentError, CheckError, CompileError, DeviceError, Error, FileError, Finding, Findings, Interrupted,
                      LimitError, Note, ScriptError, Verdict)
from ._ptx import check_ptx, check_triton
from ._record import record, record_launch
from ._report import Report, check

if _TYPE_CHECKING:
    from ._assembly import AssemblyReport
    from ._cancellation import Cancellation, Progress, progress
    from ._engine import Limits
    from ._export import ExportedFile, export
    from ._kernel import BoundKernel, Kernel, Parameter
    from ._launcher import Launcher
    from ._layout import Layout, layout
    from ._memory import View, view
    from ._script import Script, gemm, load, loads
    from ._sizes import Size
    from ._timeline import Timeline
    from ._tuning import Candidate, Tuning

    __version__: str

#: What needs the library, by module: it is loaded when the first of these is asked for.
_OF_LIBRARY = {
    "_assembly": ("AssemblyReport",), "_cancellation": ("Cancellation", "Progress", "progress"), "_engine": ("Limits",),
    "_export": ("ExportedFile", "export"), "_kernel": ("BoundKernel", "Kernel", "Parameter"),
    "_launcher": ("Launcher",), "_layout": ("Layout", "layout"), "_memory": ("View", "view"),
    "_script": ("Script", "gemm", "load", "loads"), "_sizes": ("Size",), "_timeline": ("Timeline",),
    "_tuning": ("Candidate", "Tuning"),
}


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from ._abi import LIBRARY
        return LIBRARY.wgrun_version().decode()
    for module, names in _OF_LIBRARY.items():
        if name in names:
            globals()[name] = value = getattr(_importlib.import_module(f".{module}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ArgumentError", "AssemblyReport", "BoundKernel", "Cancellation", "Candidate", "CheckError", "CompileError",
    "DeviceError", "Error", "ExportedFile", "FileError", "Finding", "Findings", "Interrupted", "Kernel", "Launcher",
    "Layout", "LimitError", "Limits", "Note", "Parameter", "Progress", "Report", "Script", "ScriptError", "Size",
    "Timeline", "Tuning", "Verdict", "View", "check", "check_compilations", "check_ptx", "check_triton", "export",
    "gemm", "layout", "load", "loads", "progress", "record", "record_launch", "view",
]

if _os.environ.get("WGRUN_CHECK"):
    check_compilations()
if _os.environ.get("WGRUN_FLASHINFER_BENCH"):
    _importlib.import_module(".adapters.flashinfer_bench", __name__).attach()
