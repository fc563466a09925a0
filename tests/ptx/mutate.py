#!/usr/bin/env python3
"""Mutates the synchronisation of PTX kernels and says which mutants `wgrun check` finds.

    tests/ptx/mutate.py WGRUN FILE.ptx [--launch LAUNCH.json] [--entry NAME] [--jobs N] [--list]

Each fence, commit, wait, arrival, expected count of bytes and barrier is left out, and each wait and count is weakened, one at a
time. A mutant is found if the tool reports something that it does not report of FILE itself, or if a launch of it (--launch, on the
simulator) reports something or ends otherwise. Lines of mutants are those of FILE: what is left out leaves an empty statement.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

# (what, opcode, how the statement is written instead; None: it cannot be)
MUTATIONS = [
    ("left out", r"wgmma\.fence\b", lambda s: ""),
    ("left out", r"fence\.proxy\b", lambda s: ""),
    ("left out", r"fence\.mbarrier_init\b", lambda s: ""),
    ("left out", r"fence\.(acq_rel|sc|acquire|release)\b|membar\b", lambda s: ""),
    ("left out", r"wgmma\.commit_group\b|cp\.async\.(bulk\.)?commit_group\b", lambda s: ""),
    ("left out", r"wgmma\.wait_group\b|cp\.async\.(bulk\.)?wait_(group|all)\b", lambda s: ""),
    ("one group more", r"wgmma\.wait_group\b|cp\.async\.(bulk\.)?wait_group\b",
     lambda s: re.sub(r"(\d+)(\s*)$", lambda m: str(int(m[1]) + 1) + m[2], s)),
    ("left out", r"mbarrier\.arrive\b", lambda s: ""),
    ("without bytes", r"mbarrier\.arrive\.expect_tx\b",
     lambda s: re.sub(r"\.expect_tx(\.relaxed)?", "", re.sub(r",\s*[^,\]]+$", "", s))),
    ("left out", r"bar(rier)?(\.cta)?\.(sync|arrive)\b", lambda s: ""),
    ("left out", r"barrier\.cluster\.(arrive|wait)\b", lambda s: ""),
    ("does not wait", r"mbarrier\.(try|test)_wait\b", lambda s: waited(s)),
]


def waited(statement):
    """The wait that finds its phase complete at once, whatever it waits for."""
    predicate = re.search(r"wait\S*\s+([%\w$]+)\s*,", statement)
    return f"setp.eq.u32 {predicate[1]}, 0, 0" if predicate else None


def statements(text):
    """(begin, end, line) of each statement of the text that a mutation may concern: without its semicolon and its guard."""
    clean = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    for found in re.finditer(r"(?:^|[;{}:])\s*(?:@!?[%\w$]+\s+)?((?:wgmma|fence|membar|cp|mbarrier|bar|barrier)\.[^;{}]*(?:\{[^;]*\}[^;{}]*)*)(?=;)",
                             clean, re.M):
        yield found.start(1), found.end(1), text.count("\n", 0, found.start(1)) + 1


def mutants(text):
    for begin, end, line in statements(text):
        statement = text[begin:end]
        for what, opcode, change in MUTATIONS:
            if not re.match(opcode, statement):
                continue
            other = change(statement)
            if other is None or other == statement:
                continue
            if other == "":
                # A guard stays alone: the whole statement goes, with its lines.
                start = text.rfind("@", 0, begin)
                if start < 0 or re.search(r"[;{}\n]", text[start:begin]):
                    start = begin
                gone = re.sub(r"[^\n]", " ", text[start:end + 1])
                yield line, what, statement.split()[0], text[:start] + gone + text[end + 1:]
            else:
                yield line, what, statement.split()[0], text[:begin] + other + text[end:]


def reported(arguments, text):
    """What the tool says of a text: the rules and lines of its findings, how often, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.ptx")
        with open(path, "w") as file:
            file.write(text)
        said = collections.Counter()
        for more in [[]] + ([["--dynamic", "--launch", arguments.launch]] if arguments.launch else []):
            command = [arguments.wgrun, "check", "--json", *more, path]
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
            except subprocess.TimeoutExpired:
                said["no end"] += 1
                continue
            try:
                findings = json.loads(run.stdout)["findings"]
            except ValueError:
                said[f"exit code {run.returncode}"] += 1
                continue
            for finding in findings:
                # Lines of the simulator's findings depend on the schedule; those of the text do not.
                said[(finding["rule"], finding["line"]) if not more else finding["rule"]] += 1
        return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wgrun")
    parser.add_argument("file")
    parser.add_argument("--launch", help="facts of a launch, for the simulator")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of the tool")
    parser.add_argument("--list", action="store_true", help="name the mutants that were found, too")
    arguments = parser.parse_args()
    text = open(arguments.file).read()
    usual = reported(arguments, text)
    every = list(mutants(text))
    found = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (line, what, opcode, _), said in zip(every, pool.map(lambda m: reported(arguments, m[3]), every)):
            new = {key for key in said if key not in usual}
            found += bool(new)
            if arguments.list or not new:
                rules = ", ".join(sorted({key[0] if isinstance(key, tuple) else key for key in new}))
                print(f"{arguments.file}:{line}: {opcode} {what}: {rules or 'not found'}")
    print(f"{arguments.file}: {found} of {len(every)} mutants found")
    return 0 if found == len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
