"""A plugin for pytest: the fixture `wgrun_check`, which fails a test where a kernel is wrong or was not looked at (docs/agents.md#pytest)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, Optional

import pytest

from ._report import NOT_CHECKED, UNDECIDED, WRONG, Report, check, of_kernel


def _report(what: Any, folder: Path, grid: Optional[Sequence[int]], arguments: Optional[Sequence[Any]], options: dict[str, Any]) -> Report:
    if hasattr(what, "asm"):  # Triton's
        return check(what.asm["ptx"], f"{getattr(what, 'name', 'kernel')}.ptx", grid=grid, **options)
    if hasattr(what, "verdicts"):
        return of_kernel(what, grid, arguments, **options)
    if isinstance(what, str) and "\n" in what:
        return check(what, grid=grid, **options)
    return check(folder / os.fspath(what), grid=grid, **{"restricted": False, **options})


@pytest.fixture
def wgrun_check(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """Asserts that nothing is wrong in a kernel, and gives the report (wgrun.check).

    what: a path of a script or PTX, beside the test's file; a text; a kernel of wgrun, or one that Triton has compiled.
    strict: whether everything has to be proved. grid, arguments: of a kernel of wgrun, a launch that is checked, too (Kernel.check).
    Other options are those of wgrun.check: dynamic, block, cluster, assume, budget, seconds, ...; of a kernel of wgrun assume and budget.
    """
    folder = Path(str(request.path)).parent

    def assert_checked(what: Any, *, strict: bool = False, grid: Optional[Sequence[int]] = None,
                       arguments: Optional[Sequence[Any]] = None, **options: Any) -> Report:
        __tracebackhide__ = True
        report = _report(what, folder, grid, arguments, options)
        if report.outcome in (WRONG, NOT_CHECKED) or strict and report.outcome == UNDECIDED:
            raise AssertionError(f"wgrun: {report}")
        return report

    return assert_checked
