"""python3 -m wgrun PROGRAM ARGUMENT..., or python3 -m wgrun -m MODULE ARGUMENT...: runs a Python program, and checks every kernel
that it compiles, also in processes that it starts. The exit code is 1 if the program ends well and an error was found, there or here.

python3 -m wgrun check FILE...: checks scripts of wgrun and PTX, for hooks and workflows. python3 -m wgrun mcp: a server of the Model
Context Protocol, for agents. python3 -m wgrun lsp: a language server, for editors. python3 -m wgrun skill: prints how to write, check and
mend a kernel, for a model."""

import importlib
import os
import runpy
import sys
from pathlib import Path

from ._compilations import check_compilations, errors_found, keep_tally, watch_children


#: By the word that asks for it: the module whose `main` serves.
SERVERS = {"mcp": "wgrun._mcp", "lsp": "wgrun._lsp"}


def main() -> None:
    words = sys.argv[1:]
    if len(words) == 1 and words[0] in SERVERS:
        importlib.import_module(SERVERS[words[0]]).main()
        return
    if words == ["skill"]:
        print(Path(__file__).with_name("SKILL.md").read_text("utf-8"), end="")
        return
    if words[:1] == ["check"]:
        raise SystemExit(importlib.import_module("wgrun._files").main())
    module = words[:1] == ["-m"]
    if module:
        words = words[1:]
    if not words or words[0] in ("-h", "--help"):
        print((__doc__ or "").strip(), file=sys.stderr)
        raise SystemExit(0 if words else 2)
    if not module and not os.path.exists(words[0]):
        print(f"python3 -m wgrun: there is no program {words[0]} (python3 -m wgrun --help; the tool is the command wgrun)", file=sys.stderr)
        raise SystemExit(2)
    watch_children()
    check_compilations()
    keep_tally()
    sys.argv = words
    try:
        if module:
            sys.path[0] = os.getcwd()
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    if errors_found():
        raise SystemExit(1)


main()
