"""Every kernel that a process compiles is checked as it is compiled, whoever compiles it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
from typing import Callable, Iterator, NamedTuple, Optional

from ._compilers import ATTACH
from ._errors import CheckError, Error, Findings
from ._imports import when_imported
from ._ptx import check_text
from ._report import WRONG, Report, failed

Listener = Callable[[str, Findings], None]


class _State:
    """What has been checked so far."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.report: Optional[Listener] = None  # None: nothing is checked
        self.seen: dict[str, Report] = {}  # by hashes of texts
        self.collected: list[_Collected] = []  # of compiled()
        self.kernels: dict[str, int] = {}  # by compiler
        self.errors = self.remarks = 0
        self.folder = ""  # texts that findings speak of, and that no compiler keeps
        self.owner = os.getpid()  # of it: a process that is forked from this one has another
        self.tally = ""  # the folder, in the process that counts
        self.failed = False


_state = _State()


def check_compilations(report: Optional[Listener] = None) -> None:
    """From now on, checks each kernel that Triton (torch.inductor's too), Gluon, TileLang or CuTe DSL compiles in this process.

    Findings are printed on standard error, at the lines of the Python source; with `report`, it is called instead, as
    report(compiler, findings), also where nothing is found. No GPU is needed, and nothing is changed in what is compiled. The
    compilers may be imported already or later. Their caches: Triton's kernels are checked when they come from there, too; CuTe
    DSL's and TileLang's are compiled anew.

    `import wgrun` does this by itself where the environment variable WGRUN_CHECK is set, and `python3 -m wgrun program.py`
    does it for a program that knows nothing of wgrun, and for the processes that it starts.
    """
    first = _state.report is None
    _state.report = report or _print
    if not first:
        return
    os.environ.setdefault("CUTE_DSL_LINEINFO", "1")
    os.environ.setdefault("CUTE_DSL_KEEP_PTX", "1")
    os.environ.setdefault("TILELANG_DISABLE_CACHE", "1")
    if "CUTE_DSL_DUMP_DIR" not in os.environ:
        os.environ["CUTE_DSL_DUMP_DIR"] = _folder()
    for name, attach in ATTACH.items():
        when_imported(name, functools.partial(attach, check=check_compiled, saved=_saved))
    atexit.register(_finish)


#: Names the folder in which all processes of a program keep what they have checked, each text in a file.
_TALLY = "WGRUN_CHECK_TALLY"


def keep_tally() -> None:
    """From now on, errors_found() counts those of the processes that this one starts, too, however these end."""
    _state.tally = os.environ[_TALLY] = tempfile.mkdtemp(prefix="tally-", dir=_folder())


def errors_found() -> int:
    """The number of errors that have been found; a text that several processes compile counts once."""
    return sum(text.errors for text in _told()) if _state.tally else _state.errors


class _Told(NamedTuple):
    """What a process has said of a text that it has checked."""

    errors: int
    remarks: int
    kernels: int
    compiler: str
    place: str  # where it was printed
    findings: str


def _told() -> list[_Told]:
    out = []
    for name in sorted(os.listdir(_state.tally)):
        with open(os.path.join(_state.tally, name), encoding="utf-8") as file:
            head, _, findings = file.read().partition("\n")
        words = head.split("\t")
        if len(words) == 5:  # else it is being written by a process that has been left behind
            out.append(_Told(int(words[0]), int(words[1]), int(words[2]), words[3], words[4], findings))
    return out


def _printed_at() -> str:
    """What standard error is: the same in two processes that print to the same place."""
    try:
        place = os.fstat(2)
    except OSError:
        return "nowhere"
    return f"{place.st_dev}:{place.st_ino}"


def _note(key: str, compiler: str, kernels: int, findings: Findings) -> None:
    folder = os.environ.get(_TALLY)
    if not folder:
        return
    errors = len(findings.errors)
    head = "\t".join([str(errors), str(len(findings) - errors), str(kernels), compiler, _printed_at()])
    try:
        with open(os.path.join(folder, key), "x", encoding="utf-8") as file:
            file.write(f"{head}\n{findings}\n" if findings else f"{head}\n")
    except OSError:  # another process has told of the text, or the program has ended
        pass


# --- what is done with a text ----------------------------------------------------------------------------


def _folder() -> str:
    if not _state.folder:
        _state.folder = tempfile.mkdtemp(prefix="wgrun-")
    return _state.folder


def _saved(name: str, text: str) -> str:
    """The path of a new file with the text."""
    path = os.path.join(_folder(), name)
    number = 1
    while os.path.exists(path):
        number += 1
        stem, dot, ending = name.rpartition(".")
        path = os.path.join(_folder(), f"{stem}_{number}{dot}{ending}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check_compiled(compiler: str, text: str, path: str) -> None:
    """Checks a text, once. What goes wrong here is told, and does not stop the program."""
    key = hashlib.sha256(text.encode()).hexdigest()
    with _state.lock:
        if _state.report is None:
            return
        findings = None
        if key not in _state.seen:
            try:
                findings = check_text(text, path, at_sources=True)
                _state.seen[key] = Report(json.loads(findings.json))
            except (Error, OSError) as error:
                _state.seen[key] = failed(path, error)
                if not _state.failed:
                    print(f"wgrun: what {compiler} compiles is not checked: {error}", file=sys.stderr)
                _state.failed = True
        report = _state.seen[key]
        for collected in _state.collected:
            collected.append(report)
        if findings is not None:
            kernels = max(len(findings.kernels), 1)
            _state.kernels[compiler] = _state.kernels.get(compiler, 0) + kernels
            _state.errors += len(findings.errors)
            _note(key, compiler, kernels, findings)
            _state.remarks += len(findings) - len(findings.errors)
    if findings is not None:
        _state.report(compiler, findings)
    if report.outcome == WRONG and any(collected.stop for collected in _state.collected):
        raise CheckError(f"what {compiler} has compiled is {report}", "EINVAL")


class _Collected(list[Report]):
    """What compiled() gives."""

    stop = False


def watch_children() -> None:
    """From now on, Python processes that this one starts check what they compile, too."""
    startup = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_startup")
    os.environ["WGRUN_CHECK"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [startup, os.environ.get("PYTHONPATH")]))
    sys.path.insert(1, startup)  # torch.inductor gives its workers sys.path as theirs


@contextlib.contextmanager
def compiled(stop: bool = False) -> Iterator[list[Report]]:
    """Collects the report of each text that Triton, TileLang or CuTe DSL compiles in this process until the end of `with`, also of one
    that was checked before; what could not be checked has a report, too. stop: the compilation of a kernel that is wrong raises a
    CheckError, so that it is not launched."""
    if _state.report is None:
        check_compilations(lambda compiler, findings: None)
    reports = _Collected()
    reports.stop = stop
    _state.collected.append(reports)
    try:
        yield reports
    finally:
        _state.collected = [one for one in _state.collected if one is not reports]


def _print(compiler: str, findings: Findings) -> None:
    if findings:
        print(f"{findings}\n", file=sys.stderr, end="", flush=True)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _summary(kernels: dict[str, int], errors: int, remarks: int) -> None:
    if not kernels or _state.report is not _print:
        return
    compiled = ", ".join(f"{_counted(count, 'kernel')} by {name}" for name, count in kernels.items())
    print(f"wgrun: checked {compiled}: {_counted(errors, 'error')}, {_counted(remarks, 'remark')}", file=sys.stderr)


def _finish() -> None:
    if not os.environ.get(_TALLY):
        _summary(_state.kernels, _state.errors, _state.remarks)
    if _state.owner != os.getpid():
        return
    nothing = not _state.errors + _state.remarks
    if _state.tally:
        told = _told()
        kernels: dict[str, int] = {}
        for text in told:
            kernels[text.compiler] = kernels.get(text.compiler, 0) + text.kernels
        others = [text.findings for text in told if text.findings and text.place != _printed_at()]
        if _state.report is _print and others:
            print(f"wgrun: in processes whose output goes elsewhere:\n{''.join(others)}", file=sys.stderr, end="")
        _summary(kernels, sum(text.errors for text in told), sum(text.remarks for text in told))
        shutil.rmtree(_state.tally, ignore_errors=True)
    if _state.folder and (nothing or not os.listdir(_state.folder)):
        shutil.rmtree(_state.folder, ignore_errors=True)
