"""The program `wgrun` of a wheel that carries the tool: the tool itself, but for the servers, which are Python's."""

import os
import sys
from pathlib import Path

#: Where a wheel has the tool.
CARRIED = Path(__file__).resolve().parent / "bin" / "wgrun"


def main() -> None:
    """Becomes the tool."""
    if len(sys.argv) == 2 and sys.argv[1] in ("mcp", "lsp", "skill"):
        os.execv(sys.executable, [sys.executable, "-m", "wgrun", sys.argv[1]])
    if not CARRIED.exists():
        print(f"wgrun: this package carries no tool ({CARRIED}): install wgrun, or a wheel that has it", file=sys.stderr)
        raise SystemExit(127)
    os.execv(CARRIED, ["wgrun", *sys.argv[1:]])
