"""Findings of the library, and its errors as exceptions."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import NoReturn

from . import _abi
from ._abi import LIBRARY

SEVERITIES = ("note", "warning", "error")


@dataclass(frozen=True)
class Note:
    """A related place of a finding."""

    message: str
    file: str
    line: int


@dataclass(frozen=True)
class Finding:
    """A finding of the checker or the simulator, or a script's error."""

    severity: str  #: "note", "warning" or "error"
    rule: str  #: "WG-FENCE-01"; empty for errors of no rule
    file: str
    line: int
    message: str
    fix: str
    section: str  #: of the PTX ISA
    notes: tuple[Note, ...]

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        return f"{place}{self.severity}: {self.message}" + (f" [{self.rule}]" if self.rule else "")


@dataclass(frozen=True)
class Verdict:
    """Whether a kernel has a property in every launch (docs/verdicts.md)."""

    property: str  #: "no-deadlock"
    verdict: str  #: "proved", "refuted" or "undecided"
    domain: str = ""  #: proved: for which launches
    reason: str = ""  #: refuted: the rule; undecided: what stopped the proof
    file: str = ""  #: and where that is
    line: int = 0
    assumption: str = ""  #: undecided: what would decide it; proved: what is taken for granted of the data

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        if self.domain:
            why = self.domain + (f", if {self.assumption}" if self.assumption else "")
        else:
            why = f"{place}{self.reason}" + (f" ({self.assumption})" if self.assumption else "")
        return f"{self.property}: {self.verdict}: {why}"


class Findings(list[Finding]):
    """A list of findings; its text is what the command-line tool prints."""

    def __init__(self, findings: list[Finding], text: str, json: str) -> None:
        super().__init__(findings)
        self._text, self.json = text, json
        self.kernels: list[str] = []  #: of a PTX text: the names of those that were checked
        self.verdicts: dict[str, list[Verdict]] = {}  #: of a PTX text: of each of them, by its name

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    @property
    def errors(self) -> list[Finding]:
        """The findings that prevent a kernel from running."""
        return [finding for finding in self if finding.severity == "error"]


class Error(Exception):
    """Any refusal or failure of the library. It prints as the command-line tool does."""

    def __init__(self, text: str, code: str = "", findings: Findings | None = None, traceback: str = "") -> None:
        super().__init__(text)
        self.code = code  #: "EINVAL", "ENODEV", ...
        self.findings = findings if findings is not None else Findings([], text, '{"findings": []}')
        self.traceback = traceback  #: of the script


class ArgumentError(Error, ValueError):
    """An invalid value: a shape, a dtype, a grid, an option."""


class CheckError(Error):
    """The checker, or the simulator while the kernel ran, found errors: `findings`."""


class ScriptError(Error):
    """The script has a syntax error or raised an error."""


class CompileError(Error):
    """The assembler or NVRTC rejected the text."""


class DeviceError(Error, RuntimeError):
    """No GPU to run on, or a kernel failed there."""


class FileError(Error, OSError):
    """A file, or a program or library of CUDA's, is not there or cannot be read."""


class Interrupted(Error):
    """A Cancellation has ended the call."""


class LimitError(Error):
    """The script, or a simulation of one of its kernels, has reached one of its limits."""


_BY_STATUS: dict[int, type[BaseException]] = {
    1: ArgumentError, 2: ArgumentError, 3: Error, 4: CheckError, 5: ScriptError, 6: FileError, 7: FileError,
    8: DeviceError, 10: CompileError, 11: DeviceError, 12: DeviceError, 14: LimitError,
}
NO_MEMORY, INTERRUPTED = 9, 13


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")


def take_findings(handle: ctypes.c_void_p) -> Findings:
    """Reads and closes a wgrun_findings."""
    count, string, json, line = (ctypes.c_size_t(), ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_int())
    message, file = ctypes.c_char_p(), ctypes.c_char_p()
    out: list[Finding] = []
    try:
        LIBRARY.wgrun_findings_count(handle, ctypes.byref(count))
        for i in range(count.value):
            got = _abi.Finding()
            check(LIBRARY.wgrun_findings_get(handle, i, ctypes.byref(got)))
            notes = []
            for n in range(got.note_count):
                LIBRARY.wgrun_findings_note(handle, i, n, ctypes.byref(message), ctypes.byref(file),
                                            ctypes.byref(line))
                notes.append(Note(_text(message.value), _text(file.value), line.value))
            out.append(Finding(SEVERITIES[got.severity], _text(got.rule), _text(got.file), got.line,
                               _text(got.message), _text(got.fix), _text(got.section), tuple(notes)))
        check(LIBRARY.wgrun_findings_text(handle, ctypes.byref(string)))
        check(LIBRARY.wgrun_findings_json(handle, ctypes.byref(json)))
        return Findings(out, _text(string.value), _text(json.value))
    finally:
        LIBRARY.wgrun_findings_close(handle)


_VERDICTS = ("proved", "refuted", "undecided")


def take_verdicts(handle: ctypes.c_void_p) -> list[Verdict]:
    """Reads and closes a wgrun_verdicts."""
    count = ctypes.c_size_t()
    out: list[Verdict] = []
    try:
        check(LIBRARY.wgrun_verdicts_count(handle, ctypes.byref(count)))
        for i in range(count.value):
            got = _abi.Verdict()
            check(LIBRARY.wgrun_verdicts_get(handle, i, ctypes.byref(got)))
            out.append(Verdict(_text(got.property), _VERDICTS[got.kind], _text(got.domain), _text(got.reason), _text(got.file),
                               got.line, _text(got.assumption)))
        return out
    finally:
        LIBRARY.wgrun_verdicts_close(handle)


def last_failure() -> BaseException:
    """The calling thread's last failure as an exception."""
    error = _abi.Error()
    LIBRARY.wgrun_last_error(ctypes.byref(error))
    status, text, code, traceback = error.status, _text(error.text).rstrip("\n"), _text(error.code), _text(error.traceback)
    if status == NO_MEMORY:
        return MemoryError(text)
    if status == INTERRUPTED:
        return Interrupted(text, code)
    handle = ctypes.c_void_p()
    findings = None
    if LIBRARY.wgrun_last_findings(ctypes.byref(handle)) == 0:
        findings = take_findings(handle)
    kind = _BY_STATUS.get(status, Error)
    return kind(text, code, findings, traceback)


def check(status: int) -> None:
    """Raises for a status other than WGRUN_OK."""
    if status != 0:
        raise last_failure()


def c_text(what: str, value: str | bytes | os.PathLike[str]) -> bytes:
    """A text as C takes it: its end would be at a NUL."""
    raw = os.fsencode(value)
    if b"\0" in raw:
        refuse(f"{what}: {value!r} has a NUL")
    return raw


def c_number(what: str, value: int, signed: bool) -> int:
    """A number as 64 bits hold it; ctypes takes others for what is left of them."""
    least, behind = (-(1 << 63), 1 << 63) if signed else (0, 1 << 64)
    if not least <= value < behind:
        refuse(f"{what} is {value}, which is none of {least} to {behind - 1}")
    return value


def refuse(message: str) -> NoReturn:
    """Raises ArgumentError for a mistake that is found before the library is called."""
    raise ArgumentError("wgrun: " + message, "EINVAL")
