"""Launches that a program makes, kept as launch files: `wgrun check --dynamic KERNEL.ptx --launch KERNEL.json` runs them on
the simulator, wherever that is."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

from ._errors import refuse
from ._imports import when_imported

#: What wgrun calls the element types of others.
_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2", "int8": "s8", "int32": "s32", "int64": "s64", "uint8": "u8", "bool": "u8", "uint32": "u32",
    "uint64": "u64",
}


#: Those of them that a .npy file does not have, as what they are kept.
_BITS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "bool": "uint8"}


class _Memory:
    """The whole memory that an array is a view of, and where the view begins."""

    def __init__(self, key: tuple[str, int], dtype: str, offset: int, array: Callable[[], Any]) -> None:
        self.key, self.dtype, self.offset, self.array = key, dtype, offset, array


def _of_torch(tensor: Any) -> _Memory:
    import torch

    storage = tensor.untyped_storage()
    dtype = str(tensor.dtype).removeprefix("torch.")
    size = tensor.element_size()

    def array() -> Any:
        whole = torch.as_strided(tensor.detach(), (storage.nbytes() // size,), (1,), 0).cpu()
        bits = {1: torch.uint8, 2: torch.int16}
        return whole.view(bits[size]).numpy() if dtype in _BITS else whole.numpy()

    return _Memory(("torch", storage.data_ptr()), dtype, tensor.storage_offset() * size, array)


def _of_numpy(array: Any) -> _Memory:
    import numpy

    base = array
    while isinstance(base.base, numpy.ndarray):
        base = base.base
    if not base.flags.c_contiguous:
        base = array
    start = base.__array_interface__["data"][0]
    offset = array.__array_interface__["data"][0] - start
    return _Memory(("numpy", start), str(base.dtype), offset, lambda: base.reshape(-1))


def _memory(value: Any) -> Optional[_Memory]:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _of_numpy(value)
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):  # cupy
        host = value.get()
        memory = _of_numpy(host)
        memory.key = ("cupy", value.__cuda_array_interface__["data"][0])
        return memory
    return None


class _Writer:
    """Writes a launch file, and the tensors beside it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stem = os.path.splitext(file)[0]
        self.tensors: dict[str, Any] = {}
        self.names: dict[tuple[str, int], str] = {}

    def argument(self, value: Any) -> Any:
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, (int, float)):
            return value
        memory = _memory(value)
        if memory is None:
            refuse(f"record_launch: an argument of type {type(value).__name__}: tensors of torch, numpy and cupy, and numbers "
                   "are kept")
        if memory.key not in self.names:
            self.names[memory.key] = name = f"t{len(self.names)}"
            self.tensors[name] = self._saved(name, memory)
        name = self.names[memory.key]
        return {"pointer": name, "offset": memory.offset} if memory.offset else name

    def _saved(self, name: str, memory: _Memory) -> dict[str, str]:
        import numpy

        if memory.dtype not in _DTYPES:
            refuse(f"record_launch: a tensor of {memory.dtype}: {', '.join(_DTYPES)} are kept")
        path = f"{self.stem}.{name}.npy"
        array = memory.array()
        numpy.save(path, array.view(_BITS[memory.dtype]) if memory.dtype in _BITS else array)
        return {"file": os.path.basename(path), "dtype": _DTYPES[memory.dtype]}

    def write(self, launch: dict[str, Any]) -> None:
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(launch, file, indent=1)
            file.write("\n")


def record_launch(file: str, args: Sequence[Any], *, grid: Any, kernel: str = "", block: Any = None, cluster: Any = None,
                  shared: Optional[int] = None) -> None:
    """Keeps a launch as it would be made now: `file`, JSON for `wgrun check --dynamic`, and what is in its tensors beside it.

    args: the parameters of the kernel's PTX in their order: tensors of torch, numpy or cupy, on any device, and numbers. grid, block,
    cluster: extents, or one number; shared: bytes of dynamic shared memory. What the text tells may be left out. To be called
    before the launch, which changes the tensors.
    """
    writer = _Writer(file)
    arguments = [writer.argument(value) for value in args]
    launch: dict[str, Any] = {"kernel": kernel} if kernel else {}
    launch["grid"] = grid
    launch |= {key: value for key, value in [("block", block), ("cluster", cluster), ("shared", shared)] if value is not None}
    writer.write({**launch, "tensors": writer.tensors, "arguments": arguments})


# --- Triton ----------------------------------------------------------------------------------------------


class _Recorded:
    folder = ""
    most = 1
    lock = threading.Lock()
    counts: dict[str, int] = {}


def record(folder: str = "launches", most: int = 1) -> None:
    """From now on, keeps the first `most` launches of each kernel that Triton compiles in this process: in `folder` NAME.ptx, and
    NAME.json for each launch (NAME.2.json, ...), with its tensors.

        wgrun check --dynamic launches/NAME.ptx --launch launches/NAME.json

    Triton may be imported already or later. For other compilers there is record_launch.
    """
    os.makedirs(folder, exist_ok=True)
    first = not _Recorded.folder
    _Recorded.folder, _Recorded.most = folder, most
    if first:
        when_imported("triton.runtime.jit", _attach)


def _attach(jit: ModuleType) -> None:
    before = jit.JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **given: Any) -> Any:
        if warmup:
            return before(self, *args, grid=grid, warmup=warmup, **given)
        # Compiled first, so that the tensors are those before the launch.
        kernel = before(self, *args, grid=grid, warmup=True, **given)
        try:
            _keep(self, kernel, args, grid, given)
        except Exception as error:  # noqa: BLE001: the program goes on
            print(f"wgrun: a launch is not recorded: {error}", file=sys.stderr)
        return before(self, *args, grid=grid, warmup=warmup, **given)

    jit.JITFunction.run = run


def _keep(function: Any, kernel: Any, args: Sequence[Any], grid: Any, given: dict[str, Any]) -> None:
    metadata, text = kernel.metadata, kernel.asm["ptx"]
    name = str(metadata.name)
    with _Recorded.lock:
        count = _Recorded.counts[name] = _Recorded.counts.get(name, 0) + 1
    if count > _Recorded.most:
        return
    names = inspect.signature(function.fn).parameters
    bound = inspect.signature(function.fn).bind(*args, **{key: value for key, value in given.items() if key in names})
    bound.apply_defaults()
    extents = grid(dict(bound.arguments)) if callable(grid) else grid
    signature = kernel.src.signature
    values = [value for key, value in bound.arguments.items() if signature.get(key, "constexpr") != "constexpr"]
    # What follows the parameters of the source is memory for the launcher's own use: none.
    values += [0] * (_parameters(text) - len(values))
    stem = os.path.join(_Recorded.folder, name)
    with open(f"{stem}.ptx", "w", encoding="utf-8") as file:
        file.write(text)
    clusters = getattr(metadata, "num_ctas", 1)
    record_launch(f"{stem}.json" if count == 1 else f"{stem}.{count}.json", values, grid=list(extents), kernel=name,
                  block=32 * metadata.num_warps, cluster=clusters if clusters > 1 else None, shared=metadata.shared)


def _parameters(text: str) -> int:
    """The number of parameters of the first entry of a PTX text."""
    head = re.search(r"\.entry[^(]*\(([^)]*)\)", text)
    return len(re.findall(r"\.param\b", head[1])) if head else 0
