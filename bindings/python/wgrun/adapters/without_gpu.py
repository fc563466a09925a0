"""Programs of PyTorch that want a GPU, where there is none: tensors stay on the CPU and say that they are CUDA's, and Triton compiles for
sm_90a what would be launched. Results have no meaning; what is compiled is what would be."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, Iterator

from .._imports import when_imported


def has_gpu() -> bool:
    """Whether PyTorch has a GPU here."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


@contextlib.contextmanager
def without_gpu() -> Iterator[None]:
    """Until the end of `with`; Triton stays as it is then."""
    when_imported("triton.runtime.jit", _compile_only)
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        yield
        return

    class OnCpu(TorchFunctionMode):  # type: ignore[misc]
        """Takes the CPU for each CUDA device that is named."""

        def __torch_function__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            if function is torch.Tensor.cuda:
                return arguments[0]
            if function == torch.Tensor.is_cuda.__get__:
                return True
            named = {key: _cpu(value) for key, value in (named or {}).items()}
            return function(*[_cpu(value) for value in arguments], **named)

    def _cpu(value: Any) -> Any:
        text = str(value) if isinstance(value, (str, torch.device)) else ""
        return "cpu" if text == "cuda" or text.startswith("cuda:") else value

    kept = {(owner, name): getattr(owner, name) for owner, name in ((torch.nn.Module, "cuda"), (torch.cuda, "synchronize"))}
    torch.nn.Module.cuda = lambda self, *_: self
    torch.cuda.synchronize = lambda *_: None
    try:
        with OnCpu():
            yield
    finally:
        for (owner, name), value in kept.items():
            setattr(owner, name, value)


def _compile_only(jit: Any) -> None:
    """Triton compiles for sm_90a what would be launched."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver

    driver.set_active(SimpleNamespace(get_current_device=lambda: 0, get_current_stream=lambda device: 0,
                                      get_current_target=lambda: GPUTarget("cuda", 90, 32),
                                      get_benchmarker=lambda: lambda call, **options: (call(), [1.0, 1.0, 1.0])[1]))
    before = jit.JITFunction.run

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        return before(self, *arguments, grid=grid, warmup=True, **options)

    jit.JITFunction.run = run
