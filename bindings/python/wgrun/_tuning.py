"""The fastest options of a kernel."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

from . import _abi
from ._abi import LIBRARY
from ._engine import Engine, Handle, opened_by_work
from ._errors import check, refuse


@dataclass(frozen=True)
class Candidate:
    """One combination of options."""

    options: str  #: "stages = 3, threads = 128"
    microseconds: float | None  #: the median; None: it was skipped
    cached: bool  #: it was measured before
    reason: str  #: why it was skipped


class Tuning(list[Candidate]):
    """The candidates of a search: the fastest first, then those that were skipped."""

    def __init__(self, handle: Handle) -> None:
        count, out, text = ctypes.c_size_t(), _abi.Candidate(), ctypes.c_char_p()
        check(LIBRARY.wgrun_tuning_count(handle.value, ctypes.byref(count)))
        made = []
        for i in range(count.value):
            check(LIBRARY.wgrun_tuning_get(handle.value, i, ctypes.byref(out)))
            made.append(Candidate(out.options.decode("utf-8", "replace"), out.microseconds if out.measured else None,
                                  bool(out.cached), out.reason.decode("utf-8", "replace")))
        super().__init__(made)
        check(LIBRARY.wgrun_tuning_json(handle.value, ctypes.byref(text)))
        self.json: str = (text.value or b"").decode("utf-8", "replace")  #: members of `wgrun tune --json`

    @property
    def best(self) -> Candidate:
        """The fastest one."""
        return self[0]


def tune(engine: Engine, script: Handle, measure: str | None, rounds: int | None,
         results: str | os.PathLike[str] | bool | None) -> Tuning:
    """As Script.tune."""
    if results is True:
        refuse("results is True: a file, False for none, or None for what the script says")
    file = None if results is None else b"" if results is False else os.fsencode(results)
    options = _abi.TuneOptions(measure=None if measure is None else measure.encode(), rounds=rounds or 0, results=file)
    with engine.turn:
        handle = opened_by_work(LIBRARY.wgrun_script_tune, LIBRARY.wgrun_tuning_close, script.value, ctypes.byref(options))
    return Tuning(handle)
