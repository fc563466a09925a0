"""A report of the checker as a language server gives it to editors: diagnostics, and edits that mend them."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.workspace import TextDocument

from ._report import Report

SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning,
            "note": types.DiagnosticSeverity.Information}


def whole(document: TextDocument) -> types.Range:
    """All of the text."""
    return types.Range(types.Position(0, 0), document.client_position_at_offset(len(document.source)))


def _line(document: TextDocument, line: int) -> types.Range:
    """A line, counted from 1, without the blanks around it; the first one for a place that is elsewhere."""
    number = min(max(line, 1), max(len(document.lines), 1)) - 1
    text = document.lines[number] if document.lines else ""
    units = document.position_codec.client_num_units
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return types.Range(types.Position(number, units(text[:begin])), types.Position(number, units(text[:end])))


class _Places:
    """Where in the text the places of a report are."""

    def __init__(self, report: Report, document: TextDocument) -> None:
        self.names = {one["file"] for one in report.json.get("inputs", [])}
        self.document = document

    def range(self, given: dict[str, Any]) -> types.Range:
        return _line(self.document, given.get("line", 0) if given.get("file") in self.names else 0)

    def related(self, given: list[dict[str, Any]]) -> list[types.DiagnosticRelatedInformation]:
        return [types.DiagnosticRelatedInformation(types.Location(self.document.uri, self.range(one)), one["message"])
                for one in given if one["file"] in self.names]

    def elsewhere(self, given: dict[str, Any]) -> str:
        return f"{given['file']}:{given['line']}: " if given["line"] and given["file"] not in self.names else ""


def _of_finding(finding: dict[str, Any], places: _Places) -> types.Diagnostic:
    lines = [places.elsewhere(finding) + finding["message"]]
    lines += [f"{note['file']}:{note['line']}: {note['message']}" for note in finding["notes"] if places.elsewhere(note)]
    lines += [f"fix: {finding['fix']}"] if finding["fix"] else []
    lines += [f"PTX ISA {finding['section']}"] if finding["section"] else []
    return types.Diagnostic(places.range(finding), "\n".join(lines), SEVERITY[finding["severity"]], code=finding["rule"] or None,
                            source="wgrun", related_information=places.related(finding["notes"]))


def _of_verdicts(kernel: dict[str, Any], places: _Places) -> types.Diagnostic:
    """What is proved of a kernel, at the line of its declaration."""
    verdicts = kernel["verdicts"]
    proved = [one for one in verdicts if one["verdict"] == "proved"]
    others = [one for one in verdicts if one["verdict"] == "undecided"]
    lines = [f"{kernel['name']}: {len(proved)} of {len(verdicts)} properties are proved"]
    for domain in dict.fromkeys(one.get("domain", "") for one in proved):
        names = [one["property"] for one in proved if one.get("domain", "") == domain]
        lines.append(f"{', '.join(names) if len(names) < len(proved) else 'all of these'}: {domain}")
    lines += [f"{one['property']}: undecided: {one.get('reason', '')}" for one in others]
    related = places.related([{"file": one.get("file", ""), "line": one.get("line", 0),
                               "message": f"{one['property']}: {one.get('reason', '')}"} for one in others])
    return types.Diagnostic(places.range(kernel), "\n".join(lines), types.DiagnosticSeverity.Information, code="verdicts",
                            source="wgrun", related_information=related)


def of(report: Report, document: TextDocument, verdicts: bool) -> list[types.Diagnostic]:
    """The findings, and what was not looked at; with `verdicts`, what is proved of each kernel, once for one that is built often."""
    places = _Places(report, document)
    out = [_of_finding(finding, places) for finding in report.findings]
    why = report.not_looked_at
    if why and not report.errors and report.kernels:
        out.append(types.Diagnostic(_line(document, 1), f"not checked: {why}", types.DiagnosticSeverity.Warning, source="wgrun"))
    for kernel in report.kernels:
        for line in {line for lines in kernel.get("unread", {}).values() for line in lines}:
            out.append(types.Diagnostic(_line(document, line), "this instruction is not checked", types.DiagnosticSeverity.Warning,
                                        source="wgrun"))
    if verdicts and not report.faults:
        shown = [_of_verdicts(kernel, places) for kernel in report.kernels]
        out += [one for i, one in enumerate(shown) if one not in shown[:i]]
    return out


def _edit(document: TextDocument, change: dict[str, Any]) -> types.TextEdit:
    number = change["line"] - 1
    text = change["text"]
    if change["position"] == "line":
        end = _line(document, change["line"]).end
        return types.TextEdit(types.Range(types.Position(number, 0), end), text.rstrip("\n"))
    place = types.Position(number + (change["position"] == "after"), 0)
    return types.TextEdit(types.Range(place, place), text if text.endswith("\n") else text + "\n")


def remedies(report: Report, document: TextDocument, where: types.Range) -> list[types.CodeAction]:
    """The changes that mend the findings in a part of the text, an action for each alternative."""
    places = _Places(report, document)
    out = []
    for finding in report.findings:
        at = places.range(finding)
        if at.end.line < where.start.line or at.start.line > where.end.line:
            continue
        for number, changes in enumerate(finding["fixes"]):
            if any(change["file"] not in places.names or change["position"] == "option" for change in changes):
                continue  # in another text, or for `Repair all`, which knows the options of a call
            edits = [_edit(document, change) for change in changes]
            title = finding["fix"] or "; ".join(change["text"].strip() for change in changes)
            out.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [_of_finding(finding, places)], is_preferred=number == 0,
                                        edit=types.WorkspaceEdit({document.uri: edits})))
    return out
