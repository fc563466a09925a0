"""What is known of the name at a place of a text: of the Lua library, or of PTX."""

from __future__ import annotations

import functools
import re
from typing import Optional

from . import _commands, _tool


def _word(line: str, column: int, pattern: str) -> Optional[str]:
    """What the pattern matches at a column of the line."""
    for found in re.finditer(pattern, line):
        if found.start() <= column < found.end():
            return found.group()
    return None


@functools.lru_cache(maxsize=1000)
def _printed(*words: str) -> str:
    """What a command prints; empty where it knows nothing."""
    ran = _tool.run(words)
    return ran.out.strip("\n") if ran.code == 0 else ""


def _of_lua(word: str) -> str:
    """Of `wg.tile`, `k:mma`, or of a method of something whose type is not known: of every type that has one of this name."""
    receiver, colon, method = word.rpartition(":")
    if not colon:
        return _printed("help", "--", word)
    types = [entry["name"] for entry in _commands.all_help() if entry["name"].endswith(f":{method}")]
    names = [f"k:{method}"] if f"k:{method}" in types or not types else types
    if f"{receiver}:{method}" in types:
        names = [f"{receiver}:{method}"]
    return "\n\n".join(filter(None, (_printed("help", "--", name) for name in names)))


def _of_ptx(opcode: str) -> str:
    """The record of the instruction whose name is the longest beginning of the opcode, with its forms."""
    parts = opcode.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        for record in re.split(r"\n(?=\S)", _printed("isa", "--", name)):
            if record.startswith(f"{name}: "):
                return record
    return _printed("isa", "--", parts[0])


def about(line: str, column: int, ptx: bool) -> str:
    """Markdown about what stands at a column of a line; empty where nothing is known of it."""
    if ptx:
        word = _word(line, column, r"(?<![%$\w.])[a-z][\w.:]*")
        text = _of_ptx(word) if word else ""
    else:
        word = _word(line, column, r"\bwg(?:\.\w+)+|\b\w+:\w+")
        text = _of_lua(word) if word else ""
    return f"```text\n{text}\n```" if text else ""
