"""What an answer of a model is worth: a script that returns a kernel is checked, and run on the simulator with launches that the judge
makes, whose results the judge compares. The script itself compares nothing, so that it cannot say that it is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy

from .. import _tool
from .._engine import Limits
from .._errors import Error
from .._report import PROVED, UNDECIDED, Report, check
from .._script import loads


class Launch(NamedTuple):
    """A launch of the kernel, and what its arrays hold behind it."""

    grid: tuple[int, int, int]
    arguments: Sequence[Any]  #: numpy arrays, views (wgrun.view) and numbers
    expected: dict[int, Any]  #: by the place of an array among the arguments
    tolerance: float = 0.0  #: absolute and relative


@dataclass(frozen=True)
class Problem:
    """What a kernel is to do."""

    name: str
    statement: str  #: for the model: parameters, grid, and what is computed
    launches: Callable[[], Sequence[Launch]] = field(repr=False)  #: made anew each time, since kernels write into the arrays


@dataclass(frozen=True)
class Judgement:
    """How good an answer is, each number from 0 to 1."""

    checked: float  #: 1: nothing is wrong, and all was looked at
    right: float  #: of the launches, how many gave what was expected
    proved: float  #: of the properties, how many are proved
    report: Report
    why: str = ""  #: what was wrong with a launch

    @property
    def reward(self) -> float:
        """0 for an answer that is wrong or was not checked; at most 0.8 for one that is right and of which nothing is proved."""
        return self.checked * self.right * (0.8 + 0.2 * self.proved)


def script_of(answer: str) -> str:
    """The last Lua block of an answer, or, where there is no block, all of it."""
    blocks = re.findall(r"^```(?:lua)?[ \t]*\n(.*?)^```", answer, re.S | re.M)
    return blocks[-1] if blocks else answer


def judge(answer: str, problem: Problem, seconds: float = 20.0) -> Judgement:
    """Judges an answer: takes at most about `seconds` for the check, and as long for each launch."""
    text = script_of(answer)
    report = check(text, f"{problem.name}.lua", seconds=seconds)
    verdicts = [verdict for kernel in report.kernels for verdict in kernel["verdicts"]]
    proved = sum(verdict["verdict"] == "proved" for verdict in verdicts) / max(len(verdicts), 1)
    if report.outcome not in (UNDECIDED, PROVED):
        return Judgement(0.0, 0.0, proved, report, report.reasons[0])
    launches = problem.launches()
    wrong = [why for why in (_run(text, problem.name, launch, seconds) for launch in launches) if why]
    return Judgement(1.0, 1 - len(wrong) / len(launches), proved, report, wrong[0] if wrong else "")


def _run(text: str, name: str, launch: Launch, seconds: float) -> str:
    """What is wrong with the launch; empty where nothing is."""
    try:
        kernel = loads(text, name=_tool.file_name(text, name), restricted=True, limits=Limits(seconds=seconds)).only
        kernel(*launch.arguments, grid=launch.grid)
    except Error as error:
        return str(error)
    for place, expected in launch.expected.items():
        got = numpy.asarray(launch.arguments[place])
        if not numpy.allclose(got, expected, rtol=launch.tolerance, atol=launch.tolerance):
            return f"argument {place + 1} of the launch with grid {launch.grid} has other values than expected"
    return ""
