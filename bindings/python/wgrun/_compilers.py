"""How the texts are had that Triton, TileLang and CuTe DSL compile in a process."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Callable

from ._errors import CheckError

Check = Callable[[str, str, str], None]  #: is given a compiler, a text and its path
Saved = Callable[[str, str], str]  #: the path of a new file of that name, with a text that the compiler does not keep

#: Bytes of shared memory that a CTA may have (sm_90a). Triton compiles candidates that want more, and refuses to load them.
CTA_SHARED = 232448


def _triton(knobs: ModuleType, check: Check, saved: Saved) -> None:
    before = knobs.compilation.listener

    def listener(**given: Any) -> None:
        if before is not None:
            before(**given)
        if given["metadata"].get("shared", 0) > CTA_SHARED:
            return
        for name, path in given["metadata_group"].items():
            if name.endswith(".ptx"):
                with open(path, encoding="utf-8") as file:
                    check("Triton", file.read(), str(path))

    knobs.compilation.listener = listener


def _tilelang(tilelang: ModuleType, check: Check, saved: Saved) -> None:
    import tvm_ffi

    name = "tilelang_callback_cuda_compile"
    before = tvm_ffi.get_global_func(name)

    def compile_cuda(code: str, target: Any, *options: Any) -> Any:
        binary = before(code, target, *options)
        try:
            _check_tilelang(tilelang, str(code), target, check, saved)
        except CheckError:  # compiled(stop=True)
            raise
        except Exception as error:  # noqa: BLE001: of nvcc, which has compiled it just before
            print(f"wgrun: what TileLang compiles is not checked: {error}", file=sys.stderr)
        return binary

    tvm_ffi.register_global_func(name, compile_cuda, override=True)


def _check_tilelang(tilelang: ModuleType, code: str, target: Any, check: Check, saved: Saved) -> None:
    from tilelang.contrib import nvcc

    env = importlib.import_module("tilelang.env")
    source = saved("tilelang.cu", code)
    numbered = f'#line 1 "{source}"\n{code}'
    options = ["-std=c++20", "-lineinfo", "-I" + env.TILELANG_TEMPLATE_PATH, "-I" + env.CUTLASS_INCLUDE_DIR]
    arch = str(target.attrs["arch"]) if "arch" in target.attrs else "sm_90a"
    text = bytes(nvcc.compile_cuda(numbered, "ptx", ["-arch=" + arch], options=options)).decode()
    check("TileLang", text, saved("tilelang.ptx", text))


def _cute(executor: ModuleType, check: Check, saved: Saved) -> None:
    artifacts = executor.JitFunctionArtifacts
    before = artifacts.__post_init__

    def read(self: Any) -> None:
        path = self.PTX
        before(self)
        if self.PTX:
            check("CuTe DSL", self.PTX, str(path))

    artifacts.__post_init__ = read


#: By the module whose import makes a compiler known: what attaches to it, attach(module, check, saved).
ATTACH: dict[str, Callable[..., None]] = {
    "triton.knobs": _triton,
    "tilelang": _tilelang,
    "cutlass.base_dsl.jit_executor": _cute,
}
