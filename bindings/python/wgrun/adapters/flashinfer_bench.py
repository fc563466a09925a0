"""FlashInfer-Bench, with a check of the kernels that a solution compiles.

    from wgrun.adapters import flashinfer_bench
    flashinfer_bench.install()                 # then Benchmark(trace_set, config).run_all() as ever

A solution whose kernels are wrong does not pass, and they are not launched: its status is RUNTIME_ERROR, and its log ends with the report. One that passes has
the report in its trace, evaluation.correctness.extra["wgrun"], whose outcome says whether anything was looked at. Kernels of Triton and
TileLang are checked as they are compiled, libraries of CUDA C++ where they carry PTX.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .._compilations import compiled, watch_children
from .._imports import when_imported
from .._report import NOT_CHECKED, WRONG, Report, check, joint

#: Set, in processes that are to check, to "1", or to "strict".
VARIABLE = "WGRUN_FLASHINFER_BENCH"
_registry = "flashinfer_bench.bench.evaluators.registry"
_reports: dict[str, list[Report]] = {}  # by solution: it compiles its kernels once, and is evaluated for many workloads


def install(strict: bool = False) -> None:
    """From now on, evaluators check what solutions compile, in this process and in the workers that it starts. strict: a solution
    whose kernels were not looked at does not pass either."""
    first = VARIABLE not in os.environ
    os.environ[VARIABLE] = "strict" if strict else "1"
    if first:
        watch_children()
    attach()


def attach() -> None:
    """The same for this process alone, as VARIABLE says."""
    when_imported(_registry, _guard_all)


def _guard_all(registry: Any) -> None:
    registry._EVALUATORS[:] = [_guarded(one) for one in registry._EVALUATORS]
    registry._DEFAULT_EVALUATOR = _guarded(registry._DEFAULT_EVALUATOR)


def _guarded(evaluator: Any) -> Any:
    if hasattr(evaluator, "wgrun_report"):
        return evaluator

    class Guarded(evaluator):  # type: ignore[misc]
        """The evaluator, behind a check."""

        @classmethod
        def wgrun_report(cls, runnable: Any, reports: list[Report]) -> Report:
            known = _reports.setdefault(runnable.metadata.solution_name, [])
            for report in reports:
                if report not in known:
                    known.append(report)
            binary = runnable.metadata.misc.get("binary")
            if not known and binary:
                known.append(check(Path(binary)))
            return joint(known)

        @classmethod
        def evaluate(cls, definition: Any, sol_runnable: Any, *rest: Any, **given: Any) -> Any:
            with compiled(stop=True) as reports:
                evaluation = super().evaluate(definition, sol_runnable, *rest, **given)
            return _judged(evaluation, cls.wgrun_report(sol_runnable, reports))

    Guarded.__name__ = Guarded.__qualname__ = evaluator.__name__
    return Guarded


def _judged(evaluation: Any, report: Report) -> Any:
    """The evaluation with the report; with another status, where it passed and must not."""
    from flashinfer_bench.data import EvaluationStatus

    bad = (WRONG, NOT_CHECKED) if os.environ.get(VARIABLE) == "strict" else (WRONG,)
    given = evaluation.model_dump()
    if evaluation.correctness is not None:
        given["correctness"]["extra"] = {**(evaluation.correctness.extra or {}), "wgrun": _summary(report)}
    if evaluation.status == EvaluationStatus.PASSED and report.outcome in bad:
        given.update(status=EvaluationStatus.RUNTIME_ERROR, correctness=None, performance=None)
    if report.outcome in bad:
        given["log"] = "\n".join(filter(None, [evaluation.log, f"wgrun: {report}", json.dumps(_summary(report))]))
    return type(evaluation)(**given)


def _summary(report: Report) -> dict[str, Any]:
    """The outcome with what was checked and by which version; verdicts would make each trace long."""
    return {key: value for key, value in report.summary().items() if key != "kernels"}
