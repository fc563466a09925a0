"""The library's objects by their options, made once, and what the operators say of tensors that do not fit."""

from __future__ import annotations

import functools
from typing import Any, Callable, NoReturn, Optional

import torch

from .._launcher import Launcher
from .._script import Script, literal, loads

DTYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2",
          torch.float32: "f32", torch.int8: "s8", torch.int32: "s32"}


_LIBRARY = torch.library.Library("wgrun", "FRAGMENT")


_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Operation:
    """An operator of torch.library. torch.library.custom_op makes such objects, too, and compares the memory of
    arguments and results at each call, which takes longer than a small kernel; none here returns its arguments."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self._function = f"wgrun::{name}", function
        _LIBRARY.define(name + torch.library.infer_schema(function, mutates_args=()), tags=(torch.Tag.pt2_compliant_tag,))
        _LIBRARY.impl(name, function, "CompositeExplicitAutograd")
        self.dispatch = getattr(torch.ops.wgrun, name).default
        self._transformed: Callable[..., Any] = self.dispatch

    def __call__(self, *arguments: Any) -> Any:
        """Goes by PyTorch's dispatcher where something there has to know of the call: gradients, a compiler, modes. Its way
        there takes longer than a small kernel."""
        if torch.compiler.is_compiling():
            return self.dispatch(*arguments)
        transforms = torch._C._functorch.get_interpreter_stack() or ()
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        if (torch.autograd.forward_ad._current_level >= 0
                and (any(one.key() == torch._C._functorch.TransformType.Jvp for one in transforms)
                     or any(torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors))):
            missing(self.name, "has no forward-mode derivative")  # PyTorch would take it for 0
        needs_gradients = torch.is_grad_enabled()
        plain = not (torch._C._len_torch_dispatch_stack() or transforms
                     or torch._C._autograd._profiler_enabled() or torch._C._get_tracing_state() is not None)
        plain = plain and all(
            type(tensor) in _PLAIN and (tensor.is_cuda or tensor.is_cpu) and not (needs_gradients and tensor.requires_grad)
            and not tensor.is_neg() and not tensor._is_zerotensor() for tensor in tensors)
        if plain:
            return self._function(*arguments)
        return self._transformed(*arguments) if transforms else self.dispatch(*arguments)

    def register_fake(self, function: Callable[..., Any]) -> None:
        torch.library.register_fake(self.name, function, lib=_LIBRARY)

    def register_autograd(self, gradients: Callable[..., Any], *, setup_context: Callable[..., Any]) -> None:
        """gradients and setup_context: as torch.library.register_autograd takes them."""
        torch.library.register_autograd(self.name, gradients, setup_context=setup_context, lib=_LIBRARY)
        # The transforms of torch.func do not take what torch.library makes of them.
        members = {"forward": staticmethod(self.dispatch), "backward": staticmethod(gradients), "generate_vmap_rule": True,
                   "setup_context": staticmethod(lambda ctx, inputs, output: setup_context(ctx, inputs, output))}
        self._transformed = type(self.name, (torch.autograd.Function,), members).apply

    def register_vmap(self, function: Callable[..., Any]) -> None:
        torch.library.register_vmap(self.name, function, lib=_LIBRARY)


def operation(name: str) -> Callable[[Callable[..., Any]], Operation]:
    """Makes an operator of a function."""
    return lambda function: Operation(name, function)


def _nested(options: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return {name: _nested(value) if isinstance(value, tuple) and value and isinstance(value[0], tuple) else value
            for name, value in options}


@functools.lru_cache(maxsize=1024)
def launcher(function: str, *options: tuple[str, Any]) -> Callable[..., None]:
    """What runs the kernel that a function of the library ("gemm", "attention") makes with these options, names and
    values; tables are tuples of names and values, too."""
    made = loads(f'return require("wgrun").{function}({literal(_nested(options))})', name="wgrun.torch").only
    assert isinstance(made, Launcher)
    return made.on_tensors


@functools.lru_cache(maxsize=1024)
def script(text: str, *options: tuple[str, Any]) -> Script:
    """A script that begins with `local options = {...}`."""
    return loads(f"local options = {literal(_nested(options))}\n{text}", name="wgrun.torch")


def wrong(what: str, why: str) -> NoReturn:
    raise ValueError(f"{what}: {why}")


def missing(what: str, why: str) -> NoReturn:
    raise NotImplementedError(f"{what}: {why}")


def autocast(*tensors: Optional[torch.Tensor]) -> tuple[Any, ...]:
    """The tensors as torch.autocast has an operator of its list of lower precision take them, which is all where it is off."""
    kind = next(tensor.device.type for tensor in tensors if tensor is not None)
    if kind not in ("cpu", "cuda") or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor.to(dtype) if tensor is not None and tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor
                 for tensor in tensors)


def dtype_of(what: str, *tensors: torch.Tensor) -> str:
    """The dtype that all of these have, which is one of 16 bits."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype != dtype:
            wrong(what, f"tensors of {dtype} and {tensor.dtype}: all must have one dtype")
    if dtype not in (torch.bfloat16, torch.float16):
        wrong(what, f"tensors of {dtype}: bfloat16 or float16")
    return DTYPES[dtype]


def ready(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as kernels take it: row-major, and beginning at a multiple of 16 bytes, as TMA needs it."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % 16 else tensor


def bucket(rows: int) -> int:
    """A number of rows that stands for those near it, so that few kernels serve all lengths: plans depend on it, and
    results do not."""
    return max(16, 1 << (rows - 1).bit_length()) if rows > 0 else 16
