"""The command-line tool, run on a text: in a folder of its own, restricted, and for a limited time."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

from ._cancellation import wait
from ._errors import FileError, LimitError, refuse

#: Seconds that a command may take where the caller says nothing.
SECONDS = 60.0
#: Seconds beyond its limit after which a tool that has not ended is ended: its own limit holds for scripts and simulations.
GRACE = 15.0
#: Bytes that are kept of what a command prints; a script may print without end.
PRINTED = 64 << 20


class Ran(NamedTuple):
    """What a command has left."""

    code: int  #: its exit code (docs/command_line.md#exit-codes)
    out: str  #: what it printed for its caller
    err: str  #: what it remarked, and what a script printed

    def json(self) -> Any:
        """The value that the command printed. Raises FileError with what it said instead."""
        try:
            return json.loads(self.out)
        except ValueError:
            raise FileError(self.err.strip() or self.out.strip() or f"wgrun ended with {self.code}", "EIO") from None


def found() -> Optional[str]:
    """The path of the tool: WGRUN_TOOL, or the one that came with the package, or the first one on PATH; None where there is none."""
    beside = sysconfig.get_path("scripts")
    return os.environ.get("WGRUN_TOOL") or shutil.which("wgrun", path=beside) or shutil.which("wgrun")


def run(words: Sequence[str], *, text: Optional[str] = None, folder: Optional[str] = None, seconds: float = SECONDS) -> Ran:
    """Runs the tool with these words; `text` is its standard input. Raises FileError where there is no tool, and LimitError where it
    does not end."""
    tool = found()
    if tool is None:
        raise FileError("no wgrun on PATH and none in WGRUN_TOOL: install the tool (README.md of wgrun), or name it", "ENOENT")
    try:
        process = subprocess.Popen([os.path.abspath(tool) if os.sep in tool else tool, *words], cwd=folder,
                                   stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise FileError(f"cannot run {tool}: {error.strerror}", "ENOENT") from None
    printed = [_Reader(process.stdout), _Reader(process.stderr)]
    with process:
        try:
            if process.stdin:
                process.stdin.write((text or "").encode())
                process.stdin.close()
            wait(process, seconds + GRACE)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise LimitError(f"wgrun {words[0]} has run for more than {seconds + GRACE:g} s", "ELIMIT") from None
            raise
        return Ran(process.returncode, *(reader.text() for reader in printed))


class _Reader(threading.Thread):
    """Reads what a process prints, and keeps so much of it."""

    def __init__(self, pipe: Any) -> None:
        super().__init__(daemon=True)
        self._pipe, self._size = pipe, 0
        self._kept: list[bytes] = []
        self.start()

    def run(self) -> None:
        for part in iter(lambda: self._pipe.read1(1 << 16), b""):
            if self._size <= PRINTED:
                self._kept.append(part)
            self._size += len(part)

    def text(self) -> str:
        """All of it, when the process has ended."""
        self.join()
        more = "\n... (more was printed)\n" if self._size > PRINTED else ""
        return b"".join(self._kept).decode("utf-8", "replace") + more


def limits(seconds: float) -> list[str]:
    """The options that every script of others gets (docs/sandbox.md)."""
    if not 0 < seconds <= 3600:
        refuse(f"seconds: {seconds:g}; between 0 and 3600 are possible")
    return ["--restricted", f"--max-seconds={seconds:g}"]


def is_ptx(text: str) -> bool:
    """Whether a text is PTX, and not a script: it begins, behind comments, with a directive."""
    return re.match(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*\.(?:version|target|address_size)\b", text, re.S) is not None


def is_script(text: str) -> bool:
    """Whether a Lua text uses wgrun."""
    return re.search(r"""\brequire\s*\(?\s*["']wgrun["']""", text) is not None


def file_name(text: str, name: Optional[str]) -> str:
    """What the text is called in findings: `name` without its folders, with the ending of its language. Raises ArgumentError for another."""
    if not is_ptx(text) and Path(name or "").suffix in (".cu", ".cuh", ".cc", ".cpp", ".h", ".hpp", ".py"):
        refuse(f"{name} is neither a script of wgrun nor PTX: compile it (nvcc -ptx -arch=sm_90a -lineinfo), and give the PTX")
    ending = ".ptx" if is_ptx(text) or (name or "").endswith(".ptx") else ".lua"
    stem = Path(name or "kernel").name
    if len(stem.encode("utf-8", "replace")) > 200:  # files have names of 255 bytes at most
        refuse(f"a name of {len(stem)} characters: 200 at most")
    return stem if stem.endswith(ending) else stem + ending


class Text:
    """A text as a file in a new folder, which goes at the end of `with`."""

    def __init__(self, text: str, name: Optional[str]) -> None:
        self.name = file_name(text, name)
        self._text = text
        self.folder = ""

    def __enter__(self) -> "Text":
        self.folder = tempfile.mkdtemp(prefix="wgrun-")
        self.write(self.name, self._text)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        """Puts another file beside the text."""
        Path(self.folder, name).write_text(text, encoding="utf-8", newline="")

    def read(self) -> str:
        """The text as a command has left it."""
        with open(Path(self.folder, self.name), encoding="utf-8", newline="") as file:
            return file.read()

    def run(self, *words: str, seconds: float = SECONDS) -> Ran:
        """Runs a command with these words on the text, within the limits."""
        return run([*words, *limits(seconds), "--", self.name], folder=self.folder, seconds=seconds)
