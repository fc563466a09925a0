"""An engine of the library, and handles that close themselves."""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable

from . import _abi
from ._abi import LIBRARY
from ._cancellation import work
from ._errors import check, refuse

_log = logging.getLogger("wgrun")


def _print(_user: int | None, text: int, length: int) -> None:
    sys.stdout.write(ctypes.string_at(text, length).decode("utf-8", "replace"))


def _remark(_user: int | None, text: int, length: int) -> None:
    _log.warning("%s", ctypes.string_at(text, length).decode("utf-8", "replace").rstrip("\n"))


# The library calls these as long as it is loaded.
_PRINT, _REMARK = _abi.TextFunction(_print), _abi.TextFunction(_remark)


class Handle:
    """A handle of the library, closed with the object. May be collected in any thread."""

    def __init__(self, value: ctypes.c_void_p, close: Callable[[Any], int]) -> None:
        self.value = value
        self._close = close

    def __del__(self) -> None:
        self._close(self.value)


def opened(function: Callable[..., int], close: Callable[[Any], int], *arguments: Any) -> Handle:
    """The handle that `function` returns as its last result."""
    value = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(value)))
    return Handle(value, close)


def opened_by_work(function: Callable[..., int], close: Callable[[Any], int], *arguments: Any) -> Handle:
    """The same of a function that may take long."""
    value = ctypes.c_void_p()
    try:
        work(lambda: function(*arguments, ctypes.byref(value)))
    except BaseException:  # Ctrl-C may come when the work is done
        if value:
            close(value)
        raise
    return Handle(value, close)


def backend_number(backend: str | None) -> int:
    """wgrun_backend for its name."""
    number = _abi.BACKENDS.get(backend)
    if number is None:
        refuse(f"unknown backend `{backend}` (legal: auto, gpu, gpu-cuda, sim)")
    return number


@dataclass(frozen=True)
class Limits:
    """The limits of a script. None is the default: no limit, or for a restricted script that of docs/sandbox.md; 0 is
    no limit."""

    memory: int | None = None  #: bytes of its Lua state; the rest is in this process's heap (docs/sandbox.md)
    seconds: float | None = None  #: of loading it, of each of its plans, and of each simulation of its kernels
    instructions: int | None = None  #: Lua instructions
    tensors: int | None = None  #: bytes of the tensors that exist at the same time
    program: int | None = None  #: instructions, blocks and registers of one kernel
    steps: int | None = None  #: warp instructions of one simulation

    def _struct(self) -> _abi.Limits:
        def number(name: str, scale: int = 1) -> int:
            value = getattr(self, name)
            if value is None:
                return 0
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**40:
                refuse(f"Limits: {name} is {value!r}: a number from 0 to 2**40")
            return max(1, int(value * scale)) if value != 0 else _abi.NO_LIMIT

        return _abi.Limits(memory=number("memory"), milliseconds=number("seconds", 1000),
                           instructions=number("instructions"), tensors=number("tensors"), program=number("program"),
                           steps=number("steps"))


class Engine:
    """Shared by one script and its kernels, which are used by one thread at a time: `turn` enforces that."""

    def __init__(self, run_kernels: bool, backend: str | None, seed: int, restricted: bool,
                 limits: Limits | None) -> None:
        options = _abi.EngineOptions(run_kernels=int(run_kernels), backend=backend_number(backend), seed=seed,
                                     print=_PRINT, log=_REMARK, restricted=int(restricted))
        if limits is not None:
            options.limits = ctypes.pointer(limits._struct())
        self.turn = threading.RLock()
        self.handle = opened(LIBRARY.wgrun_engine_open, LIBRARY.wgrun_engine_close, ctypes.byref(options))
