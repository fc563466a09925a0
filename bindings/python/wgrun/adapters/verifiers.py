"""verifiers: a taskset whose rewards are the checker's and the simulator's, for the evaluation and the training of models.

    vf-eval wgrun_kernels -m MODEL --env.agent.harness.id null       # verifiers 0.4; the problems are those of problems.py
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import verifiers.v1 as vf

from .judge import judge
from .problems import ANSWER, PROBLEMS

_PROBLEMS = {problem.name: problem for problem in PROBLEMS}


class KernelData(vf.TaskData):
    """A problem, by its name."""

    problem: str


class KernelConfig(vf.TaskConfig):
    """How answers are judged."""

    seconds: float = 20.0  #: that the check and each launch may take


class KernelTask(vf.Task[KernelData, vf.State, KernelConfig]):
    """The model writes a kernel; it is checked for all launches, and compared in some."""

    @vf.reward(weight=1.0)
    async def kernel(self, trace: vf.Trace) -> float:
        """wgrun.adapters.judge.Judgement.reward; what it is made of goes into the metrics, and the report into the trace's info."""
        judgement = await asyncio.to_thread(judge, trace.last_reply, _PROBLEMS[self.data.problem], self.config.seconds)
        trace.record_metrics({"checked": judgement.checked, "right": judgement.right, "proved": judgement.proved})
        trace.info["wgrun"] = {**judgement.report.summary(), "why": judgement.why}
        return judgement.reward


class KernelTasksetConfig(vf.TasksetConfig):
    """The problems."""

    task: KernelConfig = KernelConfig()
    problems: list[str] = list(_PROBLEMS)


class KernelTaskset(vf.Taskset[KernelTask, KernelTasksetConfig]):
    """A task for each problem."""

    def load(self) -> list[KernelTask]:
        """The tasks, with docs/SKILL.md as the system prompt."""
        skill = Path(__file__).resolve().parents[1].joinpath("SKILL.md").read_text("utf-8")
        return [KernelTask(KernelData(name=name, problem=name, prompt=f"{_PROBLEMS[name].statement}\n{ANSWER}", system_prompt=skill),
                           self.config.task) for name in self.config.problems]


__all__ = ["KernelTaskset"]
