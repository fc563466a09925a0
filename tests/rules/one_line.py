#!/usr/bin/env python3
"""Scripts of tests/rules, tests/bugs and tests/legal with all of their code on one line: one_line.py WGRUN FOLDER...

Steps of a library have the line of the script that calls it, so that a whole kernel may stand on one line. What
`wgrun check` and a run on the simulator find in a script they must find there, each rule of it and no other.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOKEN = re.compile(
    r"""(?P<comment>--(?:\[(?P<c>=*)\[.*?\](?P=c)\]|[^\n]*))
      | (?P<long>\[(?P<l>=*)\[.*?\](?P=l)\])
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<newline>\n)""", re.S | re.X)
FINDING = re.compile(r"^(?:wgrun: )?[^ ]*:\d+: (?:error|warning|note): .*\[(WG-[A-Z0-9-]+)\]$", re.M)
# Registers in conditions of Lua are proven of the script's text, in which functions on one line are not told apart
# (docs/decisions/0024-registers-in-conditions.md).
OF_THE_TEXT = {"WG-LUA-01"}
# What a rule finds it finds early. run.sh looks longer for findings that a script must not have.
CHECK = ["check", "--budget", "0.3"]


def joined(text):
    """Returns the script with spaces for its comments and line ends; strings stay as they are."""
    return TOKEN.sub(lambda m: " " if m["comment"] or m["newline"] else m[0], text) + "\n"


def found(command):
    said = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"WGRUN_CUDA": "off"})
    return set(FINDING.findall(said.stderr + said.stdout)) - OF_THE_TEXT


def known(command, script, variant):
    """What rules/run.sh or bugs/run.sh has found that the command finds in the script; None: neither has asked."""
    text = script.read_text()
    if command == CHECK:
        return set(re.findall(r"-- EXPECT: (WG-[A-Z0-9-]+)", text)) - OF_THE_TEXT
    if variant:
        good = " ".join(re.findall(r"^-- good: (.*)$", text, re.M)).split()
        return set() if variant[0] in good else None
    in_run = re.findall(r"-- EXPECT IN RUN: (WG-[A-Z0-9-]+)", text)
    if in_run:
        return set(in_run) - OF_THE_TEXT
    return None if re.search(r"-- (EXPECT|CHECK ONLY|EXPECT ASSEMBLED)\b", text) else set()


def compare(case):
    """Returns what differs, as text."""
    command, script, line, variant = case
    got = found([*command, line, *variant])
    wanted = known(command[1:], script, variant)
    if wanted is None:
        wanted = found([*command, script, *variant])
    lost, new = sorted(wanted - got), sorted(got - wanted)
    if not lost and not new:
        return ""
    return f"{script} {' '.join(variant)}: {' '.join(command[1:])}: on one line {lost} are lost, {new} are new\n"


def main(wgrun, *folders):
    cases = []
    with tempfile.TemporaryDirectory() as place:
        for folder in map(Path, folders):
            rules = folder.name == "rules"
            shutil.copytree(folder, Path(place) / folder.name)
            for script in sorted(folder.rglob("*.lua")):
                if script.name == "kit.lua":
                    continue
                text = script.read_text()
                line = Path(place) / folder.name / script.relative_to(folder)
                line.write_text(joined(text))
                variants = " ".join(re.findall(r"^-- (?:bad|good): (.*)$", text, re.M)).split()
                for command in ([CHECK, ["--backend=sim"]] if rules else [[*CHECK, "--dynamic", "--seeds", "1"]]):
                    cases += [([wgrun, *command], script, line, [v]) for v in variants] or [([wgrun, *command], script, line, [])]
        with ThreadPoolExecutor(2) as pool:
            faults = "".join(pool.map(compare, cases))
    if len(cases) < 100:
        sys.exit(f"{len(cases)} cases: the folders are not those of the tests")
    sys.exit(faults or None)


main(*sys.argv[1:])
