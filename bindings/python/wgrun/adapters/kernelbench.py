"""Solutions as those of KernelBench: a Python text with `ModelNew`, whose kernels are of Triton, of TileLang or CuTe DSL, or CUDA C++ for
torch.utils.cpp_extension.load_inline. They are checked as the solution compiles them, in a process of its own.

    from wgrun.adapters.kernelbench import check_solution
    report = check_solution(solution, problem)        # texts; problem has get_inputs() and get_init_inputs()
    report.outcome                                    # "not checked" where the solution compiles nothing, or stops before

Without a GPU, Triton's kernels are compiled for sm_90a and not launched, and CUDA C++ is compiled to PTX by nvcc and not called. A
solution is a program: it is not restricted as scripts of Lua are.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Optional

from .._compilations import check_compiled, compiled
from .._errors import LimitError
from .._imports import when_imported
from .._report import NOT_CHECKED, WRONG, Report, failed, joint
from .without_gpu import has_gpu, without_gpu


def check_solution(solution: str, problem: str = "", seconds: float = 300.0) -> Report:
    """Runs a solution once, on the problem's inputs, and gives the report of all kernels that it has compiled. What it prints is dropped."""
    with tempfile.TemporaryDirectory(prefix="wgrun-") as folder:
        for name, text in (("solution.py", solution), ("problem.py", problem)):
            Path(folder, name).write_text(text, encoding="utf-8")
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen([sys.executable, "-m", "wgrun.adapters.kernelbench", folder], start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                   env={"CUTE_DSL_ARCH": "sm_90a", **os.environ, "PYTHONPATH": path})
        try:
            _, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return failed("solution.py", LimitError(f"the solution has run for more than {seconds:g} s", "ELIMIT"))
        try:
            return Report(json.loads(Path(folder, "report.json").read_text("utf-8")))
        except (OSError, ValueError):
            last = said.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            return failed("solution.py", RuntimeError(f"the solution has ended the process: {last[0]}"))


# --- in the process of the solution -----------------------------------------------------------------------


def _run(folder: Path) -> Report:
    """What the solution has compiled; and why it stopped, if it did before its end."""
    stopped: Optional[Report] = None
    with compiled(stop=True) as reports, contextlib.nullcontext() if has_gpu() else without_gpu():
        when_imported("torch.utils.cpp_extension", _check_inline)
        try:
            given = _module(folder / "problem.py")
            made = _module(folder / "solution.py")
            _call(made, given)
        except BaseException as error:  # noqa: BLE001: of the solution, also SystemExit
            stopped = failed("solution.py", RuntimeError(f"{type(error).__name__}: {error}"))
    return joint([*reports, stopped] if stopped else reports)


def _module(path: Path) -> ModuleType:
    """The text as a module; Triton reads its functions from the file."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _call(made: ModuleType, given: ModuleType) -> None:
    import torch

    source = given if hasattr(given, "get_inputs") else made
    device = "cuda" if has_gpu() else "cpu"

    def placed(values: Any) -> list[Any]:
        return [value.to(device) if isinstance(value, torch.Tensor) else value for value in values]

    initial = source.get_init_inputs() if hasattr(source, "get_init_inputs") else []
    if len(initial) == 2 and isinstance(initial[0], list) and isinstance(initial[1], dict):
        model = made.ModelNew(*placed(initial[0]), **initial[1])
    else:
        model = made.ModelNew(*placed(initial))
    with torch.no_grad():
        model.to(device)(*placed(source.get_inputs()))


def _check_inline(extension: Any) -> None:
    """CUDA C++ is compiled to PTX, too; without a GPU that is all."""
    before = extension.load_inline

    def load_inline(name: str, cpp_sources: Any, cuda_sources: Any = None, functions: Any = None, **options: Any) -> Any:
        parts = [cuda_sources] if isinstance(cuda_sources, str) else list(cuda_sources or [])
        if parts:
            text = "\n".join(["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>", *parts])
            flags = [*(options.get("extra_cuda_cflags") or []), *(f"-I{path}" for path in options.get("extra_include_paths") or [])]
            check_compiled("nvcc", _ptx_of(extension, name, text, flags), f"{name}.ptx")
        if has_gpu() or not parts:
            return before(name, cpp_sources, cuda_sources, functions, **options)
        names = [functions] if isinstance(functions, str) else list(functions or [])
        return SimpleNamespace(**{one: _first_like for one in names})

    extension.load_inline = load_inline


def _ptx_of(extension: Any, name: str, text: str, flags: list[str]) -> str:
    nvcc = shutil.which("nvcc", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))
    if nvcc is None:
        raise RuntimeError("there is no nvcc, which compiles the solution's CUDA C++")
    includes = [f"-I{path}" for path in [*extension.include_paths(), sysconfig.get_path("include")]]
    kept = [flag for flag in flags if "arch" not in flag and "code=" not in flag]
    with tempfile.TemporaryDirectory(prefix="wgrun-") as folder:
        source = Path(folder, f"{name}.cu")
        source.write_text(text, encoding="utf-8")
        out = source.with_suffix(".ptx")
        done = subprocess.run([nvcc, "-ptx", "-arch=sm_90a", "-std=c++20", "-lineinfo", "--expt-relaxed-constexpr", *includes, *kept,
                               str(source), "-o", str(out)], capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise RuntimeError(f"nvcc: {done.stderr.strip()[:2000]}")
        return out.read_text("utf-8")


def _first_like(*arguments: Any) -> Any:
    """In the place of a function of CUDA C++, without a GPU: a tensor as its first one, with no meaning."""
    import torch

    return next((torch.empty_like(one) for one in arguments if isinstance(one, torch.Tensor)), None)


def main() -> None:
    """python3 -m wgrun.adapters.kernelbench FOLDER, of check_solution; or SOLUTION.py [PROBLEM.py], which prints the report as JSON."""
    first = Path(sys.argv[1])
    if first.is_dir():
        report = _run(first)
        Path(first, "report.json").write_text(json.dumps(report.json), encoding="utf-8")
        return
    solution, *problem = [Path(name).read_text("utf-8") for name in sys.argv[1:3]]
    report = check_solution(solution, problem[0] if problem else "")
    print(json.dumps(report.summary(), indent=2))
    raise SystemExit(report.outcome in (WRONG, NOT_CHECKED))


if __name__ == "__main__":
    main()
