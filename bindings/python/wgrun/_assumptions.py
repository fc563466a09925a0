"""What is given of the launches that verdicts are about, and how long their proofs may take."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _abi
from ._errors import c_number, c_text, refuse

Extents = Union[int, Sequence[int]]


def _whole(what: str, given: Any) -> int:
    """An integer of Python's or of numpy's; others have no number that is theirs."""
    try:
        return operator.index(given)
    except TypeError:
        refuse(f"{what} {given!r}: an integer is expected")


def extents_of(what: str, given: Optional[Extents]) -> tuple[int, ...]:
    """One to three of them; none where none are given."""
    if given is None:
        return ()
    out = tuple(_whole(what, one) for one in (given if isinstance(given, Iterable) else (given,)))
    if not 1 <= len(out) <= 3 or not all(1 <= one < 1 << 31 for one in out):
        refuse(f"{what} {given!r}: one to three extents, each at least 1")
    return out


@dataclass(frozen=True)
class Assumptions:
    """None is what holds by itself: every launch, and as long as proofs take."""

    grid: Optional[Extents] = None  #: CTAs
    block: Optional[Extents] = None  #: of PTX that leaves it open: threads of a CTA
    cluster: Optional[Extents] = None  #: likewise, CTAs of a cluster
    assume: Optional[Mapping[str, int]] = None  #: numbers of the launch by name: {"n": 64}
    budget: Optional[float] = None  #: seconds that proofs may take, counted in operations

    def words(self) -> list[str]:
        """These as options of `wgrun check`."""
        out = []
        for name in ("block", "cluster", "grid"):
            extents = extents_of(name, getattr(self, name))
            out += [f"--{name}={','.join(map(str, extents))}"] if extents else []
        out += [f"--assume={name}={_whole(f'assume: {name}', value)}" for name, value in (self.assume or {}).items()]
        return out + ([f"--budget={self._seconds():g}"] if self.budget is not None else [])

    def struct(self) -> _abi.Assumptions:
        """These for the library."""
        numbers = self.assume or {}
        out = _abi.Assumptions(number_count=len(numbers))
        out.numbers = (_abi.Number * max(len(numbers), 1))(
            *((c_text("assume", name), c_number(f"assume: {name}", _whole(f"assume: {name}", value), signed=True))
              for name, value in numbers.items()))
        for name in ("block", "cluster", "grid"):
            extents = extents_of(name, getattr(self, name))
            if extents:
                setattr(out, name, (ctypes.c_uint32 * 3)(*extents, *[1] * (3 - len(extents))))
        if self.budget is not None:
            out.budget = max(self._seconds(), 1e-9)  # 0 there is no budget given, here nothing is to be proved
        return out

    def _seconds(self) -> float:
        if isinstance(self.budget, bool) or not isinstance(self.budget, (int, float)) or not 0 <= self.budget < float("inf"):
            refuse(f"budget {self.budget!r}: seconds, 0 or more")
        return self.budget
