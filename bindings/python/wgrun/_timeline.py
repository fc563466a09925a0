"""Runs of kernels laid out in time."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._abi import LIBRARY
from ._engine import Handle
from ._errors import check


@dataclass(frozen=True)
class Row:
    """A warp, or an engine of the SM."""

    name: str
    warp: int | None  #: of the CTA; None: an engine
    exclusive: bool  #: its spans do not overlap


@dataclass(frozen=True)
class Span:
    """What a row does from one cycle to another."""

    row: int
    kind: str  #: "work", "copies", ...: docs/timeline.md
    begin: float
    end: float
    what: str  #: "full[2], phase 3"
    file: str
    line: int


@dataclass(frozen=True)
class Requests:
    """The requests of a line to memory."""

    what: str  #: "ld.global"
    shared: bool  #: to shared memory
    count: int
    units: int  #: sectors of 32 bytes that they move, or passes of the banks
    needed: int  #: that would do for their bytes
    file: str
    line: int


class Timeline:
    """What a kernel does when, and what limits it (docs/timeline.md). Its str is the picture as text; notebooks show the
    SVG."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.json = self._text(_abi.TIMELINE_JSON)  #: as `wgrun timeline --json`
        data: dict[str, Any] = json.loads(self.json)
        self.kernel: str = data["kernel"]
        self.source: str = data["source"]  #: "model" (of an H200's SM), "gpu" or "simulator"
        self.cycles: float = data["cycles"]  #: until the last CTA shown has ended; of the simulator: steps
        self.microseconds: float = data["microseconds"]  #: of the model: of a launch among others; of the simulator: 0
        self.ghz: float = data["ghz"]
        self.tensor_busy: float = data["tensor_busy"]  #: the share of the time, 0 to 1, in which the tensor core multiplies
        self.memory_busy: float | None = data["memory_busy"]  #: of the model: likewise bytes on their way to the SM
        self.ctas: int = data["ctas"]  #: that the SM runs in the launch; else those recorded
        self.shown: int = data["shown"]  #: of these, in the timeline
        self.dropped: int = data["dropped"]  #: events for which there was no room
        self.dropped_warps: int = data["dropped_warps"]
        self.verdict: list[str] = data["verdict"]  #: what limits the kernel, the most important limit first
        self.rows = [Row(**row) for row in data["rows"]]
        self.spans = [Span(**span) for span in data["spans"]]
        self.requests = [Requests(**requests) for requests in data["requests"]]

    def _text(self, form: int, columns: int = 0, begin: float = 0, end: float = 0) -> str:
        text, length = ctypes.c_char_p(), ctypes.c_size_t()
        check(LIBRARY.wgrun_timeline_text(self._handle.value, form, columns, begin, end, ctypes.byref(text),
                                          ctypes.byref(length)))
        return ctypes.string_at(text, length.value).decode("utf-8", "replace")

    def text(self, columns: int = 80, begin: float = 0, end: float = 0) -> str:
        """A row of characters for each warp and engine, `columns` (32 to 1000) wide, from cycle `begin` to `end` (0: to the
        end)."""
        return self._text(_abi.TIMELINE_TEXT, columns, begin, end)

    def svg(self, begin: float = 0, end: float = 0) -> str:
        """The picture as an SVG document."""
        return self._text(_abi.TIMELINE_SVG, 0, begin, end)

    def html(self, begin: float = 0, end: float = 0) -> str:
        """A page of HTML with the picture."""
        return self._text(_abi.TIMELINE_HTML, 0, begin, end)

    def perfetto(self) -> str:
        """Trace events for ui.perfetto.dev, as JSON."""
        return self._text(_abi.TIMELINE_PERFETTO)

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<wgrun.Timeline of {self.kernel}, {self.source}: {self.cycles:.0f} cycles>"
