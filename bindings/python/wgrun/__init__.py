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

import os as _os

from ._abi import LIBRARY as _LIBRARY
from ._compilations import check_compilations
from ._errors import (ArgumentError, CheckError, CompileError, DeviceError, Error, FileError, Finding, Findings, LimitError,
                      Note, ScriptError, Verdict)
from ._engine import Limits
from ._kernel import BoundKernel, Kernel, Parameter
from ._launcher import Launcher
from ._memory import View, view
from ._ptx import check_ptx, check_triton
from ._script import Script, gemm, load, loads

__version__: str = _LIBRARY.wgrun_version().decode()

__all__ = [
    "ArgumentError", "BoundKernel", "CheckError", "CompileError", "DeviceError", "Error", "FileError", "Finding",
    "Findings", "Kernel", "Launcher", "LimitError", "Limits", "Note", "Parameter", "Script", "ScriptError", "Verdict", "View",
    "check_compilations", "check_ptx", "check_triton", "gemm", "load", "loads", "view",
]

if _os.environ.get("WGRUN_CHECK"):
    check_compilations()
