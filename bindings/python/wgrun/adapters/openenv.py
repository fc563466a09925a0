"""OpenEnv: an environment in which a model writes a kernel, reads what the checker and the judge say of it, and mends it.

    uvicorn wgrun.adapters.openenv:app         # a server, for the clients of OpenEnv
"""

from __future__ import annotations

from typing import Any, Optional
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from pydantic import Field

from .judge import judge
from .problems import ANSWER, PROBLEMS


class KernelAction(Action):
    """An answer."""

    answer: str = Field(description="A script that returns a kernel; or a text, of which the last Lua block counts")


class KernelObservation(Observation):
    """What is asked, and what was said of the last answer."""

    statement: str = ""
    outcome: str = ""  #: of the check: "wrong", "not checked", "undecided" or "proved"
    reasons: list[str] = []  #: why it is not "proved"
    why: str = ""  #: what was wrong in a launch
    report: dict[str, Any] = {}  #: of `wgrun check --json`


class KernelState(State):
    """Which problem is asked."""

    problem: str = ""
    reward: float = 0.0  #: of the last answer


class KernelEnvironment(Environment[KernelAction, KernelObservation, KernelState]):
    """An episode is a problem; it ends when all launches of a checked answer are right, or after `attempts` answers."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, attempts: int = 4, seconds: float = 20.0) -> None:
        super().__init__()
        self._attempts, self._seconds = attempts, seconds
        self._problem = PROBLEMS[0]
        self._state = KernelState()

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any) -> KernelObservation:
        """Asks the problem of that name (problem=), or the one that the seed chooses."""
        names = {problem.name: problem for problem in PROBLEMS}
        self._problem = names.get(str(kwargs.get("problem")), PROBLEMS[(seed or 0) % len(PROBLEMS)])
        self._state = KernelState(episode_id=episode_id or uuid4().hex, problem=self._problem.name)
        return KernelObservation(statement=f"{self._problem.statement}\n{ANSWER}")

    def step(self, action: KernelAction, timeout_s: Optional[float] = None, **kwargs: Any) -> KernelObservation:
        """Judges an answer."""
        judgement = judge(action.answer, self._problem, min(self._seconds, timeout_s or self._seconds))
        self._state.step_count += 1
        self._state.reward = judgement.reward
        done = judgement.checked == judgement.right == 1 or self._state.step_count >= self._attempts
        return KernelObservation(statement=self._problem.statement, outcome=judgement.report.outcome, reasons=judgement.report.reasons,
                                 why=judgement.why, report=judgement.report.json, reward=judgement.reward, done=done)

    @property
    def state(self) -> KernelState:
        """The episode."""
        return self._state


def __getattr__(name: str) -> Any:
    if name == "app":
        return create_fastapi_app(KernelEnvironment, KernelAction, KernelObservation, max_concurrent_envs=8)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
