#!/usr/bin/env python3
"""Every remedy that `wgrun check` shows is made: with it the finding is gone, and no other has come.

remedies.py WGRUN FILE...   scripts and PTX texts that break laws; a script that only a run shows wrong says EXPECT IN RUN
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def check(wgrun, path, options):
    out = subprocess.run([wgrun, "check", "--json", "--budget", "1", *options, path], capture_output=True, text=True,
                         env={**os.environ, "WGRUN_CUDA": "off"})
    if out.returncode not in (0, 1):
        return None
    return json.loads(out.stdout)["findings"]


def applied(lines, fix):
    """The lines with the changes, and where each line of before is."""
    before, replaced, after_end = {}, {}, []
    for change in fix:
        if change["position"] == "line":
            replaced[change["line"]] = change["text"]
        elif change["line"] > len(lines):
            after_end.append(change["text"])
        else:
            assert change["position"] == "before", change
            before.setdefault(change["line"], []).append(change["text"])
    text, place = [], {}
    for number, line in enumerate(lines, 1):
        for added in before.get(number, []):
            text += added.rstrip("\n").split("\n")
        text.append(replaced.get(number, line).rstrip("\n"))
        place[number] = len(text)
    for added in after_end:
        text += added.rstrip("\n").split("\n")
    return "\n".join(text) + "\n", place


def key(finding, place=None):
    line = finding["line"]
    return finding["rule"], place.get(line, line) if place else line


def tried(wgrun, folder, source, options):
    """The numbers of findings and remedies; complains of those that do not work."""
    text = open(source).read()
    text = re.sub(r"^local kit = .*", f"local kit = dofile '{ROOT}/rules/kit.lua'", text, flags=re.M)
    path = os.path.join(folder, "case" + os.path.splitext(source)[1])
    with open(path, "w") as file:
        file.write(text)
    findings = check(wgrun, path, options)
    if findings is None:
        return 0, 0, []
    lines, wrong, remedies = text.splitlines(), [], 0
    for finding in findings:
        for fix in finding.get("fixes", []):
            if any(change["file"] != path for change in fix):
                continue
            remedies += 1
            changed, place = applied(lines, fix)
            with open(path, "w") as file:
                file.write(changed)
            now = check(wgrun, path, options)
            old = {key(other, place) for other in findings}
            if now is None or key(finding, place) in {key(one) for one in now}:
                wrong.append(f"{source}: {finding['fix']}: {key(finding)} stays")
            elif new := [one["message"] for one in now if key(one) not in old]:
                wrong.append(f"{source}: {finding['fix']}: {key(finding)} is gone, and there is: {new}")
    return len(findings), remedies, wrong


def main():
    wgrun, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    all_findings, all_remedies, all_wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for source in files:
            runs = source.endswith(".lua") and "EXPECT IN RUN" in open(source).read()
            counts = tried(wgrun, folder, source, ["--dynamic", "--seeds", "1"] if runs else [])
            all_findings, all_remedies = all_findings + counts[0], all_remedies + counts[1]
            all_wrong += counts[2]
    print("\n".join(all_wrong))
    print(f"{len(files)} files, {all_findings} findings, {all_remedies} remedies, {len(all_wrong)} of them wrong")
    sys.exit(1 if all_wrong or all_remedies * 5 < all_findings else 0)


main()
