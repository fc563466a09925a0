"""Your own kernels as operators of PyTorch."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Optional, Sequence, Union

import torch

from .._launcher import Launcher
from .._script import load
from ._made import refusing_tangents, wrong

Grid = Union[int, Sequence[int]]


def operator(name: str, script: str | os.PathLike[str], *arguments: Any, kernel: Optional[str] = None,
             grid: Optional[Callable[..., Grid]] = None) -> Callable[[Callable[..., Any]], Any]:
    """Makes an operator of torch.library of a script's kernel or launcher. The function that it decorates has annotations
    of PyTorch's types and makes the results, empty, from the arguments: it is what fake tensors run. The kernel is
    called with the arguments, in their order, and then the results::

        @wgrun.torch.operator("mine::scale", "scale.lua", grid=lambda x, by: (x.numel() + 255) // 256)
        def scale(x: torch.Tensor, by: float) -> torch.Tensor:
            return torch.empty_like(x)

    arguments: of the script. kernel: its name among the script's results, where there are several. grid: of the same
    arguments; a launcher knows its own. The script runs at the first call."""

    @functools.cache
    def made() -> Any:
        results = load(script, *arguments)
        return results.only if kernel is None else results[kernel]

    def decorate(results_of: Callable[..., Any]) -> Any:
        parameters = inspect.signature(results_of)

        @functools.wraps(results_of)
        def run(*given: Any, **named: Any) -> Any:
            bound = parameters.bind(*given, **named)
            bound.apply_defaults()  # the dispatcher leaves out what is equal to a default
            values = tuple(bound.arguments.values())
            results = results_of(*values)
            outputs = results if isinstance(results, (tuple, list)) else (results,)
            what = made()
            if isinstance(what, Launcher):
                what(*values, *outputs)
            elif grid is None:
                wrong(name, "the script has a kernel, which needs a grid=")
            else:
                what(*values, *outputs, grid=grid(*values))
            return results

        made_operator = torch.library.custom_op(name, run, mutates_args=())
        made_operator.register_fake(results_of)
        for key in ("AutogradCPU", "AutogradCUDA"):
            kernel = torch._C._dispatch_get_computed_kernel_for_dispatch_key(name, key)
            made_operator._lib.impl(name, refusing_tangents(name, kernel.call_boxed), key, with_keyset=True)
        return made_operator

    return decorate
