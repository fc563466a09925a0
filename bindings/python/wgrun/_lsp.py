"""python3 -m wgrun lsp: a language server on standard input and output, for scripts of wgrun and PTX (docs/editors.md)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Optional

try:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer
    from pygls.uris import to_fs_path
    from pygls.workspace import TextDocument
except ImportError as missing:
    raise SystemExit(f"wgrun lsp: {missing}: pip install 'wgrun[lsp]'") from None

from . import _commands, _diagnostics, _hover, _tool
from ._errors import Error
from ._report import Report, check

#: Seconds of quiet after which a text that is being edited is checked.
QUIET = 0.4
FIX_ALL = types.CodeActionKind.SourceFixAll
#: What a client may set, by initializationOptions. restricted: scripts get no files and are checked as they are edited; without, they are
#: run in their folder, as they were saved. seconds: how long a script may run. dynamic: it also runs on the simulator.
SETTINGS = {"restricted": True, "seconds": 10.0, "dynamic": False, "verdicts": True}


def _is_ours(document: TextDocument) -> bool:
    """Whether it is PTX, or a script that uses wgrun: no other script is run."""
    return document.uri.endswith(".ptx") or _tool.is_ptx(document.source) or _tool.is_script(document.source)


class Server(LanguageServer):
    """What is known of the open texts."""

    def __init__(self) -> None:
        super().__init__("wgrun", "1")
        self.settings = dict(SETTINGS)
        self.reports: dict[str, Report] = {}  #: of what was last checked, by URI
        self._turns: dict[str, asyncio.Lock] = {}

    def check(self, document: TextDocument) -> Report:
        """Checks a text; takes a while."""
        options: dict[str, Any] = {"seconds": float(self.settings["seconds"]), "dynamic": bool(self.settings["dynamic"])}
        path = to_fs_path(document.uri)
        if self.settings["restricted"] or path is None or not Path(path).exists():
            return check(document.source, Path(path or "kernel").name, **options)
        return check(Path(path), restricted=False, folder=str(Path(path).parent), **options)

    async def look_at(self, uri: str, quiet: float = 0) -> None:
        """Checks a text, if nobody edits it for so long, and says what was found."""
        document = self.workspace.get_text_document(uri)
        version = document.version
        await asyncio.sleep(quiet)
        async with self._turns.setdefault(uri, asyncio.Lock()):
            if document.version != version or uri not in self.workspace.text_documents:
                return
            found = []
            if _is_ours(document):
                try:
                    self.reports[uri] = report = await asyncio.to_thread(self.check, document)
                except Error as error:
                    self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"wgrun: {error}"))
                    return
                if document.version != version:
                    return
                found = _diagnostics.of(report, document, verdicts=bool(self.settings["verdicts"]))
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


server = Server()


@server.feature(types.INITIALIZED)
def initialized(ls: Server, _: types.InitializedParams) -> None:
    if _tool.found() is None:
        message = "wgrun lsp: no wgrun on PATH and none in WGRUN_TOOL: nothing is checked"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))


@server.feature(types.INITIALIZE)
def initialize(ls: Server, given: types.InitializeParams) -> None:
    options = given.initialization_options
    if isinstance(options, dict):
        ls.settings.update({name: options[name] for name in SETTINGS if name in options})


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
async def opened(ls: Server, given: types.DidOpenTextDocumentParams) -> None:
    await ls.look_at(given.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
async def changed(ls: Server, given: types.DidChangeTextDocumentParams) -> None:
    if ls.settings["restricted"]:
        await ls.look_at(given.text_document.uri, QUIET)


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
async def saved(ls: Server, given: types.DidSaveTextDocumentParams) -> None:
    if not ls.settings["restricted"]:
        await ls.look_at(given.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: Server, given: types.DidCloseTextDocumentParams) -> None:
    uri = given.text_document.uri
    ls.reports.pop(uri, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


@server.feature(types.TEXT_DOCUMENT_CODE_ACTION,
                types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True))
def code_actions(ls: Server, given: types.CodeActionParams) -> list[types.CodeAction]:
    uri = given.text_document.uri
    report = ls.reports.get(uri)
    if report is None:
        return []
    document = ls.workspace.get_text_document(uri)
    actions = _diagnostics.remedies(report, document, given.range)
    if any(finding["fixes"] for finding in report.findings):
        actions.append(types.CodeAction("Repair all that wgrun can repair", FIX_ALL, data={"uri": uri}))
    wanted = given.context.only
    return [action for action in actions if not wanted or any(_name(action.kind).startswith(_name(kind)) for kind in wanted)]


def _name(kind: Any) -> str:
    """A kind is a member of the protocol's enumeration, or a string that it does not have."""
    return str(getattr(kind, "value", kind))


@server.feature(types.CODE_ACTION_RESOLVE)
async def resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    uri = str(dict(action.data or {})["uri"])
    document = ls.workspace.get_text_document(uri)
    name = Path(to_fs_path(uri) or "kernel").name
    mended = await asyncio.to_thread(_commands.fix, document.source, name, float(ls.settings["seconds"]))
    if mended["text"] != document.source:
        action.edit = types.WorkspaceEdit({uri: [types.TextEdit(_diagnostics.whole(document), mended["text"])]})
    return action


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def hover(ls: Server, given: types.HoverParams) -> Optional[types.Hover]:
    document = ls.workspace.get_text_document(given.text_document.uri)
    place = document.position_from_client_units(given.position)
    if not _is_ours(document) or place.line >= len(document.lines):
        return None
    ptx = document.uri.endswith(".ptx") or _tool.is_ptx(document.source)
    text = await asyncio.to_thread(_hover.about, document.lines[place.line], place.character, ptx)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def main() -> None:
    """Serves until standard input ends."""
    server.start_io()
