"""Arrays and tensors of other packages as memory: where it is, and of what shape. Nothing is copied, and none of the
packages is imported: a program that has their objects has imported them."""

from __future__ import annotations

import ctypes
import numbers
import sys
from typing import Any, NamedTuple

from ._abi import DTYPE_BYTES, DTYPE_NUMBERS
from ._errors import refuse


class Memory(NamedTuple):
    """Contiguous, row-major memory of another package."""

    address: int
    dtype: int  # wgrun_dtype
    shape: tuple[int, ...]
    device: int | None  # CUDA's ordinal; None: the host
    read_only: bool
    stream: int | None  # where its package has put the work that fills it; None: ask torch
    keep: object  # what the memory belongs to


# What others call an element type: its name in numpy, ml_dtypes and torch, numpy's typestr, DLDataTypeCode.
_ELSEWHERE: dict[str, tuple[str, str | None, int]] = {
    "f64": ("float64", "f8", 2), "f32": ("float32", "f4", 2), "f16": ("float16", "f2", 2),
    "bf16": ("bfloat16", None, 4),
    "e4m3": ("float8_e4m3fn", None, 10), "e5m2": ("float8_e5m2", None, 12),
    "s8": ("int8", "i1", 0), "s32": ("int32", "i4", 0), "s64": ("int64", "i8", 0),
    "u8": ("uint8", "u1", 1), "u32": ("uint32", "u4", 1), "u64": ("uint64", "u8", 1),
}
_BY_NAME = {name: dtype for dtype, (name, _, _) in _ELSEWHERE.items()}
_BY_TYPESTR = {typestr: dtype for dtype, (_, typestr, _) in _ELSEWHERE.items() if typestr}
_BY_DLPACK = {(code, 8 * DTYPE_BYTES[dtype]): dtype for dtype, (_, _, code) in _ELSEWHERE.items()}
_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_CUDA_MANAGED = 1, 2, 3, 13
_DL_LEGACY_STREAM = 1

_torch_dtypes: dict[Any, int] = {}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class View:
    """An array whose bytes are elements of another dtype of the same size: see wgrun.view."""

    def __init__(self, array: Any, dtype: str) -> None:
        if DTYPE_BYTES.get(dtype) is None:
            refuse(f"view: unknown dtype `{dtype}` (legal: {', '.join(DTYPE_BYTES)})")
        self.array, self.dtype = array, dtype

    def memory(self, stream: int | None) -> Memory:
        memory = memory_of(self.array, self.dtype, stream)
        return memory._replace(dtype=DTYPE_NUMBERS[self.dtype], keep=self)


def view(array: Any, dtype: str) -> View:
    """The array's memory with another element type of the same size, for types that its package does not know:
    ``wgrun.view(numpy_uint16, "bf16")``. Nothing is converted."""
    return View(array, dtype)


def _contiguous(shape: tuple[int, ...], strides: Any, unit: int) -> bool:
    """Whether the strides, in steps of `unit` a contiguous element, are row-major ones without gaps."""
    step = unit
    for extent, stride in zip(reversed(shape), reversed(tuple(strides))):
        if extent != 1 and stride != step:
            return 0 in shape
        step *= extent
    return True


def _named_dtype(name: str, what: str, meant: str | None) -> int:
    ours = _BY_NAME.get(name)
    if ours is None and meant is None:
        refuse(f"{what}: no kernel has elements of {name}; wgrun.view(array, dtype) gives its bytes another type")
    return DTYPE_NUMBERS[ours] if ours else 0


def _check_size(memory: Memory, meant: str | None, bytes_each: int) -> Memory:
    if meant is not None and bytes_each != DTYPE_BYTES[meant]:
        refuse(f"view: elements of {bytes_each} bytes are no {meant}")
    return memory


def _not_contiguous(what: str, shape: tuple[int, ...]) -> None:
    refuse(f"{what} of shape {shape} is not contiguous and row-major: make a copy that is "
           f"(.contiguous(), numpy.ascontiguousarray)")


def _of_torch(torch: Any, tensor: Any, meant: str | None) -> Memory:
    dtype = _torch_dtypes.get(tensor.dtype)
    if dtype is None:
        dtype = _named_dtype(str(tensor.dtype).removeprefix("torch."), "torch tensor", meant)
        if dtype:
            _torch_dtypes[tensor.dtype] = dtype
    device = tensor.device
    if device.type == "cuda":
        ordinal = device.index
    elif device.type == "cpu":
        ordinal = None
    else:
        refuse(f"torch tensor on `{device}`: cpu (for the simulator) or cuda")
    shape = tuple(tensor.shape)
    if not tensor.is_contiguous():
        _not_contiguous("torch tensor", shape)
    if tensor.is_neg():
        refuse("torch tensor with its negation still to be done: call .resolve_neg()")
    memory = Memory(tensor.data_ptr(), dtype, shape, ordinal, False, None, tensor)
    return _check_size(memory, meant, tensor.element_size()) if meant is not None else memory


def _of_interface(array: Any, interface: dict[str, Any], on_device: bool, meant: str | None) -> Memory:
    what = "CUDA array" if on_device else "array"
    shape = tuple(interface["shape"])
    typestr: str = interface["typestr"]
    name = getattr(getattr(array, "dtype", None), "name", "")
    if name in _BY_NAME:
        dtype = DTYPE_NUMBERS[_BY_NAME[name]]
    elif typestr[1:] in _BY_TYPESTR:
        dtype = DTYPE_NUMBERS[_BY_TYPESTR[typestr[1:]]]
    else:
        dtype = _named_dtype(name or typestr, what, meant)
    if typestr[0] == ">":
        refuse(f"{what} of big-endian elements")
    size = int(typestr[2:])
    strides = interface.get("strides")
    if strides is not None and not _contiguous(shape, strides, size):
        _not_contiguous(what, shape)
    if interface.get("mask") is not None:
        refuse(f"{what} with a mask")
    address, read_only = interface["data"]
    device = None
    if on_device:
        device = getattr(getattr(array, "device", None), "id", None)  # cupy and numba say it
        device = -1 if device is None else int(device)
    memory = Memory(address or 0, dtype, shape, device, bool(read_only), interface.get("stream") or 0, array)
    return _check_size(memory, meant, size)


def _of_dlpack(array: Any, meant: str | None, stream: int | None) -> Memory:
    kind, ordinal = array.__dlpack_device__()
    if kind in (_DL_CUDA, _DL_CUDA_MANAGED):
        stream = stream or _DL_LEGACY_STREAM
        capsule = array.__dlpack__(stream=stream)  # the producer makes that stream wait for its work
    elif kind in (_DL_CPU, _DL_CUDA_HOST):
        capsule = array.__dlpack__()
    else:
        refuse(f"DLPack tensor on a device of type {int(kind)}: the host (for the simulator) or CUDA")
    # The capsule keeps the tensor for as long as the call holds it, and frees it: its name stays what it is.
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    name = _BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    dtype = DTYPE_NUMBERS[name] if name else _named_dtype(f"DLPack code {tensor.code}, {tensor.bits} bits",
                                                          "DLPack tensor", meant)
    if tensor.strides and not _contiguous(shape, [tensor.strides[i] for i in range(tensor.ndim)], 1):
        _not_contiguous("DLPack tensor", shape)
    memory = Memory((tensor.data or 0) + tensor.byte_offset, dtype, shape,
                    int(ordinal) if kind in (_DL_CUDA, _DL_CUDA_MANAGED) else None, False,
                    stream, capsule)
    return _check_size(memory, meant, tensor.bits // 8)


def memory_of(array: Any, meant: str | None = None, stream: int | None = None) -> Memory:
    """The memory of an array; `meant`: what its elements are taken for; `stream`: where it will be used. ArgumentError
    for an object without memory."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _of_torch(torch, array, meant)
    if isinstance(array, View):
        return array.memory(stream)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(array, interface, True, meant)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _of_interface(array, interface, False, meant)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _of_dlpack(array, meant, stream)
    refuse(f"{type(array).__name__} is neither a number nor an array: __dlpack__, __cuda_array_interface__ or "
           f"__array_interface__ is needed")


def argument_of(value: Any, stream: int | None) -> Memory | int | float:
    """A number, or the memory of an array that is to be used on `stream` (None: wherever its package works)."""
    kind = type(value)
    if kind is int or kind is float:
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(torch, value, None)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return memory_of(value, None, stream)


def device_of(memories: list[Memory], runs_on: int | None = None) -> int | None:
    """The one device that all of them are on; None for the host. runs_on: the device of the launch, which may then use
    memory of other devices, too."""
    device = runs_on if runs_on is not None else memories[0].device if memories else None
    for memory in memories:
        if memory.device != device and (runs_on is None or memory.device is None):
            names = " and ".join(sorted({"the host" if m.device is None else f"device {m.device}" for m in memories}))
            refuse(f"arguments on {names}: all must be on one device, or all on the host; a launch with `device` may "
                   "use memory of several devices")
    return device


def current_stream(memories: list[Memory], device: int) -> int:
    """The caller's stream on that device, as the package of the first array has it; else the default stream."""
    stream = memories[0].stream if memories else 0
    if stream is not None:
        return stream
    return torch_stream(device)


def torch_stream(device: int) -> int:
    """PyTorch's current stream on that device."""
    return int(sys.modules["torch"]._C._cuda_getCurrentRawStream(device))


def stream_number(stream: Any) -> int:
    """A stream that the caller names: a number, or an object of torch, cupy, or with __cuda_stream__."""
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    refuse(f"stream: a number, or an object with cuda_stream, ptr or __cuda_stream__, not {type(stream).__name__}")
