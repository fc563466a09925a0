#!/usr/bin/env python3
"""Mutates the synchronisation of PTX kernels and says which mutants `wgrun check` finds.

    tests/ptx/mutate.py WGRUN FILE.ptx [--launch LAUNCH.json] [--jobs N] [--list]
    tests/ptx/mutate.py WGRUN FILE.ptx --recipe NAME...

Each fence, commit, wait, arrival, expected count of bytes and barrier is left out, and each wait and count is weakened, one at a
time. What is proved of a mutant, and broken by one of its launches, is an error. A mutant is found if the tool reports something that it does not report of FILE itself, or if a launch of it (--launch, on the
simulator) reports something or ends otherwise. With --recipe, launches of recipes.lua run the first kernel of FILE, which alone is
mutated, and a wrong result is found, too; mutants that harmless.txt gives a reason for under the first name are counted apart. Lines of mutants are those of FILE:
what is left out leaves an empty statement.
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


def mutants(text, first, last):
    """(line, what, opcode, text) of each mutant between two places of the text."""
    for begin, end, line in statements(text):
        if not first <= begin < last:
            continue
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


def first_entry(text):
    """Where the first kernel of the text begins and ends."""
    entries = [found.start() for found in re.finditer(r"\.entry\b", text)]
    return entries[0], entries[1] if len(entries) > 1 else len(text)


def launches(arguments, path):
    """The runs of the tool that tell of a text."""
    yield ["check", "--json", path]
    if arguments.launch:
        yield ["check", "--json", "--dynamic", "--launch", arguments.launch, path]
    for recipe in arguments.recipe:
        here = os.path.dirname(os.path.abspath(__file__))
        yield ["check", "--json", "--dynamic", os.path.join(here, "recipes.lua"), arguments.folder, recipe, path]


def reported(arguments, text):
    """What the tool says of a text: the rules and lines of its findings, how often, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.ptx")
        with open(path, "w") as file:
            file.write(text)
        said = collections.Counter()
        proved = set()
        for command in launches(arguments, path):
            static = "--dynamic" not in command
            try:
                run = subprocess.run([arguments.wgrun, *command], capture_output=True, text=True, timeout=arguments.timeout)
            except subprocess.TimeoutExpired:
                said["no end"] += 1
                continue
            try:
                report = json.loads(run.stdout)
                findings = report["findings"]
                if static:
                    first = report.get("kernels", [])[:1]
                    proved = {one["property"] for kernel in first for one in kernel["verdicts"] if one["verdict"] == "proved"}
            except ValueError:
                findings = []
                said[f"exit code {run.returncode}"] += 1
            for finding in findings:
                rule = finding["rule"] or ("wrong result" if "largest error" in finding["message"] else "an error")
                # Lines of the simulator's findings depend on the schedule; those of the text do not.
                said[(rule, finding["line"]) if static else rule] += 1
                if arguments.properties.get(rule) in proved:
                    said[f"FALSE PROOF: {arguments.properties[rule]} is proved, and breaks: {rule}"] += 1
        return said


class Harmless:
    """The reasons that harmless.txt gives for mutants of a recipe."""

    def __init__(self, recipe):
        self.rows = []
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "harmless.txt")) as file:
            for row in file:
                if found := re.match(r"(\w+): ([\d,-]+): (\S+): (.*)", row):
                    if found[1] == recipe:
                        self.rows.append({"lines": found[2], "opcode": found[3], "reason": found[4], "used": False})

    def reason(self, line, opcode):
        for row in self.rows:
            ranges = [[int(end) for end in part.split("-")] for part in row["lines"].split(",")]
            if opcode.startswith(row["opcode"]) and any(ends[0] <= line <= ends[-1] for ends in ranges):
                row["used"] = True
                return row["reason"]
        return None

    def unused(self):
        return [row for row in self.rows if not row["used"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wgrun")
    parser.add_argument("file")
    parser.add_argument("--launch", help="facts of a launch, for the simulator")
    parser.add_argument("--recipe", nargs="+", default=[], help="launches of recipes.lua")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of the tool")
    parser.add_argument("--list", action="store_true", help="name the mutants that were found, too")
    arguments = parser.parse_args()
    arguments.folder = os.path.dirname(os.path.dirname(os.path.abspath(arguments.file)))
    rules = json.loads(subprocess.run([arguments.wgrun, "rules", "--json"], capture_output=True, text=True, check=True).stdout)
    arguments.properties = {rule["id"]: rule["property"] for rule in rules if "property" in rule}
    text = open(arguments.file).read()
    begin, end = first_entry(text) if arguments.recipe else (0, len(text))
    usual = reported(arguments, text)
    every = list(mutants(text, begin, end))
    name = arguments.recipe[0] if arguments.recipe else arguments.file
    reasons = Harmless(name)
    found = static = excused = 0
    wrong = set()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (line, what, opcode, _), said in zip(every, pool.map(lambda m: reported(arguments, m[3]), every)):
            new = {key for key in said if key not in usual}
            wrong |= {key for key in new if str(key).startswith("FALSE PROOF")}
            for key in wrong & new:
                print(f"{name}:{line}: {opcode} {what}: {key}", flush=True)
            found += bool(new)
            static += any(isinstance(key, tuple) for key in new)
            reason = None if new else reasons.reason(line, opcode)
            excused += reason is not None
            if arguments.list or not (new or reason):
                rules = ", ".join(sorted({key[0] if isinstance(key, tuple) else key for key in new}))
                print(f"{name}:{line}: {opcode} {what}: {rules or reason or 'not found'}", flush=True)
    for row in reasons.unused():
        print(f"harmless.txt: {name}: {row['lines']}: {row['opcode']}: there is no such mutant, or it is found")
    print(f"{name}: {len(every)} mutants, {static} found without a launch, {found} with one, {excused} harmless")
    return 0 if found + excused == len(every) and not reasons.unused() and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
