"""What an operator says of an argument of a type that it does not take."""

from __future__ import annotations

import functools
import inspect
import numbers
import typing
from typing import Any, Callable, TypeVar

import torch

from .._errors import ArgumentError, ScriptError

F = TypeVar("F", bound=Callable[..., Any])

_NUMBERS: dict[Any, Any] = {bool: numbers.Integral, int: numbers.Integral, float: numbers.Real}


def _allows(hint: Any, value: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Union:
        return any(_allows(one, value) for one in inner)
    if origin in (list, tuple):
        fits = isinstance(value, (list, tuple)) and (origin is list or len(value) == len(inner))
        return fits and all(_allows(inner[0], one) for one in value)
    return hint is Any or isinstance(value, _NUMBERS.get(hint, hint))


def _refuse_types(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    hints = typing.get_type_hints(function)
    for name, value in (*zip(inspect.signature(function).parameters, given), *named.items()):
        if not _allows(hints.get(name, Any), value):
            raise TypeError(f"{function.__name__}: {name} of type {type(value).__name__}: {function.__annotations__[name]}")


def typed(function: F) -> F:
    """An operator whose refusals are a ValueError, and that names the argument where it has failed with one of another type
    than its annotation's. Types are looked at only then: a call takes the host no longer."""

    @functools.wraps(function)
    def run(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except Exception as error:
            if not torch.compiler.is_compiling():
                _refuse_types(function, given, named)
            if isinstance(error, ScriptError):  # the library's own script has refused the tensors
                raise ArgumentError(str(error), error.code, error.findings, error.traceback) from None
            raise

    return typing.cast(F, run)
