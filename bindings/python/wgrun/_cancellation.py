"""Calls of the library that take long: how they end before their end, by Ctrl-C and by other threads, and who hears how
far they are."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Callable, Iterator

from . import _abi
from ._abi import LIBRARY
from ._errors import Interrupted, check

# `tokens`, `tellers`: those of the thread's with statements; `interrupts`: by Ctrl-C, during a call; `failure`: what a
# teller has raised during a call
_threads = threading.local()


def _note_interrupt(_signal: int, _frame: FrameType | None) -> None:
    _threads.interrupts = True


def _poll(_user: int | None) -> int:
    # Python runs the handlers of signals in its main thread, between its own instructions: on the way here.
    tokens = getattr(_threads, "tokens", ())
    return int(getattr(_threads, "interrupts", False) or getattr(_threads, "failure", None) is not None
               or any(token.requested for token in tokens))


_POLL = _abi.PollFunction(_poll)  # the library calls it as long as it is loaded


@contextmanager
def _ctrl_c_noted() -> Iterator[None]:
    """Meanwhile the handler of Ctrl-C raises nothing, since that would be lost in _poll; it is called afterwards."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    _threads.interrupts = False
    signal.signal(signal.SIGINT, _note_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if _threads.interrupts:
            _threads.interrupts = False
            handler(signal.SIGINT, None)


class Cancellation:
    """Ends calls of the library from another thread. Calls that a thread makes in its with statement end with Interrupted
    once any thread has called request():

        with wgrun.Cancellation() as cancellation:
            timer = threading.Timer(10, cancellation.request)
            ...
            kernel.verdicts()

    Loading, checks, verdicts, texts, compiling and simulations end; what a driver does, does not."""

    def __init__(self) -> None:
        self.requested = False
        self._value = ctypes.c_void_p()
        check(LIBRARY.wgrun_cancellation_open(_POLL, None, ctypes.byref(self._value)))

    def __del__(self) -> None:
        if self._value:
            LIBRARY.wgrun_cancellation_close(self._value)

    def request(self) -> None:
        """Ends the calls, those to come too. Any thread may call it."""
        self.requested = True  # for the calls within the with statements of other tokens that this one's has inside
        check(LIBRARY.wgrun_cancellation_request(self._value))

    def __enter__(self) -> Cancellation:
        if not hasattr(_threads, "tokens"):
            _threads.tokens = []
        _threads.tokens.append(self)
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None) -> None:
        _threads.tokens.pop()


def wait(process: subprocess.Popen[Any], seconds: float) -> None:
    """Waits until a process ends. Raises subprocess.TimeoutExpired after so many seconds, and Interrupted once a token of the
    thread's with statements is requested."""
    until = time.monotonic() + seconds
    while True:
        try:
            process.wait(timeout=min(0.05, until - time.monotonic()))
            return
        except subprocess.TimeoutExpired:
            if time.monotonic() >= until:
                raise
        if any(token.requested for token in getattr(_threads, "tokens", ())):
            raise Interrupted("wgrun: interrupted", "EINTR")


@dataclass(frozen=True)
class Progress:
    """A piece of work in flight."""

    what: str  #: "tune fill", "scale on the simulator:"
    done: int
    total: int  #: 0: nobody knows
    unit: str  #: of done and total: "CTAs"; may be empty
    seconds: float  #: since it began


def _tell(_user: int | None, parts: Any, count: int) -> None:
    try:
        told = [Progress(parts[i].what.decode("utf-8", "replace"), parts[i].done, parts[i].total,
                         parts[i].unit.decode("utf-8", "replace"), parts[i].seconds) for i in range(count)]
        _threads.tellers[-1](told)
    except BaseException as failure:  # the library cannot pass it on
        _threads.failure = failure


_TELL, _NOBODY = _abi.ProgressFunction(_tell), _abi.ProgressFunction()


@contextmanager
def progress(tell: Callable[[list[Progress]], Any]) -> Iterator[None]:
    """Calls `tell` with the pieces of work in flight, the outermost first, about ten times a second, while calls of this
    thread in the with statement take long: checks, verdicts, compiling, simulations, timelines, tuning.

        with wgrun.progress(lambda parts: print(*parts)):
            kernel.verdicts()

    `tell` must not call the library. An exception that it raises ends the call, and leaves it."""
    if not hasattr(_threads, "tellers"):
        _threads.tellers = []
    _threads.tellers.append(tell)
    try:
        yield
    finally:
        _threads.tellers.pop()


def work(call: Callable[[], int]) -> None:
    """Calls the library for what may take long, so that Ctrl-C and the thread's tokens end it, and the thread's teller
    hears of it."""
    tokens = getattr(_threads, "tokens", None)
    tellers = getattr(_threads, "tellers", None)
    if tokens:
        token = tokens[-1]
    elif tellers or threading.current_thread() is threading.main_thread():
        if not hasattr(_threads, "own"):
            _threads.own = Cancellation()
        token = _threads.own
    else:
        check(call())
        return
    _threads.failure = None
    with _ctrl_c_noted():
        check(LIBRARY.wgrun_cancellation_use(token._value))
        LIBRARY.wgrun_progress_use(_TELL if tellers else _NOBODY, None)
        try:
            status = call()
        finally:
            LIBRARY.wgrun_cancellation_use(None)
            LIBRARY.wgrun_progress_use(_NOBODY, None)
    failure, _threads.failure = _threads.failure, None
    if failure is not None:
        raise failure
    check(status)
