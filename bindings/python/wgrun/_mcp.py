"""python3 -m wgrun mcp: the checker as an MCP server on standard input and output, for agents (docs/agents.md)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Callable

from . import _commands, _tool
from ._errors import Error

INSTRUCTIONS = """wgrun checks and simulates kernels for Hopper tensor cores (wgmma, TMA, mbarriers): Lua scripts of its own and PTX of any
compiler. Write a kernel, `check` it, and mend what it finds (`explain` says what a rule means, `fix` repairs what it can) until the
outcome is "proved" or "undecided". "not checked" means that nothing is known, and is no success. Scripts are restricted: no io,
os, dofile or modules in files. Then `simulate` the script, which
compares results. `help` and `forms` say what exists. The resource wgrun://SKILL.md has the whole course with samples."""
#: Files of the package that a client can read.
RESOURCES = {"SKILL.md": "How to write, check and mend a kernel, with samples", "llms.txt": "What the documents are about"}


def _as_tool(function: Callable[..., Any], error: type[Exception]) -> Callable[..., Any]:
    """The function with the errors that the SDK shows to its caller."""

    @functools.wraps(function)
    def call(**given: Any) -> Any:
        try:
            return function(**given)
        except Error as reason:
            raise error(str(reason)) from None

    return call


def main() -> None:
    """Serves until standard input ends."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.server.mcpserver.resources import TextResource
        from mcp_types import ToolAnnotations
    except ImportError as error:
        raise SystemExit(f"wgrun mcp: {error}: pip install 'wgrun[mcp]'") from None
    if _tool.found() is None:
        raise SystemExit("wgrun mcp: no wgrun on PATH and none in WGRUN_TOOL")
    version = _tool.run(["--version"]).out.split()
    server = MCPServer("wgrun", instructions=INSTRUCTIONS, version=version[-1] if version else "", log_level="WARNING")
    for name, function in _commands.ALL.items():
        server.tool(name, description=function.__doc__, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))(
            _as_tool(function, ToolError))
    for name, about in RESOURCES.items():
        text = Path(__file__).with_name(name).read_text("utf-8")
        server.add_resource(TextResource(uri=f"wgrun://{name}", name=name, description=about, mime_type="text/markdown", text=text))
    server.run("stdio")
