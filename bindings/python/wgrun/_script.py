"""Scripts: loading them, and their results."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Iterator, Mapping, Sequence, Union

from . import _abi
from ._abi import LIBRARY
from ._engine import Engine, Handle, Limits, opened, opened_by_work
from ._errors import Findings, ScriptError, c_text, check, refuse, take_findings
from ._kernel import Kernel
from ._launcher import Launcher, Workspaces
from ._tuning import Tuning, tune

Item = Union[Kernel, Launcher]


class Script:
    """A script that has run: its kernels and launchers, by their places (``script[0]``), names (``script["copy"]``,
    ``script.copy``), or as the only one (``script.only``)."""

    def __init__(self, engine: Engine, handle: Handle) -> None:
        self._engine, self._handle = engine, handle
        self._workspaces = Workspaces()
        self._items: list[tuple[str, Item]] = [self._item(i) for i in range(self._count(_abi.RETURNED))]
        self._made: list[Kernel] | None = None
        self.warnings = self._warnings()  #: findings, of a script that stopped because no kernel ran

    def _count(self, which: int) -> int:
        count = ctypes.c_size_t()
        check(LIBRARY.wgrun_script_count(self._handle.value, which, ctypes.byref(count)))
        return count.value

    def _kernel(self, which: int, index: int) -> Kernel:
        return Kernel(self._engine, opened(LIBRARY.wgrun_script_kernel, LIBRARY.wgrun_kernel_close, self._handle.value,
                                           which, index))

    def _item(self, index: int) -> tuple[str, Item]:
        out = _abi.Item()
        check(LIBRARY.wgrun_script_item(self._handle.value, _abi.RETURNED, index, ctypes.byref(out)))
        name = out.name.decode("utf-8", "replace")
        kernel = self._kernel(_abi.RETURNED, index)
        if not out.launches:
            return name, kernel
        return name, Launcher(self._engine, self._handle, index, name, kernel, self._workspaces)

    def _warnings(self) -> Findings:
        handle = ctypes.c_void_p()
        check(LIBRARY.wgrun_script_warnings(self._handle.value, ctypes.byref(handle)))
        return take_findings(handle)

    @property
    def names(self) -> tuple[str, ...]:
        """Of what the script returned, in its order."""
        return tuple(name for name, _ in self._items)

    @property
    def only(self) -> Item:
        """The only result of the script."""
        if len(self._items) != 1:
            refuse(f"the script returned {len(self._items)} kernels{self._list()}, not one")
        return self._items[0][1]

    @property
    def kernels(self) -> list[Kernel]:
        """All kernels that the script made, also those that it did not return (none of a script whose kernels run)."""
        if self._made is None:
            self._made = [self._kernel(_abi.MADE, i) for i in range(self._count(_abi.MADE))]
        return self._made

    def again(self, *arguments: Any) -> Script:
        """Runs the script once more, with other arguments, in its Lua state: for many variants of one script, each of which
        costs less than load. Its globals are as they were before it ran first; modules that it has required stay as they
        are. The result has kernels of its own, which share limits and turns with those of this one. Raises what load
        raises."""
        words = _words(arguments)
        with self._engine.turn:
            handle = opened_by_work(LIBRARY.wgrun_script_again, LIBRARY.wgrun_script_close, self._handle.value, words,
                                    len(arguments))
        return _loaded(self._engine, handle)

    def tune(self, measure: str | None = None, rounds: int | None = None,
             results: str | os.PathLike[str] | bool | None = None) -> Tuning:
        """Searches for the fastest options of what the script returns: wg.tuning, or options of wg.tune. One candidate follows
        the other, in this process; `wgrun tune` uses all cores and GPUs, and survives candidates that hang.

        measure: "time" runs candidates, "model" asks the cost model of a timeline. By default as the script says, else the
        model where kernels run on the simulator.
        rounds: launches of a measurement.
        results: the file that keeps measurements; False: none; by default as the script says, else one in wgrun's cache
        folder.
        Raises ScriptError where no candidate works."""
        return tune(self._engine, self._handle, measure, rounds, results)

    def _list(self) -> str:
        return f" ({', '.join(self.names)})" if self._items else ""

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return (item for _, item in self._items)

    def __getitem__(self, key: int | str) -> Item:
        if isinstance(key, int):
            return self._items[key][1]
        for name, item in self._items:
            if name == key:
                return item
        raise KeyError(f"the script returned no `{key}`{self._list()}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __repr__(self) -> str:
        return f"<wgrun.Script{self._list()}>"


def _load(file: bytes | None, text: bytes | None, arguments: Sequence[Any], run_kernels: bool, backend: str | None,
          seed: int, restricted: bool, limits: Limits | None) -> Script:
    engine = Engine(run_kernels, backend, seed, restricted, limits)
    words = _words(arguments)
    source = _abi.Source(file=file, text=text, length=len(text) if text is not None else 0, arguments=words,
                         argument_count=len(arguments))
    return _loaded(engine, opened_by_work(LIBRARY.wgrun_script_load, LIBRARY.wgrun_script_close, engine.handle.value,
                                          ctypes.byref(source)))


def _words(arguments: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * max(len(arguments), 1))(*(c_text("an argument of a script", str(a)) for a in arguments))


def _loaded(engine: Engine, handle: Handle) -> Script:
    script = Script(engine, handle)
    if not len(script) and script.warnings:
        raise ScriptError(str(script.warnings), "EINVAL", script.warnings)
    return script


def load(file: str | os.PathLike[str], *arguments: Any, run_kernels: bool = False, backend: str | None = None,
         seed: int = 0, restricted: bool = False, limits: Limits | None = None) -> Script:
    """Runs the script and gives what it returns: a kernel, a launcher (wg.gemm), or a table of them.

    arguments: its ``...`` and ``arg``, as text.
    run_kernels: whether its own kernel:run runs kernels, on `backend` where the script leaves that open; by default
    it does nothing, as under ``wgrun check``.
    restricted: for a script that is not trusted: no files, no other programs, no bytecode, and limits.
    limits: what the script and its kernels may take.
    Raises ScriptError, FileError, CheckError, LimitError."""
    return _load(c_text("file", file), None, arguments, run_kernels, backend, seed, restricted, limits)


def loads(text: str, *arguments: Any, name: str | None = None, run_kernels: bool = False, backend: str | None = None,
          seed: int = 0, restricted: bool = False, limits: Limits | None = None) -> Script:
    """As load, for the text of a script; `name` is its name in messages."""
    return _load(None if name is None else c_text("name", name), text.encode(), arguments, run_kernels, backend, seed,
                 restricted, limits)


def literal(value: Any) -> str:
    """A value as Lua text."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + "".join(f"\\{byte:03d}" if byte < 32 or byte in b'"\\' or byte > 126 else chr(byte)
                             for byte in value.encode()) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"[{literal(key)}] = {literal(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(literal(entry) for entry in value) + "}"
    refuse(f"an option of type {type(value).__name__}")


def gemm(**options: Any) -> Launcher:
    """wg.gemm with these options (dtype, d, a_major, b_major, problem, tile, schedule, epilogue, ...): call the result
    with A, B, D and what the epilogue takes (alpha, beta, C, bias; metadata of a sparse A). A is M x K, B has rows of K (b_major = "K", the
    default: N x K, as the weights of torch.nn.Linear), D is M x N::

        gemm = wgrun.gemm(dtype="bf16", problem=(M, N, K), epilogue={"bias": "column", "activation": "gelu"})
        gemm(A, B, D, bias=bias)  # D = gelu(A @ B.T + bias)
    """
    launcher = loads(f'return require("wgrun").gemm({literal(options)})', name="wgrun.gemm").only
    assert isinstance(launcher, Launcher)
    return launcher
