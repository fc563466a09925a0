"""The library's objects by their options, made once, and what the operators say of tensors that do not fit."""

from __future__ import annotations

import functools
from typing import Any, Callable, NoReturn, Optional

import torch

from .._launcher import Again, Launcher
from .._script import Script, literal, loads

DTYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2",
          torch.float32: "f32", torch.float64: "f64", torch.int8: "s8", torch.int32: "s32"}

_NO_TANGENTS = "has no forward-mode derivative"


def refusing_tangents(operator: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of the key Autograd without a formula for tangents, which PyTorch would take for 0."""
    forward = torch.autograd.forward_ad

    def has_tangent(argument: Any) -> bool:
        if isinstance(argument, (list, tuple)):
            return any(map(has_tangent, argument))
        return isinstance(argument, torch.Tensor) and forward.unpack_dual(argument).tangent is not None

    def run(keyset: Any, *arguments: Any, **named: Any) -> Any:
        if forward._current_level >= 0 and has_tangent((*arguments, *named.values())):
            missing(operator, _NO_TANGENTS)
        return kernel(keyset, *arguments, **named)

    return run


class _Library(torch.library.Library):
    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "", **named: Any) -> None:
        fn = refusing_tangents(f"{self.ns}::{op_name}", fn) if dispatch_key == "Autograd" else fn
        super().impl(op_name, fn, dispatch_key, **named)


_LIBRARY = _Library("wgrun", "FRAGMENT")


_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _are_plain(arguments: tuple[Any, ...]) -> bool:
    """Whether nothing in PyTorch has to know of a call with these arguments, outside of the transforms of torch.func."""
    if (torch._C._len_torch_dispatch_stack() or torch.autograd.forward_ad._current_level >= 0
            or torch._C._autograd._profiler_enabled() or torch._C._get_tracing_state() is not None):
        return False
    needs_gradients = torch.is_grad_enabled()
    for argument in arguments:
        if type(argument) in _PLAIN:
            if (not (argument.is_cuda or argument.is_cpu) or (needs_gradients and argument.requires_grad)
                    or argument.is_neg() or argument._is_zerotensor()):
                return False
        elif isinstance(argument, torch.Tensor):
            return False
    return True


class Operation:
    """An operator of torch.library. torch.library.custom_op makes such objects, too, and compares the memory of
    arguments and results at each call, which takes longer than a small kernel; none here returns its arguments.
    It has no gradients until `register_autograd` sets them; `lacks` is how their absence is reported."""

    def __init__(self, name: str, function: Callable[..., Any], lacks: str) -> None:
        self.name, self._function = f"wgrun::{name}", function
        _LIBRARY.define(name + torch.library.infer_schema(function, mutates_args=()), tags=(torch.Tag.pt2_compliant_tag,))
        _LIBRARY.impl(name, function, "CompositeExplicitAutograd")
        self.dispatch = getattr(torch.ops.wgrun, name).default
        self._setup_context: Callable[..., None] = lambda ctx, inputs, output: None
        self._gradients: Callable[..., Any] = lambda ctx, *d: missing(self.name, f"has no {lacks}")
        rule = {"backward": lambda ctx, *d: self._gradients(ctx, *d),
                "setup_context": lambda ctx, inputs, output: self._setup_context(ctx, inputs, output)}
        torch.library.register_autograd(self.name, rule["backward"], setup_context=rule["setup_context"], lib=_LIBRARY)
        # The transforms of torch.func do not take what torch.library makes of them.
        members = {member: staticmethod(what) for member, what in {"forward": self.dispatch, **rule}.items()}
        self._transformed = type(self.name, (torch.autograd.Function,), {**members, "generate_vmap_rule": True}).apply

    def __call__(self, *arguments: Any) -> Any:
        """Goes by PyTorch's dispatcher where something there has to know of the call: gradients, a compiler, modes. Its way
        there takes longer than a small kernel."""
        if torch.compiler.is_compiling():
            return self.dispatch(*arguments)
        transforms = torch._C._functorch.get_interpreter_stack()
        if transforms:
            if any(one.key() == torch._C._functorch.TransformType.Jvp for one in transforms):
                missing(self.name, _NO_TANGENTS)
            return self._transformed(*arguments)
        return self._function(*arguments) if _are_plain(arguments) else self.dispatch(*arguments)

    def register_fake(self, function: Callable[..., Any]) -> None:
        torch.library.register_fake(self.name, function, lib=_LIBRARY)

    def register_autograd(self, gradients: Callable[..., Any], *, setup_context: Callable[..., None]) -> None:
        """gradients and setup_context: as torch.library.register_autograd takes them."""
        self._gradients, self._setup_context = gradients, setup_context

    def register_vmap(self, function: Callable[..., Any]) -> None:
        torch.library.register_vmap(self.name, function, lib=_LIBRARY)


def operation(name: str, lacks: str = "gradients") -> Callable[[Callable[..., Any]], Operation]:
    """Makes an operator of a function."""
    return lambda function: Operation(name, function, lacks)


def untraced(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions that only look at tensors: torch.jit.trace would warn that what they find is not recorded, which it need
    not be. Sizes are plain numbers in them."""

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        if not torch.jit.is_tracing():
            return function(*arguments, **named)
        state = torch._C._get_tracing_state()
        torch._C._set_tracing_state(None)
        try:
            return function(*arguments, **named)
        finally:
            torch._C._set_tracing_state(state)

    return run


def _nested(options: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return {name: _nested(value) if isinstance(value, tuple) and value and isinstance(value[0], tuple) else value
            for name, value in options}


@functools.lru_cache(maxsize=1024)
def launcher(function: str, *options: tuple[str, Any]) -> Callable[..., Optional[Again]]:
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


def refuse_others(what: str, others: dict[str, Any]) -> None:
    """Arguments of the function that this one stands for, which change nothing where they are None or False."""
    for name, value in others.items():
        if value is not None and value is not False:
            missing(what, name)


def starts_of(what: str, cu_seqlens: torch.Tensor, batch: int) -> torch.Tensor:
    """Where sequences of a batch of 1 begin, and the last one ends, as kernels read it."""
    if batch != 1 or cu_seqlens.dim() != 1 or cu_seqlens.shape[0] < 2 or cu_seqlens.dtype not in (torch.int32, torch.int64):
        wrong(what, f"cu_seqlens of {cu_seqlens.dtype} {tuple(cu_seqlens.shape)} for {batch} batches: int32 or int64, one more than "
                    "there are sequences, in a batch of 1")
    return cu_seqlens.to(torch.int32).contiguous()


def autocast(*tensors: Optional[torch.Tensor]) -> tuple[Any, ...]:
    """The tensors as torch.autocast has an operator of its list of lower precision take them, which is all where it is off."""
    kind = next(tensor.device.type for tensor in tensors if tensor is not None)
    if kind not in ("cpu", "cuda") or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor.to(dtype) if tensor is not None and tensor.is_floating_point() and tensor.dtype != torch.float64 else tensor
                 for tensor in tensors)


def dtype_of(what: str, *tensors: torch.Tensor, wider: bool = False) -> str:
    """The dtype that all of these have, which is one of 16 bits, or with `wider` float32 or float64."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype != dtype:
            wrong(what, f"tensors of {dtype} and {tensor.dtype}: all must have one dtype")
    if dtype not in (torch.bfloat16, torch.float16) and not (wider and dtype in (torch.float32, torch.float64)):
        wrong(what, f"tensors of {dtype}: bfloat16{', float16, float32 or float64' if wider else ' or float16'}")
    return DTYPES[dtype]


def ready(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as kernels take it: row-major, and beginning at a multiple of 16 bytes, as TMA needs it."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % 16 else tensor


def operand(matrix: torch.Tensor, unit: int = 1) -> tuple[torch.Tensor, str]:
    """The tensor that a kernel takes for a matrix of rows of K, and its major-ness: a transposed view stays one, whose rows
    have a whole number of units."""
    if not matrix.is_contiguous() and matrix.t().is_contiguous() and matrix.shape[0] % unit == 0:
        return ready(matrix.t()), "MN"
    return ready(matrix), "K"


def bucket(rows: int) -> int:
    """A number of rows that stands for those near it, so that few kernels serve all lengths: plans depend on it, and
    results do not."""
    return max(16, 1 << (rows - 1).bit_length()) if rows > 0 else 16
