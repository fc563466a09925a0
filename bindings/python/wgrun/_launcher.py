"""Objects of scripts that know their own grid and arguments, as wg.gemm's do."""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from typing import Any

from . import _abi
from ._abi import LIBRARY
from ._engine import Engine, Handle, opened_by_work
from ._errors import check, refuse
from ._kernel import Kernel, write_argument
from ._memory import Memory, argument_of, current_stream, device_of, stream_number, torch_stream

_MOST_PLANS = 256


@functools.cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _capture_of(stream: int) -> int | None:
    """The driver's number of the capture that a stream takes part in, which no other capture of the process has."""
    status, number = ctypes.c_int(), ctypes.c_uint64()
    failed = _driver().cuStreamGetCaptureInfo_v2(ctypes.c_void_p(stream), ctypes.byref(status), ctypes.byref(number),
                                                 None, None, None)
    return number.value if failed == 0 and status.value == 1 else None


class Workspaces(weakref.WeakValueDictionary):  # type: ignore[type-arg]
    """The memory on devices that the launches of a script need besides their operands, as long as a plan holds it: by
    the address of its first contents, device, stream and capture. What the script hands to several launches is one
    tensor there, and one here: what one kernel leaves in it, the next one reads."""


class _Plan:
    """Grid and arguments for operands of certain shapes, and the additional memory that the kernel needs."""

    def __init__(self, handle: Handle, kernel: Kernel, workspaces: "Workspaces") -> None:
        self.workspaces = workspaces
        self.held: dict[tuple[int, int, int, bool], Any] = {}
        self.handle = handle  # owns the first contents of the workspaces
        info = _abi.PlanInfo()
        check(LIBRARY.wgrun_plan_info_get(handle.value, ctypes.byref(info)))
        self.grid = (info.grid[0], info.grid[1], info.grid[2])
        self.arguments: list[int | float | Memory] = []
        self.operands: list[int] = []  # of each argument, -1: none
        self.sizes: dict[int, tuple[int, bool, bool]] = {}  # of workspaces: bytes, all zeros, may hold anything
        for i in range(info.argument_count):
            planned = _abi.Planned()
            check(LIBRARY.wgrun_plan_argument(handle.value, i, ctypes.byref(planned)))
            argument = planned.argument
            self.operands.append(planned.operand)
            if planned.operand >= 0:
                self.arguments.append(0)
            elif argument.kind == _abi.INTEGER:
                self.arguments.append(argument.integer)
            elif argument.kind == _abi.REAL:
                self.arguments.append(argument.real)
            else:
                shape = tuple(argument.shape[d] for d in range(argument.rank))
                self.sizes[i] = (planned.bytes, bool(planned.zeros), bool(planned.empty))
                self.arguments.append(Memory(argument.address, argument.dtype, shape, None, False, 0, handle))
        self.read = [p.const for p in kernel.parameters]

    def workspace(self, index: int, device: int, stream: int) -> Memory:
        """The memory for argument `index` on a device. What the kernel only reads is shared by all streams; what it
        writes belongs to one of them, and to a graph that is captured from it: a graph's launches can run beside
        others, but those that one stream has given it follow each other."""
        torch = sys.modules.get("torch")
        if torch is None:
            refuse("this launch needs memory besides its operands, which only torch tensors can provide: choose "
                   "options that need none (of wg.gemm: splits = 1, stream_k = false, raster = \"grouped\")")
        memory = self.arguments[index]
        assert isinstance(memory, Memory)
        size, zeros, empty = self.sizes[index]
        table = self.read[index] and not zeros  # zeros are read where another launch has written
        used_on = 0 if table else stream
        capture = _capture_of(stream) if torch.cuda.is_current_stream_capturing() else None
        of_capture = None if table else capture
        key = (memory.address, device, used_on, of_capture)
        kept = self.workspaces.get(key)
        if kept is None:
            if zeros:
                kept = (torch.empty if empty else torch.zeros)(size, dtype=torch.uint8, device=f"cuda:{device}")
            elif capture is not None:
                refuse("call it once with operands of these shapes before you capture a graph: what it needs besides "
                       "them is copied to the device then")
            else:
                first = torch.frombuffer(bytearray(ctypes.string_at(memory.address, size)), dtype=torch.uint8)
                kept = first.to(f"cuda:{device}")
            if capture is None or of_capture is not None:
                self.workspaces[key] = kept
        # Of captures the last one's. A plan keeps the script's tensor, so that no other can have its address.
        self.held[index, device, used_on, of_capture is None] = kept
        return memory._replace(address=kept.data_ptr(), device=device, stream=None, keep=kept)


class Again:
    """A launch on a device whose arguments are written, but for the addresses that differ from call to call."""

    def __init__(self, engine: Engine, kernel: Kernel, plan: _Plan, arguments: list[int | float | Memory], device: int) -> None:
        self.turn, self.plan, self.kernel, self.device = engine.turn, plan, kernel, device
        self.arguments = (_abi.Argument * max(len(arguments), 1))()
        self.keep = kernel.write(self.arguments, arguments)
        self.launch = _abi.Launch(arguments=self.arguments, argument_count=len(arguments), backend=_abi.AUTO, device=device)
        self.launch.grid[:] = plan.grid
        #: Arguments and the operands whose addresses they have.
        self.addresses = [(self.arguments[i], operand) for i, operand in enumerate(plan.operands)
                          if operand >= 0 and type(arguments[i]) is Memory]
        self.workspaces = [(self.arguments[i], i) for i in plan.sizes]
        self.stream: int | None = None  # whose workspaces are written: outside of captures they stay

    def again(self, *values: Any) -> bool:
        """The same launch of other tensors: of the same shapes and dtypes, all of them row-major, on the same device. False: one
        of them does not begin at a multiple of 16 bytes, as TMA needs it."""
        for _, operand in self.addresses:
            if values[operand].data_ptr() % 16:
                return False
        with self.turn:
            self.start(values)
        return True

    def start(self, values: tuple[Any, ...]) -> None:
        for argument, operand in self.addresses:
            argument.address = values[operand].data_ptr()
        stream = torch_stream(self.device)
        if self.workspaces:
            captured = sys.modules["torch"].cuda.is_current_stream_capturing()
            if captured or stream != self.stream:
                for argument, index in self.workspaces:
                    argument.address = self.plan.workspace(index, self.device, stream).address
                self.stream = None if captured else stream
        self.launch.stream = stream
        self.kernel.start(self.launch)


def _named(operands: tuple[Any, ...], named: dict[str, Any]) -> tuple[list[str | None], tuple[Any, ...]]:
    """The operands' names and values, one below the other where several have a name."""
    names: list[str | None] = [None] * len(operands)
    if tuple not in map(type, named.values()):
        names += named
        return names, (*operands, *named.values())
    values = list(operands)
    for name, value in named.items():
        several = value if type(value) is tuple else (value,)
        names += [name] * len(several)
        values += several
    return names, tuple(values)


class Launcher:
    """An object of a script with a ``launch`` method, such as wg.gemm makes: ``gemm(A, B, D)`` asks it for grid and
    arguments, once for all operands of the same shapes, and runs its kernel, as Kernel does."""

    def __init__(self, engine: Engine, script: Handle, index: int, name: str, kernel: Kernel,
                 workspaces: Workspaces) -> None:
        self._engine, self._script, self._index, self._workspaces = engine, script, index, workspaces
        self.name = name
        self.kernel = kernel  #: the kernel that it launches
        self._plans: dict[Any, _Plan] = {}
        self._written: dict[Any, Again] = {}

    def __repr__(self) -> str:
        return f"<wgrun.Launcher {self.name} of {self.kernel!r}>"

    def __call__(self, *operands: Any, stream: Any = None, backend: str | None = None, unchecked: bool = False,
                 seed: int = 0, numerics: str | None = None, **named: Any) -> None:
        """Runs the kernel on the operands. What goes by name (of wg.gemm: alpha, beta, C, bias) is handed to the
        object's ``launch`` in a table, several arrays in a tuple as a list. The other options are those of Kernel.__call__."""
        stream = None if stream is None else stream_number(stream)
        names, given = _named(operands, named)
        values = [argument_of(value, stream) for value in given]
        memories = [value for value in values if type(value) is Memory]
        device = device_of(memories)
        if device is not None and stream is None:
            stream = current_stream(memories, device)
        with self._engine.turn:
            plan = self._plan(values, names, device)
            arguments: list[Memory | int | float] = []
            for i, argument in enumerate(plan.arguments):
                if plan.operands[i] >= 0:
                    argument = values[plan.operands[i]]
                elif device is not None and i in plan.sizes:
                    argument = plan.workspace(i, device, stream or 0)
                arguments.append(argument)
            self.kernel.run(arguments, memories, device, plan.grid, stream, backend, unchecked, seed, numerics)

    def on_tensors(self, *operands: Any, **named: Any) -> Again | None:
        """A call with tensors of PyTorch alone, and numbers, on the current stream. On a CUDA device the arguments of all calls
        whose tensors have the same shapes, and whose numbers are the same, are looked at and written once. Returns the launch
        there, for tensors that are known to be such; None: it was run on the simulator."""
        tensor = sys.modules["torch"].Tensor
        names, values = _named(operands, named)
        device = values[0].get_device()
        key = (*names, *((v.dtype, v.shape, v.get_device(), v.is_contiguous(), v.is_neg()) if isinstance(v, tensor) else (type(v), v)
                         for v in values))
        with self._engine.turn:
            written = self._written.get(key)
            if written is not None:
                written.start(values)
                return written
        if device < 0:
            self(*operands, **named)
            return None
        memories = [argument_of(value, None) for value in values]
        device_of([m for m in memories if type(m) is Memory])
        with self._engine.turn:
            plan = self._plan(memories, names, device)
            arguments = [a if operand < 0 else memories[operand] for a, operand in zip(plan.arguments, plan.operands)]
            if len(self._written) >= _MOST_PLANS:
                del self._written[next(iter(self._written))]
            written = self._written[key] = Again(self._engine, self.kernel, plan, arguments, device)
            written.start(values)
            return written

    def _plan(self, values: list[Any], names: list[str | None], device: int | None) -> _Plan:
        key = (device, *names, *((v.dtype, v.shape) if type(v) is Memory else (type(v), v) for v in values))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make_plan(values, names, device)
            if len(self._plans) >= _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = plan
        return plan

    def _make_plan(self, values: list[Any], names: list[str | None], device: int | None) -> _Plan:
        operands = (_abi.Argument * max(len(values), 1))()
        keep = []
        for out, value, name in zip(operands, values, names):
            keep.append(write_argument(out, value))
            out.name = None if name is None else name.encode()
        handle = opened_by_work(LIBRARY.wgrun_script_plan, LIBRARY.wgrun_plan_close, self._script.value, self._index,
                                operands, len(values), _abi.NO_DEVICE if device is None else device)
        return _Plan(handle, self.kernel, self._workspaces)
