"""The C API (wgrun.h) for ctypes: finding the library, its structs, its functions."""

from __future__ import annotations

import ctypes
import os
from ctypes import (POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p)
from functools import cache
from pathlib import Path
from typing import Any, Iterator

API_VERSION = 7  # of wgrun.h, as used here
LIBRARY_NAMES = ("libwgrun_c.so.1", "libwgrun_c.so")

# wgrun_backend
AUTO, GPU, GPU_CUDA, SIM = range(4)
BACKENDS = {None: AUTO, "auto": AUTO, "gpu": GPU, "gpu-cuda": GPU_CUDA, "sim": SIM}
# wgrun_assembler
ASSEMBLERS = {None: 0, "ptxas": 1, "driver": 2, "nvrtc": 3}
# wgrun_list
RETURNED, MADE = range(2)
# wgrun_parameter_kind
POINTER_PARAMETER, TENSOR_MAP, INTEGER_PARAMETER, REAL_PARAMETER = range(1, 5)
# wgrun_argument_kind
MEMORY, INTEGER, REAL = range(1, 4)
# wgrun_text
PTX_TEXT, CUDA_TEXT = 1, 2
# wgrun_timeline_format
TIMELINE_TEXT, TIMELINE_SVG, TIMELINE_HTML, TIMELINE_PERFETTO, TIMELINE_JSON = range(1, 6)
CURRENT_DEVICE, NO_DEVICE = -1, -2
NO_LIMIT = 2**64 - 1

PollFunction = ctypes.CFUNCTYPE(c_int, c_void_p)
TextFunction = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


class Progress(ctypes.Structure):
    _fields_ = [("what", c_char_p), ("unit", c_char_p), ("done", c_uint64), ("total", c_uint64), ("seconds", c_double)]


ProgressFunction = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Progress), c_size_t)


class Place(ctypes.Structure):
    _fields_ = [("file", c_char_p), ("line", c_int)]


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields: object) -> None:
        super().__init__(**fields)
        self.size = ctypes.sizeof(self)


class Error(Sized):
    _fields_ = [("size", c_size_t), ("status", c_int), ("line", c_int), ("code", c_char_p), ("message", c_char_p),
                ("file", c_char_p), ("rule", c_char_p), ("fix", c_char_p), ("text", c_char_p),
                ("traceback", c_char_p)]


class Finding(Sized):
    _fields_ = [("size", c_size_t), ("severity", c_int), ("line", c_int), ("rule", c_char_p), ("file", c_char_p),
                ("message", c_char_p), ("fix", c_char_p), ("section", c_char_p), ("note_count", c_size_t)]


class Verdict(Sized):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("line", c_int), ("property", c_char_p), ("title", c_char_p),
                ("domain", c_char_p), ("reason", c_char_p), ("file", c_char_p), ("assumption", c_char_p)]


class Number(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class Assumptions(Sized):
    _fields_ = [("size", c_size_t), ("budget", c_double), ("grid", c_uint32 * 3), ("block", c_uint32 * 3),
                ("cluster", c_uint32 * 3), ("numbers", POINTER(Number)), ("number_count", c_size_t)]


class Limits(Sized):
    _fields_ = [("size", c_size_t), ("memory", c_uint64), ("milliseconds", c_uint64), ("instructions", c_uint64),
                ("tensors", c_uint64), ("program", c_uint64), ("steps", c_uint64)]


class EngineOptions(Sized):
    _fields_ = [("size", c_size_t), ("run_kernels", c_int), ("backend", c_int), ("seed", c_uint64),
                ("print", TextFunction), ("print_user", c_void_p), ("log", TextFunction), ("log_user", c_void_p),
                ("restricted", c_int), ("limits", POINTER(Limits)), ("allocate", c_void_p), ("allocate_user", c_void_p)]


class Source(Sized):
    _fields_ = [("size", c_size_t), ("file", c_char_p), ("text", c_char_p), ("length", c_size_t),
                ("arguments", POINTER(c_char_p)), ("argument_count", c_size_t)]


class Item(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("launches", c_int)]


class KernelInfo(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("file", c_char_p), ("line", c_int), ("threads", c_int),
                ("cluster", c_uint32 * 3), ("shared_bytes", c_int64), ("parameter_count", c_size_t)]


class Parameter(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_char_p), ("kind", c_int), ("dtype", c_int),
                ("is_const", c_int), ("box_rank", c_int), ("box", c_int64 * 5), ("swizzle", c_int)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", c_int), ("dtype", c_int), ("address", c_uint64), ("shape", POINTER(c_int64)),
                ("rank", c_int), ("read_only", c_int), ("integer", c_int64), ("real", c_double), ("name", c_char_p)]


class Launch(Sized):
    _fields_ = [("size", c_size_t), ("grid", c_uint32 * 3), ("unchecked", c_int), ("arguments", POINTER(Argument)),
                ("argument_count", c_size_t), ("backend", c_int), ("device", c_int), ("stream", c_void_p),
                ("seed", c_uint64), ("numerics", c_char_p), ("block", c_uint32 * 3), ("cluster", c_uint32 * 3),
                ("shared", c_int64)]


class PlanInfo(Sized):
    _fields_ = [("size", c_size_t), ("grid", c_uint32 * 3), ("argument_count", c_size_t)]


class Planned(Sized):
    _fields_ = [("size", c_size_t), ("operand", c_int), ("argument", Argument), ("bytes", c_size_t), ("zeros", c_int),
                ("empty", c_int)]


class Report(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("registers", c_int), ("estimated", c_int), ("spill_stores", c_int),
                ("spill_loads", c_int), ("ctas_per_sm", c_int), ("static_shared", c_int64), ("dynamic_shared", c_int64),
                ("limited_by", c_char_p), ("assembler", c_char_p), ("assembler_version", c_char_p), ("json", c_char_p)]


class File(Sized):
    _fields_ = [("size", c_size_t), ("kernel", c_char_p), ("name", c_char_p), ("content", c_void_p), ("length", c_size_t),
                ("registers", c_int), ("no_cubin", c_char_p)]


class Size(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("least", c_int64), ("most", c_int64), ("multiple_of", c_int64)]


class TuneOptions(Sized):
    _fields_ = [("size", c_size_t), ("measure", c_char_p), ("rounds", c_int), ("results", c_char_p)]


class Candidate(Sized):
    _fields_ = [("size", c_size_t), ("measured", c_int), ("cached", c_int), ("microseconds", c_double), ("options", c_char_p),
                ("reason", c_char_p)]


_H = c_void_p  # a handle
_OUT = POINTER(c_void_p)
_STRINGS = POINTER(c_char_p)
_FUNCTIONS = {
    "last_error": [POINTER(Error)],
    "last_findings": [_OUT],
    "findings_count": [_H, POINTER(c_size_t)],
    "findings_get": [_H, c_size_t, POINTER(Finding)],
    "findings_note": [_H, c_size_t, c_size_t, _STRINGS, _STRINGS, POINTER(c_int)],
    "findings_text": [_H, _STRINGS],
    "findings_json": [_H, _STRINGS],
    "findings_close": [_H],
    "verdicts_count": [_H, POINTER(c_size_t)],
    "verdicts_get": [_H, c_size_t, POINTER(Verdict)],
    "verdicts_json": [_H, _STRINGS],
    "verdicts_close": [_H],
    "check_ptx_given": [c_char_p, c_char_p, c_size_t, POINTER(Assumptions), _STRINGS],
    "cancellation_open": [PollFunction, c_void_p, _OUT],
    "cancellation_request": [_H],
    "cancellation_use": [_H],
    "cancellation_close": [_H],
    "progress_use": [ProgressFunction, c_void_p],
    "engine_open": [POINTER(EngineOptions), _OUT],
    "engine_close": [_H],
    "engine_interrupt": [_H],
    "script_load": [_H, POINTER(Source), _OUT],
    "script_again": [_H, POINTER(c_char_p), c_size_t, _OUT],
    "script_tune": [_H, POINTER(TuneOptions), _OUT],
    "script_close": [_H],
    "script_warnings": [_H, _OUT],
    "script_count": [_H, c_int, POINTER(c_size_t)],
    "script_item": [_H, c_int, c_size_t, POINTER(Item)],
    "script_kernel": [_H, c_int, c_size_t, _OUT],
    "script_plan": [_H, c_size_t, POINTER(Argument), c_size_t, c_int, _OUT],
    "kernel_close": [_H],
    "kernel_info_get": [_H, POINTER(KernelInfo)],
    "kernel_parameter": [_H, c_size_t, POINTER(Parameter)],
    "kernel_check": [_H, POINTER(Launch), _OUT],
    "kernel_verdicts_given": [_H, POINTER(Assumptions), _OUT],
    "kernel_ptx": [_H, _STRINGS, POINTER(c_size_t)],
    "kernel_cuda": [_H, _STRINGS, POINTER(c_size_t)],
    "kernel_cubin": [_H, c_int, _OUT, POINTER(c_size_t)],
    "kernel_load": [_H, c_int, c_int],
    "kernel_launch": [_H, POINTER(Launch)],
    "kernel_simulate": [_H, POINTER(Launch)],
    "kernel_report": [_H, POINTER(Report), _OUT],
    "kernel_source_map": [_H, c_int, POINTER(POINTER(Place)), POINTER(c_size_t)],
    "kernel_timeline": [_H, POINTER(Launch), _OUT],
    "kernel_profile": [_H, POINTER(Launch), c_int, c_int64, _OUT],
    "kernel_size_count": [_H, POINTER(c_size_t)],
    "kernel_size": [_H, c_size_t, POINTER(Size)],
    "kernel_edge_sizes": [_H, c_size_t, POINTER(POINTER(c_int64)), POINTER(c_size_t)],
    "kernel_check_size": [_H, POINTER(c_int64), c_size_t, c_uint64, _OUT],
    "timeline_text": [_H, c_int, c_int, c_double, c_double, _STRINGS, POINTER(c_size_t)],
    "timeline_close": [_H],
    "export": [_OUT, c_size_t, c_char_p, _OUT],
    "files_count": [_H, POINTER(c_size_t)],
    "files_get": [_H, c_size_t, POINTER(File)],
    "files_close": [_H],
    "tuning_count": [_H, POINTER(c_size_t)],
    "tuning_get": [_H, c_size_t, POINTER(Candidate)],
    "tuning_json": [_H, _STRINGS],
    "tuning_close": [_H],
    "plan_close": [_H],
    "plan_info_get": [_H, POINTER(PlanInfo)],
    "plan_kernel": [_H, _OUT],
    "plan_argument": [_H, c_size_t, POINTER(Planned)],
}


def _open() -> ctypes.CDLL:
    named = os.environ.get("WGRUN_LIBRARY")
    if named:
        return ctypes.CDLL(named)
    beside = [Path(__file__).parent / name for name in LIBRARY_NAMES]
    for path in beside:
        if path.exists():
            return ctypes.CDLL(str(path))
    reasons = []
    for name in LIBRARY_NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError(f"no wgrun library: none beside {beside[0].parent}, WGRUN_LIBRARY is not set, and the loader "
                      f"says {'; '.join(reasons)}")


def load_library() -> ctypes.CDLL:
    """Finds the library (WGRUN_LIBRARY, beside the package, the loader) and declares its functions."""
    library = _open()
    library.wgrun_api_version.restype = c_int
    if library.wgrun_api_version() < API_VERSION:
        raise ImportError(f"the wgrun library has version {library.wgrun_api_version()} of the C API, "
                          f"{API_VERSION} is needed")
    library.wgrun_version.restype = c_char_p
    library.wgrun_dtype_name.restype = c_char_p
    for name, arguments in _FUNCTIONS.items():
        function = getattr(library, "wgrun_" + name)
        function.argtypes = arguments
        function.restype = c_int
    return library


class _Library:
    """The library, which is loaded when its first function is asked for: check_ptx does without it where the tool is there."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(_loaded(), name)
        setattr(self, name, function)
        return function


@cache
def _loaded() -> ctypes.CDLL:
    return load_library()


LIBRARY: Any = _Library()


def _dtypes() -> Iterator[tuple[str, int, int]]:
    number = 1
    while (name := LIBRARY.wgrun_dtype_name(number)) is not None:
        yield name.decode(), number, LIBRARY.wgrun_dtype_bits(number)
        number += 1


# wgrun_dtype, as the library has it
DTYPE_NUMBERS: dict[str, int]
DTYPE_NAMES: dict[int, str]
DTYPE_BYTES: dict[str, int]


def __getattr__(name: str) -> Any:
    tables = {
        "DTYPE_NUMBERS": lambda: {name: number for name, number, _ in _dtypes()},
        "DTYPE_NAMES": lambda: {number: name for name, number, _ in _dtypes()},
        "DTYPE_BYTES": lambda: {name: bits // 8 for name, _, bits in _dtypes() if bits >= 8},
    }
    if name not in tables:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = tables[name]()
    return globals()[name]
