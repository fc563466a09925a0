"""What the assembler says of a kernel."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _abi
from ._abi import LIBRARY
from ._cancellation import work
from ._errors import Findings, take_findings

if TYPE_CHECKING:
    from ._kernel import Kernel


@dataclass(frozen=True)
class AssemblyReport:
    """The figures of ptxas or, where there is none, of the driver."""

    kernel: str
    threads: int  #: of a CTA
    registers: int  #: of a thread
    estimated: int  #: the least that the program's values need, of 32 bits
    spill_stores: int  #: bytes of a thread
    spill_loads: int
    static_shared: int  #: bytes of a CTA
    dynamic_shared: int
    ctas_per_sm: int
    limited_by: str  #: what keeps more CTAs out of an SM: "registers", "shared memory", "threads" or "CTAs"
    assembler: str  #: "ptxas"; else what the driver calls itself
    assembler_version: str  #: of ptxas; else empty
    notes: tuple[str, ...]  #: of the assembler
    findings: Findings  #: what the notes mean for the script


def report_of(kernel: Kernel) -> AssemblyReport:
    """As Kernel.report."""
    out, handle = _abi.Report(), ctypes.c_void_p()
    with kernel._engine.turn:
        work(lambda: LIBRARY.wgrun_kernel_report(kernel._handle.value, ctypes.byref(out), ctypes.byref(handle)))
        fields = json.loads(out.json)
    fields["notes"] = tuple(fields["notes"])
    return AssemblyReport(**fields, findings=take_findings(handle))
