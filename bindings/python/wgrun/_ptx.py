"""PTX that other compilers have made, checked by the command-line tool or, where there is none, by the library."""

from __future__ import annotations

import json
import math
import re
from ctypes import byref, c_char_p
from dataclasses import replace
from typing import Any

from . import _tool
from ._abi import LIBRARY
from ._assumptions import Assumptions
from ._cancellation import work
from ._errors import FileError, Finding, Findings, Note, Verdict


def _by_tool(text: str, given: Assumptions) -> Any:
    """What the tool finds, in whose process a text does no harm."""
    return _tool.run(["check", "--json", *given.words(), "-"], text=text, seconds=math.inf).json()


def _by_library(text: str, given: Assumptions) -> Any:
    """The same, by the library."""
    printed = c_char_p()
    raw = text.encode()
    try:
        work(lambda: LIBRARY.wgrun_check_ptx_given(b"stdin", raw, len(raw), given.struct(), byref(printed)))
    except (ImportError, OSError) as error:
        raise FileError(f"no wgrun on PATH and none in WGRUN_TOOL, and {error}", "ENOENT") from None
    return json.loads(printed.value or b"")


def _checked(text: str, given: Assumptions) -> Any:
    if not isinstance(text, str):
        raise TypeError(f"a text of type {type(text).__name__}: str")
    return (_by_tool if _tool.found() else _by_library)(text, given)


def _finding(given: dict[str, Any]) -> Finding:
    notes = tuple(Note(note["message"], note["file"], note["line"]) for note in given["notes"])
    return Finding(**{key: given[key] for key in ("severity", "rule", "file", "line", "message", "fix", "section")}, notes=notes)


def _named(value: Any, name: str) -> Any:
    """What was printed of a text from standard input, with the name of the text."""
    if isinstance(value, list):
        return [_named(one, name) for one in value]
    if isinstance(value, dict):
        return {key: name if key == "file" and one == "stdin" else _named(one, name) for key, one in value.items()}
    return value


class _Sources:
    """The lines of the source that .loc tells, for the lines of a text."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.files = {number: name for number, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)}

    def of(self, line: int) -> tuple[str, int] | None:
        for at in range(min(line, len(self.lines)) - 1, -1, -1):
            words = self.lines[at].split()
            if words[:1] == [".loc"] and len(words) >= 3:
                return (self.files[words[1]], int(words[2])) if words[1] in self.files and words[2] != "0" else None
            if words[:1] in (["{"], [".entry"]) and not self.lines[at].startswith((" ", "\t")):
                return None
        return None


def _is_own(file: str) -> bool:
    """Whether it is a file of the user's, and not one of a package or of CUDA."""
    return "site-packages" not in file and "dist-packages" not in file and "/include/" not in file


def _at_source(finding: Finding, path: str, sources: _Sources) -> Finding:
    """The same finding at its line of the source, if there is one; the text becomes a note."""
    chain = [note for note in finding.notes if note.message in ("the source", "which is inlined here")]
    others = []
    for note in finding.notes:
        place = sources.of(note.line) if note.file == path else None
        if note not in chain:
            others.append(Note(note.message, *place) if place else note)
    if not chain:
        return replace(finding, notes=tuple(dict.fromkeys(others)))
    at = next((i for i, note in enumerate(chain) if _is_own(note.file)), 0)
    notes = [Note("in what this line calls", note.file, note.line) for note in chain[:at]]
    notes += chain[at + 1:] + [Note("in the PTX", path, finding.line)] + others
    return replace(finding, file=chain[at].file, line=chain[at].line, notes=tuple(dict.fromkeys(notes)))


def _printed(finding: Finding) -> str:
    lines = [str(finding), *(f"  {note.file}:{note.line}: {note.message}" for note in finding.notes)]
    if finding.fix:
        lines.append(f"  fix: {finding.fix}" + (f"    (PTX ISA {finding.section})" if finding.section else ""))
    return "\n".join(lines)


def check_text(text: str, name: str, at_sources: bool, given: Assumptions = Assumptions()) -> Findings:
    """Checks a PTX text that findings call `name`. at_sources: findings are at lines of the source, where .loc tells them."""
    listed = _named(_checked(text, given), name)
    findings = [_finding(given) for given in listed["findings"]]
    if at_sources:
        sources = _Sources(text)
        findings = [_at_source(finding, name, sources) for finding in findings]
    out = Findings(findings, "\n".join(map(_printed, findings)), json.dumps(listed))
    kernels = listed.get("kernels", [])
    out.kernels = [kernel["name"] for kernel in kernels]
    out.verdicts = {kernel["name"]: [Verdict(**one) for one in kernel["verdicts"]] for kernel in kernels}
    return out


def check_ptx(text: str, **given: Any) -> Findings:
    """Checks every kernel of a PTX text by the rules that need no launch; no GPU is needed.

    Lines are those of the text, whose file is called "stdin"; notes name the lines of the source that .loc tells.
    A text that is no PTX has findings, too. The list's `verdicts` say what is proved of each kernel. The tool checks it (on PATH, or
    in WGRUN_TOOL) or, where there is none, the library. Raises FileError where neither is found.
    Options as those of the tool: grid, block, cluster, assume ({"n": 64}), budget.
    """
    return check_text(text, "stdin", at_sources=False, given=Assumptions(**given))


def check_triton(kernel: Any) -> Findings:
    """Checks a kernel that Triton has compiled: what `triton.compile` or `kernel[grid](...)` returns.

    As check_ptx; but findings are at lines of the Python source, and a note names the line of the PTX, kernel.asm["ptx"].
    check_compilations does so for everything that a process compiles.
    """
    name = getattr(kernel, "name", None) or getattr(getattr(kernel, "metadata", None), "name", "kernel")
    return check_text(kernel.asm["ptx"], f"{name}.ptx", at_sources=True)
