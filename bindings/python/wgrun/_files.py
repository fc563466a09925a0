"""python3 -m wgrun check FILE...: the check of many files, for hooks and workflows (docs/agents.md#before-a-commit-and-in-a-workflow)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from . import _tool
from ._errors import Error
from ._report import NOT_CHECKED, UNDECIDED, WRONG, Report, check, described


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python3 -m wgrun check", description="Checks scripts of wgrun and PTX; other Lua files are left out.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file, or a folder with .lua and .ptx")
    parser.add_argument("--strict", action="store_true", help="fail where something is undecided")
    parser.add_argument("--dynamic", action="store_true", help="also run scripts on the simulator")
    parser.add_argument("--unrestricted", action="store_true", help="scripts may read files and run programs (docs/sandbox.md)")
    parser.add_argument("--seconds", type=float, default=_tool.SECONDS, help="how long a script may run (default: %(default)g)")
    parser.add_argument("--github", action="store_true", help="print findings as annotations of GitHub")
    parser.add_argument("--sarif", type=Path, metavar="OUT", help="write all findings as one run of SARIF 2.1.0")
    return parser.parse_args(words)


def _expanded(files: Sequence[Path]) -> list[Path]:
    """The files, and those in folders; without the Lua files that do not use wgrun."""
    out = []
    for file in files:
        inside = sorted(path for ending in ("lua", "ptx") for path in file.rglob(f"*.{ending}")) if file.is_dir() else [file]
        out += [path for path in inside if path.suffix != ".lua" or _tool.is_script(path.read_text("utf-8", "replace"))]
    return out


def _escaped(text: str, more: str = "") -> str:
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _properties(**given: str) -> str:
    return ",".join(f"{name}={_escaped(value, ':,')}" for name, value in given.items())


def _annotation(finding: dict[str, Any], file: Path) -> str:
    """A command of a workflow: an annotation at the finding's line."""
    kind = {"error": "error", "warning": "warning"}.get(finding["severity"], "notice")
    place = {"file": finding["file"] or str(file), "line": str(max(finding["line"], 1)), "title": finding["rule"] or "wgrun"}
    text = finding["message"] + (f"\nfix: {finding['fix']}" if finding["fix"] else "")
    return f"::{kind} {_properties(**place)}::{_escaped(text)}"


def _printed(report: Report, file: Path, github: bool) -> None:
    for finding in report.findings:
        print(_annotation(finding, file) if github else described(finding))
    reasons = [] if report.findings and report.outcome in (WRONG, NOT_CHECKED) else report.reasons
    print("\n  ".join([f"{file}: {report.outcome}", *reasons]))
    if github and report.outcome == NOT_CHECKED and not report.errors:
        print(f"::error {_properties(file=str(file), title=NOT_CHECKED)}::{_escaped(report.not_looked_at)}")


class Sarif:
    """The findings of several files as one run, without verdicts: GitHub takes one run, and shows each result as a fault."""

    def __init__(self) -> None:
        self.rules: dict[str, Any] = {}
        self.results: list[Any] = []
        self.artifacts: list[Any] = []
        self.driver: dict[str, Any] = {"name": "wgrun"}

    def add(self, document: dict[str, Any]) -> None:
        for run in document["runs"]:
            self.driver = run["tool"]["driver"]
            faults = [result for result in run["results"] if "verdict" not in result.get("properties", {})]
            named = {result.get("ruleId") for result in faults}
            self.rules.update({rule["id"]: rule for rule in self.driver["rules"] if rule["id"] in named})
            self.results += faults
            self.artifacts += run.get("artifacts", [])

    def document(self) -> dict[str, Any]:
        numbers = {rule: number for number, rule in enumerate(self.rules)}
        for result in self.results:
            if "ruleId" in result:
                result["ruleIndex"] = numbers[result["ruleId"]]
        run = {"tool": {"driver": {**self.driver, "rules": list(self.rules.values())}}, "results": self.results,
               "artifacts": self.artifacts}
        return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def main(words: Optional[Sequence[str]] = None) -> int:
    """Checks the files. 0: nothing is wrong and all was looked at. 1: it is not so, or, with --strict, something is undecided."""
    given = _arguments(sys.argv[2:] if words is None else words)
    bad = {WRONG, NOT_CHECKED} | ({UNDECIDED} if given.strict else set())
    sarif, failed = Sarif(), 0
    try:
        for file in _expanded(given.files):
            report = check(file, restricted=not given.unrestricted, dynamic=given.dynamic, seconds=given.seconds)
            _printed(report, file, given.github)
            failed += report.outcome in bad
            if given.sarif:
                options = [*_tool.limits(given.seconds), *(["--dynamic"] if given.dynamic else [])]
                sarif.add(_tool.run(["check", "--sarif", *options[given.unrestricted:], "--", str(file)], seconds=given.seconds).json())
        if given.sarif:
            given.sarif.write_text(json.dumps(sarif.document(), indent=1) + "\n")
    except (Error, OSError) as error:
        print(f"wgrun: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0
