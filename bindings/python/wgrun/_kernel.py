"""Kernels: their properties, their text, and calls."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Sequence, Tuple, Union

from . import _abi
from ._abi import LIBRARY
from ._assumptions import Assumptions, Extents, extents_of
from ._assembly import AssemblyReport, report_of
from ._cancellation import work
from ._engine import Engine, Handle, backend_number, opened_by_work
from ._errors import Findings, Verdict, c_number, check, refuse, take_findings, take_verdicts
from ._memory import Memory, argument_of, current_stream, device_of, stream_number
from ._sizes import Size, check_size_of, edge_sizes_of, sizes_of
from ._timeline import Timeline

Grid = Union[int, Sequence[int]]

_TF32, _F32 = _abi.DTYPE_NUMBERS["tf32"], _abi.DTYPE_NUMBERS["f32"]
_KINDS = {_abi.POINTER_PARAMETER: "pointer", _abi.TENSOR_MAP: "tensor map", _abi.INTEGER_PARAMETER: "integer",
          _abi.REAL_PARAMETER: "real"}
_shapes: dict[tuple[int, ...], Any] = {}  # as C arrays
_MOST_SHAPES = 4096


def _shape_array(shape: tuple[int, ...]) -> Any:
    known = _shapes.get(shape)
    if known is None:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        known = _shapes[shape] = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    return known


def write_argument(out: _abi.Argument, value: Memory | int | float) -> object:
    """Fills one wgrun_argument, and returns the object that must live as long."""
    if type(value) is Memory:
        out.kind, out.dtype, out.address = _abi.MEMORY, value.dtype, value.address
        out.rank, out.read_only = len(value.shape), value.read_only
        shape = _shape_array(value.shape)
        out.shape = shape
        return shape
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            refuse(f"the number {value} does not fit 64 bits")
        out.kind, out.integer = _abi.INTEGER, value if value < 1 << 63 else value - (1 << 64)
    else:
        out.kind, out.real = _abi.REAL, value
    return None


def _three(what: str, given: Grid | None) -> tuple[int, int, int]:
    """(x, y, z) of extents that are given; zeros where none are."""
    extents = extents_of(what, given)
    return (extents + (1, 1))[:3] if extents else (0, 0, 0)


def grid_of(grid: Grid | None) -> tuple[int, int, int]:
    """(x, y, z) of a grid given as a number or as up to three."""
    if grid is None:
        refuse("the grid is missing: kernel[grid](...) or kernel(..., grid=...)")
    return _three("grid", grid)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel."""

    name: str
    type: str  #: as scripts write it: "const bf16*", "u32"; of a tensor map its element type
    kind: str  #: "pointer", "tensor map", "integer" or "real"
    dtype: str | None  #: of the elements of a pointer or tensor map
    const: bool  #: a pointer or tensor map that the kernel only reads through
    box: tuple[int, ...]  #: of a tensor map: elements that a copy moves, the contiguous dimension first
    swizzle: int  #: of a tensor map, in bytes


#: Threads of a CTA, CTAs of a cluster, bytes of shared memory, where a PTX text leaves them to the launch.
LeftOpen = Tuple[Tuple[int, int, int], Tuple[int, int, int], int]
_AS_THE_TEXT: LeftOpen = ((0, 0, 0), (0, 0, 0), 0)


class Kernel:
    """A kernel of a script. ``kernel[grid](A, B, C)`` runs it, with arrays of any package and with numbers in the order
    of its parameters: arrays on a CUDA device are used there, on the caller's stream, and the call does not wait;
    arrays of the host are used by the simulator, which runs to the end."""

    def __init__(self, engine: Engine, handle: Handle) -> None:
        self._engine, self._handle = engine, handle
        info = _abi.KernelInfo()
        check(LIBRARY.wgrun_kernel_info_get(handle.value, ctypes.byref(info)))
        self.name: str = info.name.decode()
        self.file: str = info.file.decode("utf-8", "replace")  #: where it was made
        self.line: int = info.line
        self.threads: int = info.threads  #: of a CTA
        self.cluster: tuple[int, int, int] = tuple(info.cluster)  #: CTAs
        self.shared_bytes: int = info.shared_bytes  #: dynamic shared memory of a CTA
        self.parameters: tuple[Parameter, ...] = tuple(self._parameter(i) for i in range(info.parameter_count))
        self._dtypes = [_abi.DTYPE_NUMBERS.get(p.dtype or "", 0) for p in self.parameters]
        # Filled anew for each launch, in the engine's turn.
        self._arguments = (_abi.Argument * max(len(self.parameters), 1))()
        self._launch = _abi.Launch(arguments=self._arguments, argument_count=len(self.parameters))

    def _parameter(self, index: int) -> Parameter:
        out = _abi.Parameter()
        check(LIBRARY.wgrun_kernel_parameter(self._handle.value, index, ctypes.byref(out)))
        return Parameter(out.name.decode(), out.type.decode(), _KINDS[out.kind],
                         _abi.DTYPE_NAMES.get(out.dtype), bool(out.is_const),
                         tuple(out.box[: out.box_rank]), out.swizzle)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.type}" for p in self.parameters)
        return f"<wgrun.Kernel {self.name}({parameters}) of {self.file}:{self.line}>"

    def __getitem__(self, grid: Grid) -> "BoundKernel":
        return BoundKernel(self, grid_of(grid))

    def __call__(self, *arguments: Any, grid: Grid | None = None, stream: Any = None, backend: str | None = None,
                 unchecked: bool = False, seed: int = 0, numerics: str | None = None, block: Grid | None = None,
                 cluster: Grid | None = None, shared: int = 0, device: int | None = None) -> None:
        """Runs the kernel.

        stream: where, on a device; by default the current stream of the package that the arrays are of.
        backend: "gpu" (PTX) or "gpu-cuda" (CUDA C++ through NVRTC) for arrays on a device, "sim" for the host's.
        unchecked: in spite of what the static checker says.
        seed, numerics: of the simulator: the order in which threads run; "exact" or "h200".
        block, cluster, shared: of a kernel that was read from PTX, whose text may leave them open: threads of a CTA, CTAs
        of a cluster, bytes of dynamic shared memory. Its pointers take arrays; tensor maps and structures it takes from
        Lua alone.
        device: the number of the one that runs it, by default that of the arrays. With it arrays may be on others, too,
        whose memory it may access (cudaDeviceEnablePeerAccess).
        Raises CheckError for findings, ArgumentError, CompileError, DeviceError."""
        stream = None if stream is None else stream_number(stream)
        values = [argument_of(argument, stream) for argument in arguments]
        memories = [value for value in values if type(value) is Memory]
        self.run(values, memories, device_of(memories, device), grid_of(grid), stream, backend, unchecked, seed, numerics,
                 (_three("block", block), _three("cluster", cluster), c_number("shared", shared, False)))

    def run(self, values: list[Memory | int | float], memories: list[Memory], device: int | None,
            grid: tuple[int, int, int], stream: int | None, backend: str | None, unchecked: bool, seed: int,
            numerics: str | None, left_open: LeftOpen = _AS_THE_TEXT) -> None:
        """A call with its arrays resolved."""
        on_device = device is not None or (not memories and backend in ("gpu", "gpu-cuda"))
        number = backend_number(backend)
        if on_device and number == _abi.SIM:
            refuse("the simulator cannot use arrays on a device")
        if not on_device and number in (_abi.GPU, _abi.GPU_CUDA):
            refuse(f"the backend `{backend}` cannot use arrays of the host")
        if on_device and stream is None:
            stream = current_stream(memories, device if device is not None else 0)
        with self._engine.turn:
            launch = self._prepare(values)
            launch.grid[0], launch.grid[1], launch.grid[2] = grid
            launch.unchecked = unchecked
            launch.block[:], launch.cluster[:], launch.shared = left_open
            launch.backend = number
            if on_device:
                launch.device = _abi.CURRENT_DEVICE if device is None else device
                launch.stream = stream
                return self.start(launch)
            launch.device, launch.stream = _abi.CURRENT_DEVICE, None
            launch.seed = c_number("seed", seed, False)
            launch.numerics = None if numerics is None else numerics.encode()
            work(lambda: LIBRARY.wgrun_kernel_simulate(self._handle.value, launch))

    def start(self, launch: _abi.Launch) -> None:
        """Starts a launch on a device."""
        status = LIBRARY.wgrun_kernel_launch(self._handle.value, launch)
        if status != 0:
            check(status)

    def _prepare(self, values: Sequence[Memory | int | float]) -> _abi.Launch:
        self.write(self._arguments, values)
        return self._launch

    def write(self, arguments: Any, values: Sequence[Memory | int | float]) -> list[object]:
        """Fills an array of _abi.Argument, and returns what must live as long."""
        if len(values) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            refuse(f"kernel {self.name} takes {len(self.parameters)} arguments ({names}), not {len(values)}")
        keep = []
        for i, value in enumerate(values):
            out = arguments[i]
            keep.append(write_argument(out, value))
            # No package has arrays of tf32: they are f32.
            if self._dtypes[i] == _TF32 and type(value) is Memory and value.dtype == _F32:
                out.dtype = _TF32
        return keep

    def check(self, grid: Grid | None = None, arguments: Sequence[Any] | None = None) -> Findings:
        """Every finding of the static checker; with a grid and arguments (whose numbers matter, arrays may be None) also
        what such a launch breaks."""
        handle = ctypes.c_void_p()
        with self._engine.turn:
            launch = None
            if grid is not None:
                values = [0 if a is None else argument_of(a, None) for a in arguments or [None] * len(self.parameters)]
                launch = self._prepare(values)
                launch.grid[0], launch.grid[1], launch.grid[2] = grid_of(grid)
            work(lambda: LIBRARY.wgrun_kernel_check(self._handle.value, launch, ctypes.byref(handle)))
        return take_findings(handle)

    def verdicts(self, grid: Extents | None = None, assume: Mapping[str, int] | None = None,
                 budget: float | None = None) -> list[Verdict]:
        """What is proved of the kernel for every launch, property by property (docs/verdicts.md); with a grid or assumed numbers
        ({"n": 64}), for every launch that has them. budget: the seconds that proofs may take, counted in operations, so that verdicts
        do not depend on the machine (None: 10). Raises ArgumentError for numbers that the kernel does not have."""
        handle, given = ctypes.c_void_p(), Assumptions(grid=grid, assume=assume, budget=budget).struct()
        with self._engine.turn:
            work(lambda: LIBRARY.wgrun_kernel_verdicts_given(self._handle.value, given, ctypes.byref(handle)))
        return take_verdicts(handle)

    def report(self) -> AssemblyReport:
        """Registers, spills, shared memory and occupancy, as ptxas or the driver has assembled it. Raises CheckError,
        CompileError; FileError or DeviceError where there is no assembler."""
        return report_of(self)

    def source_map(self, text: str = "ptx") -> list[tuple[str, int] | None]:
        """For each line of ptx(), or of cuda() where `text` is "cuda", the file and line of the script that it comes from;
        None for lines of no place. Of a kernel that was read from PTX each line of that is itself. Raises CheckError when
        the checker found an error."""
        numbers = {"ptx": _abi.PTX_TEXT, "cuda": _abi.CUDA_TEXT}
        if text not in numbers:
            refuse(f"unknown text `{text}` (legal: ptx, cuda)")
        lines, count = ctypes.POINTER(_abi.Place)(), ctypes.c_size_t()
        with self._engine.turn:
            work(lambda: LIBRARY.wgrun_kernel_source_map(self._handle.value, numbers[text], ctypes.byref(lines),
                                                         ctypes.byref(count)))
            places = [lines[i] for i in range(count.value)]
            return [(p.file.decode("utf-8", "replace"), p.line) if p.file else None for p in places]

    def timeline(self, *arguments: Any, grid: Grid | None = None, unchecked: bool = False, seed: int = 0,
                 numerics: str | None = None, block: Grid | None = None, cluster: Grid | None = None,
                 shared: int = 0) -> Timeline:
        """Runs one cluster of a launch on the simulator, with arrays of the host, which then hold its results, and lays it out
        in time by the model of an H200's SM. The options are those of a call. Raises CheckError; ArgumentError for runs
        that are too long."""
        return self._laid_out(arguments, grid, _abi.AUTO, unchecked, seed, numerics,
                              (_three("block", block), _three("cluster", cluster), shared), LIBRARY.wgrun_kernel_timeline)

    def profile(self, *arguments: Any, grid: Grid | None = None, backend: str = "sim", clusters: int = 1, events: int = 4096,
                unchecked: bool = False, seed: int = 0, numerics: str | None = None, block: Grid | None = None,
                cluster: Grid | None = None, shared: int = 0) -> Timeline:
        """Runs a launch with arrays of the host, with a build of the kernel that notes when its warps wait, copy and multiply,
        on the simulator or, with backend="gpu" or "gpu-cuda", on a GPU. `clusters` of the grid are noted, and `events` of
        each warp."""
        if clusters < 1 or events < 1:
            refuse("clusters and events: at least 1")
        return self._laid_out(arguments, grid, backend_number(backend), unchecked, seed, numerics,
                              (_three("block", block), _three("cluster", cluster), shared), LIBRARY.wgrun_kernel_profile, clusters, events)

    def _laid_out(self, arguments: Sequence[Any], grid: Grid | None, backend: int, unchecked: bool, seed: int,
                  numerics: str | None, left_open: LeftOpen, function: Any, *options: int) -> Timeline:
        values = [argument_of(argument, None) for argument in arguments]
        if device_of([value for value in values if type(value) is Memory]) is not None:
            refuse("a timeline takes arrays of the host")
        with self._engine.turn:
            launch = self._prepare(values)
            launch.grid[0], launch.grid[1], launch.grid[2] = grid_of(grid)
            launch.block[:], launch.cluster[:], launch.shared = left_open
            launch.unchecked, launch.backend, launch.seed = unchecked, backend, c_number("seed", seed, False)
            launch.numerics = None if numerics is None else numerics.encode()
            launch.device, launch.stream = _abi.CURRENT_DEVICE, None
            handle = opened_by_work(function, LIBRARY.wgrun_timeline_close, self._handle.value, launch, *options)
        return Timeline(handle)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes that the script declares to be legal (kernel:sizes), by name; empty of a script whose kernels run."""
        return sizes_of(self)

    def edge_sizes(self, most: int = 96) -> list[dict[str, int]]:
        """Launches that are worth trying, at most that many: sizes at their limits, and beside the extents that stand in the
        kernel."""
        return edge_sizes_of(self, most)

    def check_size(self, seed: int = 0, **sizes: int) -> Findings:
        """Has the script launch the kernel with these sizes on the simulator: what that breaks, and errors that the script
        raises, are the findings. Raises ArgumentError for sizes that are not legal, LimitError."""
        return check_size_of(self, sizes, seed)

    def _text(self, function: Any) -> str:
        text, length = ctypes.c_char_p(), ctypes.c_size_t()
        with self._engine.turn:
            work(lambda: function(self._handle.value, ctypes.byref(text), ctypes.byref(length)))
            return ctypes.string_at(text, length.value).decode()

    def ptx(self) -> str:
        """Its PTX. Raises CheckError when the checker found an error."""
        return self._text(LIBRARY.wgrun_kernel_ptx)

    def cuda(self) -> str:
        """Its CUDA C++. Raises CheckError when the checker found an error."""
        return self._text(LIBRARY.wgrun_kernel_cuda)

    def cubin(self, assembler: str | None = None) -> bytes:
        """Machine code for sm_90a, made by "ptxas", "driver" or "nvrtc", by default the first one that is available."""
        if assembler not in _abi.ASSEMBLERS:
            refuse(f"unknown assembler `{assembler}` (legal: ptxas, driver, nvrtc)")
        image, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._engine.turn:
            work(lambda: LIBRARY.wgrun_kernel_cubin(self._handle.value, _abi.ASSEMBLERS[assembler], ctypes.byref(image),
                                                    ctypes.byref(size)))
            return ctypes.string_at(image, size.value)

    def load(self, device: int = _abi.CURRENT_DEVICE, backend: str | None = None) -> None:
        """Compiles the kernel and loads it into the context of that CUDA device, ahead of its first launch."""
        with self._engine.turn:
            number = backend_number(backend)
            work(lambda: LIBRARY.wgrun_kernel_load(self._handle.value, number, device))


class BoundKernel:
    """A kernel with its grid: call it with the arguments."""

    def __init__(self, kernel: Kernel, grid: tuple[int, int, int]) -> None:
        self.kernel, self.grid = kernel, grid

    def __call__(self, *arguments: Any, **options: Any) -> None:
        """As Kernel.__call__."""
        self.kernel(*arguments, grid=self.grid, **options)
