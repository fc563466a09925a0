"""What `wgrun check` says of a text, and what that amounts to in a word."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _tool
from ._abi import LIBRARY
from ._assumptions import Assumptions
from ._errors import FileError, LimitError, refuse

if TYPE_CHECKING:
    from ._kernel import Kernel

PROVED, UNDECIDED, WRONG, NOT_CHECKED = "proved", "undecided", "wrong", "not checked"


@dataclass(frozen=True)
class Report:
    """What has been found in the kernels of a text, and what is proved of them."""

    json: dict[str, Any]  #: what the tool printed (docs/schema/check.json): findings, version, inputs with hashes, kernels with verdicts
    dynamic: bool = False  #: whether the script was run on the simulator, too
    output: str = field(default="", repr=False)  #: what the tool remarked, and what the script printed

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Each finding, as docs/schema/finding.json describes it."""
        return list(self.json["findings"])

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Each kernel with its verdicts."""
        return list(self.json.get("kernels", []))

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The findings that are errors."""
        return [finding for finding in self.findings if finding["severity"] == "error"]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The errors that are of a kernel: they break a rule, or a run shows them. The others say that something cannot be read, that it
        is for a chip without rules, or that a limit ended the check."""
        return [finding for finding in self.errors if (finding["rule"] or "launch" in finding) and not _left_out(finding)]

    def verdicts(self, kind: str) -> list[str]:
        """The verdicts of this kind ("proved", "refuted", "undecided"), in words."""
        return [_verdict(kernel["name"], one) for kernel in self.kernels for one in kernel["verdicts"] if one["verdict"] == kind]

    @property
    def not_looked_at(self) -> str:
        """Why something was not looked at; empty where everything was."""
        for finding in self.findings:
            unruled = not finding["rule"] and finding["severity"] != "note"
            if _left_out(finding) or unruled and not (self.dynamic and self._ran_through(finding)):
                return described(finding)
        if not self.kernels:
            return "there is no kernel in it"
        for kernel in self.kernels:
            if kernel.get("unread"):
                return f"{kernel['name']} has instructions that are not checked: {', '.join(kernel['unread'])}"
            if not kernel["verdicts"]:
                return f"{kernel['name']} has no verdicts"
        return ""

    def _ran_through(self, finding: dict[str, Any]) -> bool:
        """Whether it says that the script stopped where a result was compared, and the run, which went on, met no other kernel."""
        met = {kernel["kernel"] for kernel in self.json.get("coverage", [])}
        return finding["severity"] == "warning" and bool(met) and met <= {kernel["name"] for kernel in self.kernels}

    @property
    def _undecided(self) -> list[str]:
        """What is undecided: verdicts, and of PTX what could not be decided besides."""
        return self.verdicts("undecided") + [f"{kernel['name']}: {why}" for kernel in self.kernels for why in kernel.get("undecided", [])]

    @property
    def outcome(self) -> str:
        """ "wrong": an error, or a property that is refuted. "not checked": something was not looked at, such as a text that cannot be
        read. "undecided": nothing is wrong, and some property is not proved. "proved": all are."""
        if self.faults or self.verdicts("refuted"):
            return WRONG
        if self.not_looked_at:
            return NOT_CHECKED
        return UNDECIDED if self._undecided else PROVED

    @property
    def reasons(self) -> list[str]:
        """Why the outcome is not "proved", a line each."""
        by_outcome = {WRONG: [described(one) for one in self.faults] or self.verdicts("refuted"), NOT_CHECKED: [self.not_looked_at],
                      UNDECIDED: self._undecided}
        return by_outcome.get(self.outcome, [])

    def summary(self) -> dict[str, Any]:
        """What the tool printed, with `outcome` and `reasons` before it: for programs that hand it on."""
        return {"outcome": self.outcome, "reasons": self.reasons, **self.json}

    def __str__(self) -> str:
        return "\n".join([self.outcome, *(f"  {reason}" for reason in self.reasons)])


def _left_out(finding: Mapping[str, Any]) -> bool:
    """Whether a finding says that something was not looked at."""
    return not {"limit", "chip"}.isdisjoint(finding["facts"])


def described(given: Mapping[str, Any]) -> str:
    """A finding in a line."""
    place = f"{given['file']}:{given['line']}: " if given["line"] else ""
    rule = f" [{given['rule']}]" if given["rule"] else ""
    return f"{place}{given['severity']}: {given['message']}{rule}" + (f"; fix: {given['fix']}" if given["fix"] else "")


def _verdict(kernel: str, given: Mapping[str, Any]) -> str:
    place = f"{given['file']}:{given['line']}: " if given.get("line") else ""
    why = given.get("domain") or place + given.get("reason", "")
    return f"{kernel}: {given['property']}: {given['verdict']}" + (f": {why}" if why else "")


def options(*, dynamic: bool = False, seeds: int = 4, perf: bool = False, **given: Any) -> list[str]:
    """The words of `wgrun check` for these options."""
    words = ["--dynamic", f"--seeds={seeds}"] if dynamic else []
    words += ["--perf"] if perf else []
    return words + Assumptions(**given).words()


def joint(reports: Sequence[Report]) -> Report:
    """One report of several texts; of none its outcome is "not checked"."""
    lists = {key: [one for report in reports for one in report.json.get(key, [])] for key in ("findings", "inputs", "kernels")}
    return Report({**lists, "version": next((report.json["version"] for report in reports if report.json["version"]), "")})


def failed(file: str, error: Exception) -> Report:
    """The report of a text that could not be checked."""
    finding = {"rule": "", "severity": "error", "file": file, "line": 0, "message": str(error), "fix": "", "section": "", "notes": [],
               "fixes": [], "facts": {}}
    return Report({"findings": [finding], "version": "", "inputs": [], "kernels": []})


def of_kernel(kernel: "Kernel", grid: Any = None, arguments: Optional[Sequence[Any]] = None, **given: Any) -> Report:
    """The report of a kernel that a script has made; with a grid and arguments, also of that launch (Kernel.check). Options: assume and
    budget, of Kernel.verdicts."""
    findings = json.loads(kernel.check(grid, arguments).json)["findings"]
    verdicts = [{key: value for key, value in vars(verdict).items() if value} for verdict in kernel.verdicts(**given)]
    return Report({"findings": findings, "version": LIBRARY.wgrun_version().decode(), "inputs": [],
                   "kernels": [{"name": kernel.name, "file": kernel.file, "line": kernel.line, "verdicts": verdicts}]})


def check(what: Union[str, "os.PathLike[str]"], name: Optional[str] = None, *, seconds: float = _tool.SECONDS, restricted: bool = True,
          folder: Optional[str] = None, **given: Any) -> Report:
    """Checks a Lua script or PTX by the command-line tool, without a GPU, and says what is wrong and what is proved.

    what: the text, or a path (`pathlib.Path`) of a script, PTX, CUDA C++ or a binary with PTX.
    name: what findings call the text.
    seconds: how long a script may run. restricted: no files and no other programs for it (docs/sandbox.md). folder: where that of a path
    runs, if not here.
    Options as those of the tool: dynamic, seeds, perf, block, cluster, grid, assume ({"n": 64}), budget.
    Raises ArgumentError for a wrong option, and FileError where there is no tool or no such file. What cannot be read, or takes too
    long, has a report: its outcome is "not checked".
    """
    dynamic = bool(given.get("dynamic"))
    words = ["check", "--json", *options(**given)]
    limited = _tool.limits(seconds) if restricted else [f"--max-seconds={seconds:g}"]
    try:
        if isinstance(what, str):
            with _tool.Text(what, name) as text:
                file = text.name
                ran = _tool.run([*words, *limited, "--", file], folder=text.folder, seconds=seconds)
        else:
            file = os.fspath(what) if folder is None else os.path.abspath(what)
            if not os.path.exists(file):
                raise FileError(f"there is no file {file}", "ENOENT")
            ran = _tool.run([*words, *limited, "--", file], folder=folder, seconds=seconds)
    except LimitError as error:
        return failed(file, error)
    if ran.out.startswith("{"):
        return Report(ran.json(), dynamic, ran.err)
    why = ran.err.strip().removeprefix("wgrun: ")
    return refuse(why) if isinstance(what, str) else failed(file, FileError(why, "EIO"))  # a binary without PTX, a source without nvcc
