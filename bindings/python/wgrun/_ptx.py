"""PTX that other compilers have made, checked by the command-line tool."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from ._errors import FileError, Finding, Findings, Note


def _tool() -> str:
    tool = os.environ.get("WGRUN_TOOL") or shutil.which("wgrun")
    if not tool:
        raise FileError("no wgrun on PATH: put the tool there, or name it in WGRUN_TOOL", "ENOENT")
    return tool


def _finding(given: dict[str, Any]) -> Finding:
    notes = tuple(Note(note["message"], note["file"], note["line"]) for note in given["notes"])
    keys = ("severity", "rule", "file", "line", "message", "fix", "section")
    return Finding(*(given[key] for key in keys), notes=notes)  # type: ignore[arg-type]


def check_ptx(text: str) -> Findings:
    """Checks every kernel of a PTX text by the rules that need no launch; no GPU is needed.

    Lines are those of the text, whose file is called "stdin"; notes name the lines of the source that .loc tells.
    A text that is no PTX has findings, too. Raises FileError where the tool is not found.
    """
    done = subprocess.run([_tool(), "check", "--json", "-"], input=text, capture_output=True, text=True, check=False)
    try:
        listed = json.loads(done.stdout)
    except ValueError:
        raise FileError(done.stderr.strip() or f"wgrun check ended with {done.returncode}", "EIO") from None
    findings = [_finding(given) for given in listed["findings"]]
    report = []
    for finding in findings:
        report += [str(finding), *(f"  {note.file}:{note.line}: {note.message}" for note in finding.notes)]
    return Findings(findings, "\n".join(report), done.stdout)


def check_triton(kernel: Any) -> Findings:
    """Checks a kernel that Triton has compiled: what `triton.compile` or `kernel[grid](...)` returns.

    As check_ptx; the notes name lines of the Python source.
    """
    return check_ptx(kernel.asm["ptx"])
