"""Modules that a program imports later, and what is done with each as soon as it is there."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable

_waiting: dict[str, list[Callable[[ModuleType], None]]] = {}


def when_imported(name: str, attach: Callable[[ModuleType], None]) -> None:
    """Calls attach(module): now, if the program has imported it, or else when it does."""
    if name in sys.modules:
        attach(sys.modules[name])
        return
    if not _waiting:
        sys.meta_path.insert(0, _Finder())
    _waiting.setdefault(name, []).append(attach)


class _Finder:
    def __init__(self) -> None:
        self.looking: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _waiting or name in self.looking:
            return None
        self.looking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking.discard(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            for attach in _waiting[name]:
                attach(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
